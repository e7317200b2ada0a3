// A server that sends session.status before the fact that it mirrors.
export default {
  id: 'status-before-its-fact',
  breaks: 'ST-6',
  killedBy: ['status/mirrors-the-facts'],
  says: '^all',
  toClient(frame, { state, toClient }) {
    if (frame.params?.event?.type === 'agent/status') {
      state.held = frame
      return
    }
    toClient(frame)
    if (frame.method !== 'session.status' || state.held === undefined) return
    toClient(state.held)
    state.held = undefined
  },
}
