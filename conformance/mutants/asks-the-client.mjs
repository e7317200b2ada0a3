// A server that asks its client for a permission.
export default {
  id: 'asks-the-client',
  breaks: 'CB-1',
  killedBy: ['frames/answers-are-nobodys'],
  says: 'sends no requests',
  toClient(frame, { state, toClient }) {
    toClient(frame)
    if (state.asked) return
    state.asked = true
    toClient({ jsonrpc: '2.0', id: 'p-1', method: 'permission/request', params: {} })
  },
}
