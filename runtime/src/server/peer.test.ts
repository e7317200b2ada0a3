import { describe, expect, it } from 'vitest'
import { deferred } from '../base/deferred.ts'
import { InvalidParams, Refusal } from '../log/refusal.ts'
import { type Answer, type Dispatch, Peer, RefusedRequest } from './peer.ts'
import { methodNotFound } from './rpc-error.ts'

interface Response {
  id: unknown
  result?: unknown
  error?: { code: number; message: string; data?: Record<string, unknown> }
}

function serve(dispatch: Dispatch, maxInFlight?: number) {
  const sent: string[] = []
  const reports: unknown[] = []
  const peer = new Peer({
    send: (frame) => sent.push(frame),
    dispatch,
    report: (_, error) => reports.push(error),
    ...(maxInFlight !== undefined && { maxInFlight }),
  })
  const responses = (): Response[] => sent.map((frame) => JSON.parse(frame))
  return { peer, sent, reports, responses }
}

const request = (id: unknown, method = 'echo', params?: unknown) => JSON.stringify({ jsonrpc: '2.0', id, method, params })
const echo: Dispatch = async (_, params) => ({ result: params ?? null })

async function answersTo(...frames: string[]): Promise<Response[]> {
  const { peer, responses } = serve(echo)
  for (const frame of frames) peer.frame(frame)
  await peer.answered()
  return responses()
}

describe('FR-2: what is no request', () => {
  const table: [string, string, number, unknown][] = [
    ['no JSON', '{"jsonrpc"', -32700, null],
    ['a batch', `[${request(1)}]`, -32600, null],
    ['an empty batch', '[]', -32600, null],
    ['a string', '"ping"', -32600, null],
    ['null', 'null', -32600, null],
    ['an empty object', '{}', -32600, null],
    ['no jsonrpc', '{"id":1,"method":"echo"}', -32600, 1],
    ['another jsonrpc', '{"jsonrpc":"1.0","id":1,"method":"echo"}', -32600, 1],
    ['an id that is null', request(null), -32600, null],
    ['an id that is a fraction', request(1.5), -32600, null],
    ['an id beyond exact integers', '{"jsonrpc":"2.0","id":9007199254740993,"method":"echo"}', -32600, null],
    ['an id that is an object', request({}), -32600, null],
    ['an id that is a boolean', request(true), -32600, null],
    ['no method', '{"jsonrpc":"2.0","id":1}', -32600, 1],
    ['a method that is a number', '{"jsonrpc":"2.0","id":1,"method":5}', -32600, 1],
    ['params that are a string', request('x', 'echo', 'text'), -32600, 'x'],
    ['params that are null', '{"jsonrpc":"2.0","id":"x","method":"echo","params":null}', -32600, 'x'],
  ]
  it.each(table)('%s', async (_, frame, code, id) => {
    const responses = await answersTo(frame, request('after', 'echo', { fine: true }))
    expect(responses).toEqual([
      { jsonrpc: '2.0', id, error: { code, message: expect.stringMatching(/./) } },
      { jsonrpc: '2.0', id: 'after', result: { fine: true } },
    ])
  })

  it('says what bytes that are no text, or too many, are', async () => {
    const { peer, responses } = serve(echo)
    peer.notText()
    peer.tooLarge(100)
    expect(responses()).toMatchObject([
      { id: null, error: { code: -32700 } },
      { id: null, error: { code: -32000, data: { code: 'frame_too_large', retryable: false, limit: 100 } } },
    ])
  })

  it('leaves notifications and answers without an answer', async () => {
    const notice = '{"jsonrpc":"2.0","method":"echo"}'
    const responses = await answersTo(notice, '{"method":"x"}', '{"jsonrpc":"2.0","id":1,"result":{}}', '{"id":2,"error":{}}')
    expect(responses).toEqual([])
  })
})

describe('answers', () => {
  it('takes strings and integers as ids, and gives them back as they were', async () => {
    for (const id of ['', 'a', '1', 0, -5, 2 ** 53 - 1])
      expect(await answersTo(request(id))).toEqual([{ jsonrpc: '2.0', id, result: null }])
  })

  it('come as they are ready, not in the order of the requests', async () => {
    const gates = new Map([1, 2].map((id) => [id, deferred()]))
    const { peer, responses } = serve(async (method) => {
      await gates.get(Number(method))?.promise
      return { result: method }
    })
    peer.frame(request(1, '1'))
    peer.frame(request(2, '2'))
    gates.get(2)?.resolve()
    gates.get(1)?.resolve()
    await peer.answered()
    expect(
      responses()
        .map(({ id }) => id)
        .sort(),
    ).toEqual([1, 2])
    const second = serve(
      async (method) => (method === 'slow' ? gates.get(3)?.promise.then(() => ({ result: 1 })) : undefined) ?? { result: 2 },
    )
    gates.set(3, deferred())
    second.peer.frame(request('slow', 'slow'))
    second.peer.frame(request('fast', 'fast'))
    await new Promise(setImmediate)
    expect(second.responses().map(({ id }) => id)).toEqual(['fast'])
    gates.get(3)?.resolve()
    await second.peer.answered()
    expect(second.responses().map(({ id }) => id)).toEqual(['fast', 'slow'])
  })

  it('precede what is sent afterwards', async () => {
    const { peer, sent } = serve(async () => ({ result: {}, afterwards: () => peer.notify('session.event', { n: 1 }) }))
    peer.frame(request(1))
    await peer.answered()
    expect(sent.map((frame) => JSON.parse(frame))).toEqual([
      { jsonrpc: '2.0', id: 1, result: {} },
      { jsonrpc: '2.0', method: 'session.event', params: { n: 1 } },
    ])
  })

  it('refuse an id that is in flight, and take it again once it is answered', async () => {
    const gate = deferred<Answer>()
    const { peer, responses } = serve(() => gate.promise)
    peer.frame(request(7))
    peer.frame(request(7))
    expect(responses()).toMatchObject([{ id: 7, error: { code: -32600 } }])
    gate.resolve({ result: 'first' })
    await peer.answered()
    peer.frame(request(7))
    await peer.answered()
    expect(responses().slice(1)).toMatchObject([
      { id: 7, result: 'first' },
      { id: 7, result: 'first' },
    ])
  })

  it('refuse more requests than the limit as overloaded, and go on when there is room', async () => {
    const gate = deferred<Answer>()
    const { peer, responses } = serve(() => gate.promise, 2)
    for (const id of [1, 2, 3]) peer.frame(request(id))
    expect(responses()).toMatchObject([{ id: 3, error: { code: -32000, data: { code: 'overloaded', retryable: true, limit: 2 } } }])
    gate.resolve({ result: 0 })
    await peer.answered()
    peer.frame(request(4))
    await peer.answered()
    expect(responses().map(({ id }) => id)).toEqual([3, 1, 2, 4])
  })
})

describe('failures', () => {
  const failing = async (error: unknown) => {
    const served = serve(async () => {
      throw error
    })
    served.peer.frame(request(1, 'session/prompt'))
    await served.peer.answered()
    return { error: served.responses()[0]?.error, ...served }
  }

  it('tell a refusal with its code, whether to try again, and its details', async () => {
    const { error } = await failing(new Refusal('session_busy', 'busy', { sessionId: 's', code: 'mine', retryable: 'mine' }))
    expect(error).toEqual({ code: -32000, message: 'busy', data: { code: 'session_busy', retryable: true, sessionId: 's' } })
  })

  it('tell bad params with the path of each fault', async () => {
    const faults = [
      { path: 'content[0].text', message: 'expected string, got 5' },
      { path: 'delivery', message: 'no' },
    ]
    const { error } = await failing(new InvalidParams(faults))
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('content[0].text: expected string'), data: { faults } })
  })

  it('tell an unknown method with those that there are', async () => {
    const { error } = await failing(new RefusedRequest(methodNotFound('session/fly', ['server/ping'])))
    expect(error).toMatchObject({ code: -32601, message: expect.stringMatching(/session\/fly.*server\/ping/) })
  })

  it('keep what nobody meant to themselves: the client learns nothing of it, the log does', async () => {
    const secret = new Error('key sk-123 refused by upstream')
    const { error, reports, sent } = await failing(secret)
    expect(error).toMatchObject({ code: -32000, data: { code: 'internal', retryable: false } })
    expect(sent.join()).not.toContain('sk-123')
    expect(reports).toEqual([secret])
  })

  it('of writing the answer are internal, too', async () => {
    const { peer, responses } = serve(async () => ({ result: { big: 1n } }))
    peer.frame(request(1))
    await peer.answered()
    expect(responses()).toMatchObject([{ id: 1, error: { code: -32000, data: { code: 'internal' } } }])
  })
})
