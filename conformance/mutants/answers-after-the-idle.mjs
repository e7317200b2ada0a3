// A server that answers a prompt once the agent is idle again.
export default {
  id: 'answers-after-the-idle',
  breaks: 'IN-1',
  killedBy: ['inbox/answer-is-only-the-id'],
  says: 'had not ended',
  toServer(frame, { state, toServer }) {
    if (frame.method === 'session/prompt') state.prompt = frame.id
    toServer(frame)
  },
  toClient(frame, { state, toClient }) {
    if (frame.id !== undefined && frame.id === state.prompt) state.answer = frame
    else toClient(frame)
    if (frame.params?.event?.data?.status === 'idle' && state.answer !== undefined) toClient(state.answer)
  },
}
