// A server that sends each turn/start twice.
export default {
  id: 'repeats-a-fact',
  breaks: 'SUB-1',
  killedBy: ['cursors/history-then-live'],
  says: '^all',
  toClient(frame, { toClient }) {
    toClient(frame)
    if (frame.params?.event?.type === 'turn/start') toClient(frame)
  },
}
