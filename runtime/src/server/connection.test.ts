import { check, notifications } from '@quiesce/schema'
import { describe, expect, it } from 'vitest'
import { quiet, Rig, says } from '../agent/agent-rig.fixture.ts'
import { deferred } from '../base/deferred.ts'
import { Subscriptions } from '../subscriptions/subscriptions.ts'
import { Connection } from './connection.ts'
import { codeOf, type Frame, Frames } from './frames.fixture.ts'

/** A connection to a whole runtime in memory. */
class Client {
  readonly rig = new Rig()
  readonly received = new Frames()
  readonly connection: Connection
  stopped = 0
  #lastId = 0

  /** Whether the client reads; in between, answers wait. */
  reads = true
  /** Each frame takes all the room there is. */
  fill = false
  #drained = deferred()

  constructor(maxInFlight = 100) {
    const { rig } = this
    const { sessions, log } = rig.runtime
    let subscriptions = 0
    this.connection = new Connection(
      {
        sessions,
        subscriptions: (sink) => new Subscriptions({ log, store: rig.store, sessions, newId: () => `sub-${++subscriptions}` }, sink),
        limits: { maxFrameBytes: 1000, maxInFlight, maxPendingMessages: 10 },
        models: (provider) => [{ model: `${provider ?? 'test'}/model`, provider: provider ?? 'test', available: true }],
        tools: async () => [{ name: 'work', description: 'works', parameters: {} }],
        now: () => 1,
        report: (_, error) => {
          throw error
        },
        stop: () => sessions.shutdown(),
      },
      {
        send: (frame) => {
          this.received.push(frame)
          if (this.fill) this.reads = false
        },
        drained: () => (this.reads ? Promise.resolve() : this.#drained.promise),
        ready: () => this.reads,
      },
      () => {
        this.stopped += 1
      },
    )
  }

  /** Reads on, or stops to. */
  read(reads: boolean): void {
    this.reads = reads
    this.#drained.resolve()
    this.#drained = deferred()
  }

  send(method: string, params?: unknown): number {
    const id = ++this.#lastId
    this.connection.peer.frame(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    return id
  }

  call(method: string, params?: unknown): Promise<Frame> {
    return this.answer(this.send(method, params))
  }

  answer(id: number): Promise<Frame> {
    return this.received.answer(id)
  }

  get frames(): readonly Frame[] {
    return this.received.all
  }

  initialize(min = 1, max = 1): Promise<Frame> {
    return this.call('initialize', { protocol: { min, max }, client: { name: 'test', version: '0' } })
  }

  /** The types of the facts that came, and `answer <id>` where an answer came. */
  order(): string[] {
    return this.frames.map(({ id, params }) => {
      const event = params?.event
      const type = typeof event === 'object' && event !== null && 'type' in event ? String(event.type) : 'status'
      return id === undefined ? type : `answer ${String(id)}`
    })
  }
}

const create = (sessionId: string) => ({ sessionId, cwd: process.cwd(), permissions: 'allow-all' })

describe('FR-3: initialize', () => {
  it('tells the version, what is served, and the limits', async () => {
    const answer = await new Client().initialize(0, 7)
    expect(answer.result).toMatchObject({
      protocol: 1,
      server: { name: 'quiesce', version: expect.stringMatching(/^\d+\.\d+/) },
      capabilities: { methods: expect.arrayContaining(['session/prompt', 'shutdown']), deltas: true },
      limits: { maxFrameBytes: 1000, maxInFlight: 100, maxPendingMessages: 10 },
    })
  })

  it('comes first: everything else before it is not_initialized, known or not', async () => {
    const client = new Client()
    for (const method of ['session/list', 'server/ping', 'shutdown', 'session/fly'])
      expect(codeOf(await client.call(method))).toBe('not_initialized')
    expect((await client.initialize()).result).toBeDefined()
    expect((await client.call('server/ping')).result).toEqual({ time: 1 })
  })

  it('comes once: a second one is refused, and the connection lives on', async () => {
    const client = new Client()
    await client.initialize()
    expect(codeOf(await client.initialize())).toBe(-32600)
    expect((await client.call('server/ping')).result).toBeDefined()
  })

  it('with a range that can not be met says so at once, and leaves the connection as it was', async () => {
    const client = new Client()
    const answer = await client.initialize(2, 3)
    expect(answer.error).toMatchObject({
      message: expect.stringMatching(/speaks protocol 1.*2 to 3/),
      data: { code: 'unsupported_protocol' },
    })
    expect(codeOf(await client.call('server/ping'))).toBe('not_initialized')
    expect((await client.initialize()).result).toBeDefined()
  })
})

describe('params', () => {
  it('FR-2: bad ones are -32602 with the path of each fault', async () => {
    const client = new Client()
    await client.initialize()
    const answer = await client.call('session/prompt', { sessionId: 's', content: [{ type: 'text', text: 5 }], delivery: 'now' })
    expect(answer.error?.code).toBe(-32602)
    const faults = answer.error?.data?.faults
    expect(faults).toEqual([
      { path: 'content[0].text', message: expect.stringContaining('got 5') },
      { path: 'delivery', message: expect.stringContaining('"now"') },
    ])
    for (const params of [undefined, [], { sessionId: 5 }]) expect(codeOf(await client.call('session/get', params))).toBe(-32602)
    expect(codeOf(await client.call('session/fly', {}))).toBe(-32601)
    for (const name of ['toString', '__proto__', 'constructor']) expect(codeOf(await client.call(name, {}))).toBe(-32601)
  })
})

describe('pipelined requests', () => {
  it('work without waiting for an answer: what was asked of one session is done in order', async () => {
    const client = new Client()
    client.send('initialize', { protocol: { min: 1, max: 1 }, client: { name: 'test', version: '0' } })
    client.send('session/create', create('s'))
    client.send('session/subscribe', { sessionId: 's', after: 0 })
    client.send('session/prompt', { sessionId: 's', content: 'one', messageId: 'm1' })
    client.send('session/prompt', { sessionId: 's', content: 'two', messageId: 'm2' })
    const status = client.send('session/status', { sessionId: 's' })
    expect((await client.answer(status)).result).toMatchObject({ status: 'running', pending: { followup: 1 } })
    for (const id of [1, 2, 3, 4, 5]) expect((await client.answer(id)).result).toBeDefined()
    ;(await client.rig.nextAsk()).answer(says('first'))
    ;(await client.rig.nextAsk()).answer(says('second'))
    await client.rig.idle()
    const admitted = (await client.rig.facts()).flatMap((fact) => (fact.type === 'inbox/admitted' ? [fact.data.messageId] : []))
    expect(admitted).toEqual(['m1', 'm2'])
  })

  it('a failed one holds up nothing', async () => {
    const client = new Client()
    await client.initialize()
    client.send('session/create', { ...create('s'), cwd: '/does/not/exist' })
    expect(codeOf(await client.call('session/prompt', { sessionId: 's', content: 'x' }))).toBe('session_not_found')
    expect((await client.call('session/create', create('s'))).result).toBeDefined()
  })
})

describe('subscriptions', () => {
  it('SUB-1: no notification precedes the answer that names it; every frame fits its schema', async () => {
    const client = new Client()
    await client.initialize()
    await client.call('session/create', create('s'))
    const prompt = client.send('session/prompt', { sessionId: 's', content: 'one' })
    const subscribe = client.send('session/subscribe', { sessionId: 's', after: 0, subscriptionId: 'mine' })
    ;(await client.rig.nextAsk()).answer(says('hi'))
    await quiet()
    expect((await client.answer(subscribe)).result).toMatchObject({ subscriptionId: 'mine', status: 'running' })
    const order = client.order()
    expect(order.indexOf('session/create')).toBeGreaterThan(order.indexOf(`answer ${subscribe}`))
    expect(order.indexOf(`answer ${subscribe}`)).toBeGreaterThan(order.indexOf(`answer ${prompt}`))
    for (const { method, params } of client.frames.filter((frame) => frame.method !== undefined)) {
      const schema = method === 'session.event' ? notifications['session.event'] : notifications['session.status']
      expect(check(schema, params)).toMatchObject({ ok: true })
    }
    expect((await client.call('session/unsubscribe', { subscriptionId: 'mine' })).result).toEqual({})
    expect(codeOf(await client.call('session/unsubscribe', { subscriptionId: 'mine' }))).toBe('subscription_not_found')
  })

  it('SUB-3: nothing is sent to a connection that did not subscribe, nor after it is closed', async () => {
    const client = new Client()
    await client.initialize()
    await client.call('session/create', create('s'))
    await client.call('session/prompt', { sessionId: 's', content: 'one' })
    ;(await client.rig.nextAsk()).answer(says('hi'))
    await client.rig.idle()
    expect(client.frames.filter((frame) => frame.method !== undefined)).toEqual([])
    await client.call('session/subscribe', { sessionId: 's' })
    client.connection.close()
    const before = client.frames.length
    await client.rig.runtime.sessions.prompt({ sessionId: 's', content: 'two' })
    await quiet()
    expect(client.frames.length).toBe(before)
  })
})

describe('shutdown', () => {
  it('RE-7: ends the open turn as interrupted, answers once it is committed, and only then says that it is over', async () => {
    const client = new Client()
    await client.initialize()
    await client.call('session/create', create('s'))
    await client.call('session/prompt', { sessionId: 's', content: 'one' })
    await client.rig.nextAsk()
    client.send('session/prompt', { sessionId: 's', content: 'two', messageId: 'm2' })
    const shutdown = client.send('shutdown')
    const late = client.send('server/ping')
    expect(client.stopped).toBe(0)
    expect((await client.answer(shutdown)).result).toEqual({})
    expect(client.stopped).toBe(1)
    expect(codeOf(await client.answer(late))).toBe('shutting_down')
    const facts = await client.rig.facts()
    expect(facts.at(-1)).toMatchObject({ type: 'turn/end', data: { reason: { kind: 'interrupted' } } })
    // What came before it was through first.
    expect(facts.some((fact) => fact.type === 'inbox/receipt' && fact.data.message.id === 'm2')).toBe(true)
    const order = client.order()
    expect(order.indexOf('answer 4')).toBeLessThan(order.indexOf(`answer ${shutdown}`))
  })
})

it('shutdown lets through what was asked before it, also what still waits its turn', async () => {
  const client = new Client()
  await client.initialize()
  const asked = [
    client.send('session/create', create('s')),
    client.send('session/prompt', { sessionId: 's', content: 'one', messageId: 'm1' }),
    client.send('session/prompt', { sessionId: 's', content: 'two', messageId: 'm2' }),
  ]
  const shutdown = client.send('shutdown')
  expect((await client.answer(shutdown)).result).toEqual({})
  for (const id of asked) expect((await client.answer(id)).result).toBeDefined()
  expect((await client.rig.types()).filter((type) => type === 'inbox/receipt')).toHaveLength(2)
})

describe('SUB-2: a client that asks and does not read', () => {
  const openAnswers = ['session/get', 'session/list', 'session/update', 'session/events', 'session/messages']

  async function unread() {
    const client = new Client()
    await client.initialize()
    for (const id of ['s', 't']) await client.call('session/create', create(id))
    client.read(false)
    return client
  }
  const params = (method: string) => (method === 'session/list' ? {} : { sessionId: 's' })

  it('costs no answer that holds what was stored, until it reads', async () => {
    const client = await unread()
    const asked = Array.from({ length: 10 }, () => openAnswers.map((method) => client.send(method, params(method)))).flat()
    await quiet()
    expect(client.frames.filter(({ id }) => asked.includes(Number(id)))).toEqual([])
    client.read(true)
    for (const id of asked) expect((await client.answer(id)).result).toBeDefined()
    const order = client.frames.map(({ id }) => id)
    const lane = asked.filter((_, i) => openAnswers[i % openAnswers.length] !== 'session/list')
    expect(order.filter((id) => lane.includes(Number(id)))).toEqual(lane)
  })

  it('gets one such answer at a time: the next is not made before the one before it is sent, and read', async () => {
    const client = await unread()
    const asked = openAnswers.map((method) => client.send(method, params(method)))
    const answers = () => client.frames.filter(({ id }) => asked.includes(Number(id))).length
    for (const [i] of asked.entries()) {
      await quiet()
      expect(answers()).toBe(i)
      client.fill = true
      client.read(true)
    }
    await quiet()
    expect(answers()).toBe(asked.length)
  })

  it('is served in all else meanwhile: pings, prompts and cancels of other sessions', async () => {
    const client = await unread()
    client.send('session/events', { sessionId: 's' })
    client.send('session/list')
    const behind = client.send('session/prompt', { sessionId: 's', content: 'x' })
    expect((await client.call('server/ping')).result).toEqual({ time: 1 })
    expect((await client.call('session/prompt', { sessionId: 't', content: 'x' })).result).toBeDefined()
    expect((await client.call('session/cancel', { sessionId: 't' })).result).toMatchObject({ cancelled: true })
    expect(client.order()).not.toContain(`answer ${behind}`)
    client.read(true)
    expect((await client.answer(behind)).result).toBeDefined()
  })

  it('is not waited for at the end: what had no room is refused', async () => {
    const client = await unread()
    const waiting = [client.send('session/events', { sessionId: 's' }), client.send('session/get', { sessionId: 's' })]
    let settled = false
    const settling = client.connection.settled().then(() => {
      settled = true
    })
    await quiet()
    expect(settled).toBe(false)
    client.connection.hurry()
    for (const id of waiting) expect(codeOf(await client.answer(id))).toBe('shutting_down')
    await settling
    expect(codeOf(await client.call('session/list'))).toBe('shutting_down')
    client.read(true)
    expect((await client.call('session/list')).result).toBeDefined()
  })
})

describe('what a client says of itself and of its cancels', () => {
  it('fits into the facts that keep it: a long name is cut, a long reason refused with its place', async () => {
    const client = new Client()
    await client.call('initialize', { protocol: { min: 1, max: 1 }, client: { name: 'n'.repeat(1_000_000), version: '0' } })
    await client.call('session/create', create('s'))
    await client.call('session/prompt', { sessionId: 's', content: 'x' })
    await client.rig.nextAsk()
    const refused = await client.call('session/cancel', { sessionId: 's', reason: 'r'.repeat(20_000) })
    expect(refused.error).toMatchObject({
      code: -32602,
      data: { faults: [{ path: 'reason', message: expect.stringContaining('too big') }] },
    })
    expect((await client.call('session/cancel', { sessionId: 's', reason: 'r'.repeat(16_000) })).result).toMatchObject({ cancelled: true })
    await client.rig.idle()
    const cancel = (await client.rig.facts()).find((fact) => fact.type === 'agent/cancel')
    expect(cancel).toMatchObject({ data: { by: 'n'.repeat(200), reason: 'r'.repeat(16_000) } })
  })
})

describe('every method of the table', () => {
  it('answers', async () => {
    const client = new Client()
    await client.initialize()
    const ok = async (method: string, params: unknown) => {
      const answer = await client.call(method, params)
      expect(answer.error).toBeUndefined()
      return answer.result
    }
    expect(await ok('session/create', create('s'))).toMatchObject({ session: { sessionId: 's', status: 'idle', seq: 1 } })
    expect(await ok('session/get', { sessionId: 's' })).toMatchObject({ session: { sessionId: 's' } })
    expect(await ok('session/update', { sessionId: 's', title: 'T' })).toMatchObject({ session: { title: 'T' } })
    expect(await ok('session/list', {})).toMatchObject({ sessions: [{ sessionId: 's' }] })
    expect(await ok('session/prompt', { sessionId: 's', content: 'x', messageId: 'm' })).toEqual({ messageId: 'm' })
    expect(await ok('session/withdraw', { sessionId: 's', messageId: 'm' })).toEqual({ withdrawn: false })
    expect(await ok('session/cancel', { sessionId: 's' })).toMatchObject({ cancelled: true })
    await client.rig.idle()
    const cancel = (await client.rig.facts()).find((fact) => fact.type === 'agent/cancel')
    expect(cancel).toMatchObject({ data: { by: 'test', scope: 'turn' } })
    expect(await ok('session/status', { sessionId: 's' })).toMatchObject({ status: 'idle' })
    expect(await ok('session/events', { sessionId: 's', limit: 2 })).toMatchObject({ nextAfter: 2, more: true })
    expect(await ok('session/messages', { sessionId: 's' })).toMatchObject({ messages: [{ role: 'user' }, { role: 'assistant' }] })
    expect(await ok('model/list', { provider: 'p' })).toMatchObject({ models: [{ model: 'p/model' }] })
    expect(await ok('tool/list', {})).toMatchObject({ tools: [{ name: 'work' }] })
    expect(await ok('session/delete', { sessionId: 's', tree: true })).toEqual({})
    expect(codeOf(await client.call('session/get', { sessionId: 's' }))).toBe('session_not_found')
  })
})
