// A server that tells the facts out of their order.
export default {
  id: 'facts-before-they-are-true',
  breaks: 'TU-3',
  killedBy: ['cursors/history-then-live'],
  says: '^(all|frame|.*seq)',
  toClient(frame, { state, toClient }) {
    if (frame.params?.event?.type === 'assistant/message') {
      state.held = frame
      return
    }
    toClient(frame)
    if (state.held !== undefined) toClient(state.held)
    state.held = undefined
  },
}
