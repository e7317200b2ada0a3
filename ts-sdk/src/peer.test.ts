import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FakeRuntime, Refusal, type Request, silence } from '../test/fake-runtime.ts'
import { ConnectionClosedError, FrameTooLargeError, ProtocolError, type QuiesceError, SessionBusyError } from './errors.ts'
import { Peer } from './peer.ts'

function linked(requestTimeoutMs = 1000) {
  const runtime = new FakeRuntime()
  const notifications: [string, unknown][] = []
  const ends: QuiesceError[] = []
  const peer = new Peer({
    transport: runtime,
    requestTimeoutMs,
    onNotification: (method, params) => notifications.push([method, params]),
    onEnd: (error) => ends.push(error),
  })
  return { runtime, peer, notifications, ends }
}

describe('Peer', () => {
  it('gives each request its own answer, in whatever order they come', async () => {
    const { runtime, peer } = linked()
    runtime.on('work', () => silence)
    const results = [peer.request('work', { n: 0 }), peer.request('work', { n: 1 }), peer.request('work', { n: 2 })]
    for (const request of runtime.requests.toReversed()) runtime.answer(request, request.params.n)
    expect(await Promise.all(results)).toEqual([0, 1, 2])
  })

  it('turns an error response into its class', async () => {
    const { runtime, peer } = linked()
    runtime.on('work', () => {
      throw new Refusal('session_busy', 'busy', { retryable: true })
    })
    await expect(peer.request('work', {})).rejects.toThrow(SessionBusyError)
    await expect(peer.request('work', {})).rejects.toMatchObject({ code: 'session_busy', retryable: true, message: 'busy' })
    runtime.on('work', () => {
      throw new Refusal(-32602, 'invalid params: n: required')
    })
    await expect(peer.request('work', {})).rejects.toMatchObject({ code: 'invalid_params', message: 'work: n: required' })
  })

  it('passes notifications on, known or not, and answers a request of the other side', async () => {
    const { runtime, peer, notifications } = linked()
    runtime.notify('session.weather', { sky: 'grey' })
    runtime.frame('{"jsonrpc":"2.0","id":"q","method":"client/ask","params":{}}')
    await peer.request('server/ping', {})
    expect(notifications).toEqual([['session.weather', { sky: 'grey' }]])
    expect(runtime.requests.find(({ method }) => method === '(answer)')?.params).toMatchObject({ id: 'q', error: { code: -32601 } })
  })

  it('answers a request of the other side also where its id is none, or its method long', async () => {
    const { runtime, peer } = linked()
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    const long = 'x'.repeat(1_000_000)
    for (const id of [deep, '1e400', '1.5', 'true', 'null', '{}', '"q"', '7'])
      runtime.frame(`{"jsonrpc":"2.0","id":${id},"method":"${long}"}`)
    await peer.request('server/ping', {})
    const answers = runtime.requests.filter(({ method }) => method === '(answer)').map(({ params }) => params)
    expect(answers.map(({ id }) => id)).toEqual([null, null, null, null, null, null, 'q', 7])
    for (const answer of answers) expect(JSON.stringify(answer).length).toBeLessThan(500)
  })

  it('rejects every pending request at once when the connection ends, and every later one (RUN-10)', async () => {
    const { runtime, peer, ends } = linked()
    runtime.on('work', () => silence)
    const pending = [peer.request('work', {}), peer.request('work', {})]
    const closed = new ConnectionClosedError('the runtime exited with code 3', { exitCode: 3, signal: null, stderr: 'boom' })
    runtime.end(closed)
    for (const request of pending) {
      await expect(request).rejects.toMatchObject({
        name: 'ConnectionClosedError',
        message: 'the runtime exited with code 3 (while work was waiting for its answer)',
        exitCode: 3,
        stderr: 'boom',
      })
    }
    const later = await peer.request('work', {}).catch((error: unknown) => error)
    expect(later).toMatchObject({ name: 'ConnectionClosedError', message: closed.message, exitCode: 3, stderr: 'boom' })
    expect(later).not.toBe(closed) // each caller's own
    expect(runtime.requests).toHaveLength(2)
    expect(ends).toEqual([closed])
    expect(runtime.holds).toBe(0)
  })

  it.each([
    ['garbage', 'hello, I am a banner', 'stdout what is not a frame: "hello, I am a banner"'],
    ['a number', '7', 'not a JSON-RPC message'],
    ['an array', '[{"jsonrpc":"2.0","id":1,"result":{}}]', 'not a JSON-RPC message'],
    ['an answer without result or error', '{"jsonrpc":"2.0","id":1}', 'not a JSON-RPC message'],
    [
      'an error about a request that could not be read',
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"bad"}}',
      'could not read',
    ],
  ])('ends with a ProtocolError on %s', async (_, frame, words) => {
    const { runtime, peer, ends } = linked()
    runtime.on('work', () => silence)
    const request = () => peer.request('work', {}).catch((error: unknown) => error)
    const pending = [request(), request()]
    runtime.frame(frame)
    const errors = [...(await Promise.all(pending)), await request()]
    for (const error of errors) expect(error).toBeInstanceOf(ProtocolError)
    for (const error of errors) expect(error).toMatchObject({ message: expect.stringContaining(words), seq: null })
    expect(new Set(errors).size).toBe(3) // each caller's own
    expect(ends).toHaveLength(1)
  })

  it('ignores an answer that nobody waits for any more', async () => {
    const { runtime, peer } = linked()
    expect(await peer.request('server/ping', {})).toEqual({})
    runtime.frame('{"jsonrpc":"2.0","id":1,"result":{"late":true}}')
    runtime.frame('{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"late"}}')
    runtime.frame('{"jsonrpc":"2.0","id":1,"error":null}')
    expect(await peer.request('server/ping', {})).toEqual({})
  })

  it.each(['99', '0', '-1', '1.5', '"1"', '{}', 'null', 'true'])(
    'ends with a ProtocolError on an answer to %s, which was never asked',
    async (id) => {
      const { runtime, peer, ends } = linked()
      runtime.on('work', () => silence)
      const pending = peer.request('work', {})
      runtime.frame(`{"jsonrpc":"2.0","id":${id},"result":{}}`)
      await expect(pending).rejects.toThrow(/^the runtime answered a request that was never made: .*result/)
      expect(ends).toHaveLength(1)
    },
  )

  it.each(['{"message":"x"}', '{"code":-32000}', '{"code":1.5,"message":"x"}', '[]', 'null', '"no"'])(
    'refuses the error %s for that request alone',
    async (error) => {
      const { runtime, peer, ends } = linked()
      runtime.on('work', () => silence)
      const pending = peer.request('work', {})
      runtime.frame(`{"jsonrpc":"2.0","id":1,"error":${error}}`)
      await expect(pending).rejects.toThrow(/^work: the error has no code or message: /)
      await expect(pending).rejects.toBeInstanceOf(ProtocolError)
      expect(await peer.request('server/ping', {})).toEqual({})
      expect(ends).toEqual([])
    },
  )

  it('refuses to send what the other side would not take', async () => {
    const { runtime, peer } = linked()
    peer.maxFrameBytes = 100
    await expect(peer.request('server/ping', { text: 'ä'.repeat(60) })).rejects.toThrow(FrameTooLargeError)
    expect(runtime.requests).toEqual([])
    expect(await peer.request('server/ping', { text: 'a'.repeat(20) })).toEqual({})
  })
})

describe('Peer, in time', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  it('gives up on an answer after the limit, and takes no notice of it later', async () => {
    const { runtime, peer } = linked(1000)
    runtime.on('work', () => silence)
    const late = peer.request('work', {})
    const patient = peer.request('work', {}, 5000)
    const rejected = expect(late).rejects.toMatchObject({ name: 'RequestTimeoutError', method: 'work', timeoutMs: 1000 })
    vi.advanceTimersByTime(1000)
    await rejected
    for (const request of runtime.requests as Request[]) runtime.answer(request, request.id)
    expect(await patient).toBe(2)
    expect(vi.getTimerCount()).toBe(0)
    expect(runtime.holds).toBe(0)
  })
})
