// A server that says when a prompt is finished.
export default {
  id: 'says-finished',
  breaks: 'ST-8',
  killedBy: ['status/no-finished'],
  says: 'session.finished',
  toClient(frame, { toClient }) {
    toClient(frame)
    const { event, ...about } = frame.params ?? {}
    if (event?.type === 'turn/end') toClient({ jsonrpc: '2.0', method: 'session.finished', params: about })
  },
}
