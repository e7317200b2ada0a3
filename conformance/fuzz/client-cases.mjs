// Owns what a client may send to a server, right and wrong: each case is one connection's worth of bytes, made from its seed and index.
import { damaged, padded } from './bytes.mjs'
import { written } from './json-text.mjs'
import { mutated, odd } from './odd.mjs'
import { Random } from './random.mjs'
import { methodNames, paramsOf } from './schema.mjs'
import { Values } from './values.mjs'

const lf = Buffer.from('\n')
/** How often a method is asked for, where it isn't as often as any other; what ends the runtime or a session would soon leave nothing. */
const often = { 'session/prompt': 4, 'session/subscribe': 2, 'session/cancel': 2, initialize: 0.2, 'session/delete': 0.2, shutdown: 0 }
const requests = methodNames.map((name) => [often[name] ?? 1, name])
/** How a connection begins. */
const beginnings = [
  [40, 'greeted'],
  [2, 'pipelined'],
  [2, 'late'],
  [1, 'never'],
]
const greeting = { protocol: { min: 1, max: 1 }, client: { name: 'fuzz', version: '0' } }

class ClientCase {
  #random
  #values
  #place
  /** @type {Buffer[]} frames, each with its LF, or with none where it runs into the next one */
  parts = []
  #lastId = 0
  #sessions
  #messages = ['m-1', 'm-2', 'm-3']
  #subscriptions = ['u-1', 'u-2', 'u-3']

  constructor(random, index, place) {
    this.#random = random
    this.#place = place
    this.#lastId = place.firstId ?? 0
    this.#sessions = ['a', 'b'].map((name) => `f${index}-${name}`)
    const of = (list, strange) => () => (random.chance(0.85) ? random.pick(list) : random.pick(strange))
    const sessionId = of(this.#sessions, ['nobody', '__proto__', 'constructor', 'x'.repeat(128), 'a:b.c_d-e'])
    const absent = () => undefined
    this.#values = new Values(random, {
      SessionId: sessionId,
      MessageId: of(this.#messages, ['m-9', 'goal:1', '漢'.repeat(200), '__proto__']),
      'SessionCreateParams.sessionId': () => random.pick([undefined, ...this.#sessions]),
      'SessionCreateParams.cwd': () => place.folder,
      'SessionCreateParams.roots': () => random.pick([undefined, undefined, [], [place.folder]]),
      'SessionCreateParams.model': () => random.pick([undefined, 'scripted/demo']),
      'SessionCreateParams.tools': () => random.pick([undefined, ['*'], ['read_file'], []]),
      'SessionCreateParams.env': () => random.pick([undefined, undefined, { A: 'b' }]),
      'SessionCreateParams.clientTools': absent,
      'SessionCreateParams.mcpServers': absent,
      'SessionCreateParams.outputSchema': absent,
      'SessionUpdateParams.outputSchema': absent,
      'SessionUpdateParams.model': () => random.pick([undefined, 'scripted/demo', 'no/such']),
      'Limits.maxTotalTokens': absent,
      'Limits.maxCost': absent,
      'TurnLimits.maxTotalTokens': absent,
      'TurnLimits.maxCost': absent,
      'SessionSubscribeParams.subscriptionId': () => random.pick([undefined, ...this.#subscriptions]),
      'SessionSubscribeParams.from': () => (random.once(6) ? { messageId: random.pick(this.#messages) } : undefined),
      'SessionSubscribeParams.tree': () => (random.once(8) ? true : undefined),
      'SessionUnsubscribeParams.subscriptionId': () => random.pick([...this.#subscriptions, 'u-9']),
      'SessionPromptParams.content': () => this.#content(),
      'SessionMessagesParams.cursor': () => random.pick([undefined, undefined, '0', '1', 'x', '-1', '1e3']),
      'SessionListParams.cursor': () => random.pick([undefined, undefined, undefined, 'x', '', 'YmVmb3JlIDE']),
      'SessionEventsParams.from': () => (random.once(6) ? { messageId: random.pick(this.#messages) } : undefined),
    })
  }

  /** The whole stream of the case. */
  build() {
    const random = this.#random
    const begin = random.weighted(beginnings)
    if (begin === 'greeted') this.#ask('initialize', greeting)
    if (begin === 'pipelined') this.#storm()
    const frames = random.pick([random.between(1, 8), random.between(8, 30), random.between(8, 30), random.between(30, 90)])
    if (random.chance(0.8)) for (const sessionId of this.#sessions) this.#create(sessionId)
    for (let left = frames; left > 0; left -= 1) this.#element()
    if (begin === 'late' || begin === 'pipelined') {
      this.#ask('initialize', greeting)
      for (let left = random.below(6); left > 0; left -= 1) this.#element()
    }
    if (this.#place.mayStop && random.once(150)) this.#stop()
    if (random.chance(0.7)) for (const sessionId of this.#sessions) this.#ask('session/delete', { sessionId })
    return this.parts
  }

  #element() {
    const random = this.#random
    random.weighted([
      [30, () => this.#valid()],
      [26, () => this.#mutant()],
      [14, () => this.#envelope()],
      [14, () => this.#add(...damaged(this.#line(), this.#line(), random))],
      [1, () => this.#long()],
      [3, () => this.#storm()],
      [2, () => this.#repeated()],
    ])()
  }

  #create(sessionId) {
    this.#ask('session/create', { ...this.#values.of('SessionCreateParams'), sessionId })
  }

  #valid() {
    const { method, params } = this.#request()
    this.#ask(method, params)
  }

  #mutant() {
    const request = this.#request()
    this.#say({ ...request, params: mutated(request.params, this.#random) })
  }

  /** What is around the params is wrong, or is no request. */
  #envelope() {
    const random = this.#random
    const request = this.#request()
    random.weighted([
      [6, () => this.#say(mutated(request, random))],
      [2, () => this.#say({ ...request, jsonrpc: odd(random) })],
      [3, () => this.#say({ ...request, id: odd(random) })],
      [3, () => this.#say({ ...request, method: odd(random) })],
      [
        2,
        () =>
          this.#say({
            ...request,
            method: random.pick(['session/fly', 'rpc.discover', 'Session/get', 'session/get ', 'toString', '__proto__']),
          }),
      ],
      [3, () => this.#say({ ...request, params: odd(random) })],
      [2, () => this.#say({ ...request, id: undefined })],
      [1, () => this.#say([request, this.#request()])],
      [1, () => this.#say([])],
      [1, () => this.#say({ jsonrpc: '2.0', id: this.#id(), result: odd(random) })],
      [1, () => this.#say({ jsonrpc: '2.0', id: odd(random), error: { code: -32000, message: 'no' } })],
      [
        1,
        () =>
          this.#say({ jsonrpc: '2.0', method: random.pick(['session.event', 'cancel', 'shutdown', 'initialize']), params: odd(random) }),
      ],
      [1, () => this.#say({ ...request, result: 1, error: {}, extra: odd(random) })],
    ])()
  }

  /** A frame about as long as may be, or longer. */
  #long() {
    const random = this.#random
    const { maxFrameBytes } = this.#place
    const around = maxFrameBytes + random.between(-2, 2)
    const length = random.pick([around, around, random.between(1000, maxFrameBytes), maxFrameBytes * 2 + random.below(9)])
    this.#add(random.chance(0.7) ? padded(this.#line(), length) : Buffer.alloc(length, random.pick(['x', ' ', '[', '\u00e9', '\r'])), lf)
  }

  /** Much of one kind at once. */
  #storm() {
    const random = this.#random
    const sessionId = random.pick(this.#sessions)
    const times = random.between(3, 25)
    const id = random.once(3) ? this.#id() : undefined
    const one = random.pick([
      () => ['session/subscribe', { sessionId, after: 0, deltas: true, activate: random.chance(0.5) }],
      () => ['session/subscribe', { sessionId, subscriptionId: random.pick(this.#subscriptions) }],
      () => ['session/unsubscribe', { subscriptionId: random.pick(this.#subscriptions) }],
      () => ['session/prompt', { sessionId, content: 'again', messageId: random.pick(this.#messages) }],
      () => [
        'session/prompt',
        {
          sessionId,
          content: 'and again',
          expect: random.pick([undefined, 'idle']),
          delivery: random.pick(['steer', 'inject', undefined]),
        },
      ],
      () => ['session/cancel', { sessionId, scope: random.pick(['turn', 'session', 'tree']), turnId: random.pick([undefined, 'nothing']) }],
      () => ['session/withdraw', { sessionId, messageId: random.pick(this.#messages) }],
      () => ['session/events', { sessionId, after: 0 }],
      () => ['server/ping', {}],
      () => ['initialize', greeting],
    ])
    for (let left = times; left > 0; left -= 1) {
      const [method, params] = one()
      this.#say({ jsonrpc: '2.0', id: id ?? this.#id(), method, params })
    }
  }

  /** The same bytes again, or those of long ago. */
  #repeated() {
    const random = this.#random
    if (this.parts.length === 0) return
    const again = random.pick(this.parts)
    if (again.length < 5000) this.#add(...Array(random.between(1, 4)).fill(again))
  }

  /** The end of the runtime, and what comes behind it. */
  #stop() {
    this.#say({ jsonrpc: '2.0', id: this.#id(), method: 'shutdown', params: this.#random.pick([undefined, {}, [], { now: true }]) })
  }

  #content() {
    const random = this.#random
    return random.weighted([
      [
        6,
        () =>
          random.pick([
            'hello',
            'What does README.md say?',
            'Which files are here, and what do they say?',
            'a\u2028b',
            '\ud800 half',
            '漢字',
            'x'.repeat(2000),
          ]),
      ],
      [2, () => this.#values.of('ContentInput')],
      [
        1,
        () => [
          { type: 'text', text: 'hello' },
          { type: 'hologram', depth: 3 },
        ],
      ],
    ])()
  }

  #request() {
    const method = this.#random.weighted(requests)
    return { jsonrpc: '2.0', id: this.#id(), method, params: this.#values.of(paramsOf(method)) }
  }

  #line() {
    return Buffer.from(written(this.#request(), this.#random))
  }

  #id() {
    const random = this.#random
    this.#lastId += 1
    if (random.chance(0.75)) return this.#lastId
    return random.pick([
      `s${this.#lastId}`,
      `s${this.#lastId}`,
      -this.#lastId,
      '漢'.repeat(random.below(5)),
      (this.#place.firstId ?? 0) + random.below(3),
    ])
  }

  #ask(method, params) {
    this.#say({ jsonrpc: '2.0', id: this.#id(), method, params })
  }

  #say(message) {
    this.#add(Buffer.from(written(message, this.#random)), lf)
  }

  #add(...parts) {
    this.parts.push(Buffer.concat(parts))
  }
}

/**
 * The bytes that one client sends, in parts of mostly one frame.
 * @param {number} seed
 * @param {number} index
 * @param {{ folder: string, maxFrameBytes: number, mayStop: boolean, firstId?: number }} place where the server is: a folder that
 * exists, and its limit; `firstId`: ids are above it
 * @returns {{ parts: Buffer[], cuts: { at: number, rounds: number }[] }} `cuts`: where its stream is cut into chunks
 */
export function clientCase(seed, index, place) {
  const random = new Random(seed, index)
  const parts = new ClientCase(random, index, place).build()
  return { parts, cuts: random.cuts(parts.reduce((sum, part) => sum + part.length, 0)) }
}
