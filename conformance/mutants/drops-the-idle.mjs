// A server that tells of no idle.
export default {
  id: 'drops-the-idle',
  breaks: 'ST-3',
  killedBy: ['status/withdrawn-owes-an-idle'],
  says: 'had not ended',
  toClient(frame, { toClient }) {
    if (frame.params?.event?.data?.status !== 'idle') toClient(frame)
  },
}
