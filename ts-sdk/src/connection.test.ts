import { describe, expect, it, onTestFinished, vi } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { Log } from '../test/facts.ts'
import { FakeRuntime, Refusal, silence } from '../test/fake-runtime.ts'
import type { SessionEvent } from './collect.ts'
import { Connection, type Observer } from './connection.ts'
import { ConnectionClosedError, ProtocolError, type QuiesceError, RequestTimeoutError } from './errors.ts'

async function linked(runtime = new FakeRuntime()) {
  return { runtime, connection: await Connection.open(runtime, 1000) }
}

function witness(): Observer & { events: SessionEvent[]; errors: QuiesceError[] } {
  const events: SessionEvent[] = []
  const errors: QuiesceError[] = []
  return { events, errors, event: (event) => void events.push(event), failed: (error) => void errors.push(error) }
}

/** A round trip: whatever was sent before it has been dealt with. */
const fence = (connection: Connection) => connection.call('server/ping', {})

describe('opening', () => {
  it('greets with its name, its version and the one protocol that it speaks (FR-3)', async () => {
    const { runtime } = await linked()
    const { params } = await runtime.received('initialize')
    expect(params).toEqual({ protocol: { min: 1, max: 1 }, client: { name: manifest.name, version: manifest.version } })
  })

  it('leaves nothing where the greeting fails', async () => {
    const runtime = new FakeRuntime().on('initialize', () => {
      throw new Refusal('unsupported_protocol', 'only 7 is spoken here')
    })
    await expect(Connection.open(runtime, 1000)).rejects.toMatchObject({
      name: 'UnsupportedProtocolError',
      message: 'only 7 is spoken here',
    })
    expect(runtime.stops).toBe(1)
  })

  it('refuses a version that it did not offer', async () => {
    const runtime = new FakeRuntime().on('initialize', () => ({
      protocol: 2,
      server: { name: 'fake', version: '0' },
      capabilities: { methods: [], deltas: false },
      limits: { maxFrameBytes: 1, maxInFlight: 1, maxPendingMessages: 1 },
    }))
    await expect(Connection.open(runtime, 1000)).rejects.toMatchObject({ name: 'UnsupportedProtocolError' })
    expect(runtime.stops).toBe(1)
  })

  it('minds the frame limit that the other side names', async () => {
    const runtime = new FakeRuntime().on('initialize', () => ({
      protocol: 1,
      server: { name: 'fake', version: '0' },
      capabilities: { methods: [], deltas: false },
      limits: { maxFrameBytes: 500, maxInFlight: 1, maxPendingMessages: 1 },
    }))
    const { connection } = await linked(runtime)
    await expect(connection.call('session/prompt', { sessionId: 's', content: 'x'.repeat(500) })).rejects.toMatchObject({
      code: 'frame_too_large',
    })
  })
})

describe('calls', () => {
  it('refuses a malformed result for that call alone', async () => {
    const { runtime, connection } = await linked()
    runtime.on('session/withdraw', () => ({ withdrawn: 'yes' }))
    await expect(connection.call('session/withdraw', { sessionId: 's', messageId: 'm' })).rejects.toThrow(
      'the result of session/withdraw is malformed: withdrawn: expected boolean, got "yes"',
    )
    expect(await fence(connection)).toEqual({})
  })

  it('writes a block of an unknown kind as it came', async () => {
    const { runtime, connection } = await linked()
    const raw = { type: 'hologram', depth: 3 }
    await connection.call('session/prompt', { sessionId: 's', content: [{ type: 'unknown', originalType: 'hologram', raw }] })
    expect((await runtime.received('session/prompt')).params.content).toEqual([raw])
  })
})

describe('subscriptions', () => {
  it('hear their facts, also those that come before the answer (SUB-1, SUB-4)', async () => {
    const { runtime, connection } = await linked()
    runtime.on('session/subscribe', () => silence)
    const seen = witness()
    const subscription = connection.subscribe({ sessionId: 's-1' }, seen)
    const request = await runtime.received('session/subscribe')
    const log = new Log()
    runtime.facts(request, [log.receipt('m'), log.running()])
    runtime.answer(request, { subscriptionId: request.params.subscriptionId, status: 'running', seq: 2, waitingOn: [] })
    expect(await subscription.opened).toMatchObject({ status: 'running', seq: 2 })
    expect(seen.events.map(({ seq, sessionId }) => [seq, sessionId])).toEqual([
      [1, 's-1'],
      [2, 's-1'],
    ])
  })

  it('surface a fact of an unknown kind, with the session that its frame names (FR-4)', async () => {
    const { runtime, connection } = await linked()
    const seen = witness()
    connection.subscribe({ sessionId: 's-1' }, seen)
    const raw = { sessionId: 's-1', seq: 1, type: 'weather/change', time: 5, data: { sky: 'grey' } }
    runtime.facts(await runtime.received('session/subscribe'), [raw], 's-2')
    await fence(connection)
    expect(seen.events).toEqual([{ type: 'unknown', originalType: 'weather/change', seq: 1, time: 5, sessionId: 's-2', raw }])
  })

  it('end with an error that names the malformed fact, and leave the others alone (FR-4)', async () => {
    const { runtime, connection } = await linked()
    const [bad, good] = [witness(), witness()]
    connection.subscribe({ sessionId: 's-1' }, bad)
    connection.subscribe({ sessionId: 's-1' }, good)
    const [first, second] = [await runtime.received('session/subscribe'), await runtime.received('session/subscribe')]
    const fact = new Log().running()
    runtime.facts(first, [{ ...fact, data: { status: 7, activityId: 'a' } }, fact])
    runtime.facts(second, [fact])
    await fence(connection)
    expect(bad.events).toEqual([])
    expect(bad.errors.map(String)).toEqual([
      'ProtocolError: a fact of session s-1 is malformed: data.status: expected string, got 7 (type "agent/status", seq 1)',
    ])
    expect(good).toMatchObject({ events: [{ seq: 1 }], errors: [] })
    expect((await runtime.received('session/unsubscribe')).params).toEqual({ subscriptionId: first.params.subscriptionId })
  })

  it.each([
    ['session.event', { sessionId: 7, event: {} }],
    ['session.delta', { sessionId: 's', turnId: 't', stepId: 's', kind: 'text', index: 'first', text: '' }],
    ['session.status', { sessionId: 's', seq: 1, status: 'idle', activityId: 'a' }],
    ['session.closed', { sessionId: 's' }],
  ])('end with an error on a malformed %s', async (method, params) => {
    const { runtime, connection } = await linked()
    const [bad, good] = [witness(), witness()]
    connection.subscribe({ sessionId: 's' }, bad)
    connection.subscribe({ sessionId: 's' }, good)
    const { subscriptionId } = (await runtime.received('session/subscribe')).params
    runtime.notify(method, { subscriptionId, ...params })
    await fence(connection)
    expect(bad.errors).toHaveLength(1)
    expect(bad.errors[0]).toBeInstanceOf(ProtocolError)
    expect(good.errors).toEqual([])
  })

  it.each([
    ['in a field', (deep: string) => `"seq":1,"time":1,"type":"turn/start","data":{"turnId":${deep}}`],
    ['as its type and seq', (deep: string) => `"seq":${deep},"time":1,"type":${deep}`],
  ])('end with an error on a fact that nests too deeply to be told, %s', async (_, fact) => {
    const { runtime, connection } = await linked()
    const [bad, good] = [witness(), witness()]
    connection.subscribe({ sessionId: 's' }, bad)
    connection.subscribe({ sessionId: 's' }, good)
    const { subscriptionId } = (await runtime.received('session/subscribe')).params
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    const params = `{"subscriptionId":${JSON.stringify(subscriptionId)},"sessionId":"s","event":{${fact(deep)}}}`
    runtime.frame(`{"jsonrpc":"2.0","method":"session.event","params":${params}}`)
    await fence(connection)
    expect(bad.errors.map(String)).toEqual([expect.stringMatching(/^ProtocolError: a fact of session s is malformed: .* got an array/)])
    expect(good.errors).toEqual([])
  })

  it('all end where a malformed notification could have been for any of them', async () => {
    const { runtime, connection } = await linked()
    const all = [witness(), witness()]
    for (const seen of all) connection.subscribe({ sessionId: 's' }, seen)
    runtime.notify('session.event', { event: new Log().running() })
    await fence(connection)
    expect(all.map(({ errors }) => errors.length)).toEqual([1, 1])
    expect(new Set(all.flatMap(({ errors }) => errors)).size).toBe(2)
    expect(runtime.stops).toBe(0)
  })

  it('take no notice of unknown notifications, other subscriptions and a well-formed session.status (FR-2)', async () => {
    const { runtime, connection } = await linked()
    const seen = witness()
    connection.subscribe({ sessionId: 's' }, seen)
    const request = await runtime.received('session/subscribe')
    const { subscriptionId } = request.params
    runtime.notify('session.finished', { subscriptionId, text: 'x', reason: 'y' })
    runtime.notify('session.status', {
      subscriptionId,
      sessionId: 's',
      seq: 3,
      status: 'idle',
      activityId: 'a',
      waitingOn: [],
      reason: 'x',
      text: 'y',
    })
    runtime.facts({ ...request, params: { subscriptionId: 'other', sessionId: 's' } }, [new Log().running()])
    await fence(connection)
    expect(seen).toMatchObject({ events: [], errors: [] })
  })

  it('end with what their observer throws', async () => {
    const { runtime, connection } = await linked()
    const seen = witness()
    const subscription = connection.subscribe(
      { sessionId: 's' },
      {
        event: () => {
          throw new TypeError('mine')
        },
        failed: seen.failed,
      },
    )
    await subscription.opened
    const log = new Log()
    runtime.facts(await runtime.received('session/subscribe'), [log.running(), log.idle()])
    await fence(connection)
    expect(seen.errors).toHaveLength(1)
    expect(seen.errors[0]?.cause).toEqual(new TypeError('mine'))
  })

  it.each([
    ['deleted', undefined, 'SessionNotFoundError'],
    ['fenced', undefined, 'FencedError'],
    ['storage', undefined, 'StorageUnavailableError'],
    ['shutdown', undefined, 'ShuttingDownError'],
    ['eclipse', undefined, 'RpcError'],
    ['storage', { message: 'disk full', data: { code: 'store_version', retryable: false } }, 'StoreVersionError'],
  ])('end as %s with a typed error (SUB-5)', async (reason, error, name) => {
    const { runtime, connection } = await linked()
    const seen = witness()
    connection.subscribe({ sessionId: 's' }, seen)
    const { subscriptionId } = (await runtime.received('session/subscribe')).params
    const closed = { subscriptionId, sessionId: 's', reason, ...(error === undefined ? {} : { error }) }
    runtime.notify('session.closed', closed)
    runtime.notify('session.closed', closed)
    await fence(connection)
    expect(seen.errors.map((failed) => failed.name)).toEqual([name])
    expect(seen.errors[0]?.message).toContain(error?.message ?? reason)
    expect(runtime.methods()).not.toContain('session/unsubscribe')
  })

  it('tell the server once when they are closed, and hear nothing more', async () => {
    const { runtime, connection } = await linked()
    const seen = witness()
    const subscription = connection.subscribe({ sessionId: 's' }, seen)
    const request = await runtime.received('session/subscribe')
    await subscription.opened
    subscription.close()
    subscription.close()
    runtime.facts(request, [new Log().running()])
    await fence(connection)
    expect(seen).toMatchObject({ events: [], errors: [] })
    expect(runtime.methods().filter((method) => method === 'session/unsubscribe')).toHaveLength(1)
    expect(runtime.holds).toBe(0)
  })

  it('are not left on a server that answered too late', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { runtime, connection } = await linked(new FakeRuntime().on('session/subscribe', () => silence))
    const late = expect(connection.subscribe({ sessionId: 's' }, witness()).opened).rejects.toThrow(RequestTimeoutError)
    const { params } = await runtime.received('session/subscribe')
    vi.advanceTimersByTime(1000)
    await late
    expect((await runtime.received('session/unsubscribe')).params.subscriptionId).toBe(params.subscriptionId)
  })
})

describe('the end', () => {
  it('reaches every subscription with an error of its own', async () => {
    const { runtime, connection } = await linked()
    const all = [witness(), witness()]
    for (const seen of all) connection.subscribe({ sessionId: 's' }, seen)
    runtime.frame('no frame')
    await fence(connection).catch(() => {})
    const errors = all.flatMap((seen) => seen.errors)
    expect(errors.map(({ name }) => name)).toEqual(['ProtocolError', 'ProtocolError'])
    expect(new Set(errors).size).toBe(2)
  })

  it('reaches every subscription, and the transport is stopped', async () => {
    const { runtime, connection } = await linked()
    const seen = witness()
    const subscription = connection.subscribe({ sessionId: 's' }, seen)
    await subscription.opened
    const closed = new ConnectionClosedError('the runtime exited with code 1', { exitCode: 1, signal: null, stderr: 'boom' })
    runtime.end(closed)
    await expect(fence(connection)).rejects.toMatchObject({ exitCode: 1, stderr: 'boom' })
    expect(seen.errors).toEqual([closed])
    expect(seen.errors[0]).not.toBe(closed)
    expect(runtime).toMatchObject({ stops: 1, holds: 0 })
  })

  it('by close() ends subscriptions at once, asks for a shutdown, then stops the transport', async () => {
    const { runtime, connection } = await linked()
    runtime.on('shutdown', () => silence)
    const seen = witness()
    await connection.subscribe({ sessionId: 's' }, seen).opened
    const closing = connection.close()
    expect(connection.close()).toBe(closing)
    expect(seen.errors.map(String)).toEqual(['ConnectionClosedError: close() was called'])
    const request = await runtime.received('shutdown')
    expect(runtime.stops).toBe(0)
    runtime.answer(request, {})
    await closing
    expect(runtime.stops).toBeGreaterThan(0)
    await expect(fence(connection)).rejects.toThrow('close() was called')
  })
})
