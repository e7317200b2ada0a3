// A server that leaves the start of each step out.
export default {
  id: 'leaves-a-gap',
  breaks: 'SUB-1',
  killedBy: ['cursors/history-then-live'],
  says: '^all',
  toClient(frame, { toClient }) {
    if (frame.params?.event?.type !== 'step/start') toClient(frame)
  },
}
