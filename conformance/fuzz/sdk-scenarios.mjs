// Owns what a runtime may do to an SDK, right and wrong: each scenario is one connection, made from its seed and index, with what must
// become of every call. Whatever goes wrong in it, right conversations go on in between.
import { damaged, padded } from './bytes.mjs'
import { Conversation } from './conversation.mjs'
import { mutated, odd } from './odd.mjs'
import { Random } from './random.mjs'
import { resultOf } from './schema.mjs'
import { SdkFrames, sessions } from './sdk-frames.mjs'
import { SdkOracle } from './sdk-oracle.mjs'

/** Ids stand in frames as these, and whoever plays the scenario writes the real ones there. */
const firstId = 9_000_001
const lf = Buffer.from('\n')
const greeting = {
  protocol: 1,
  server: { name: 'fuzz', version: '0' },
  capabilities: { methods: [], deltas: true },
  limits: { maxFrameBytes: 33_554_432, maxInFlight: 100, maxPendingMessages: 100 },
}
/** Calls of one request, with its method. */
const simple = {
  ping: 'server/ping',
  models: 'model/list',
  get: 'session/get',
  withdraw: 'session/withdraw',
  cancel: 'session/cancel',
  status: 'session/status',
}
const kinds = [[6, 'run'], [2, 'stream'], [2, 'collect'], [2, 'tail'], ...Object.keys(simple).map((kind) => [0.6, kind])]

class Scenario {
  #random
  #oracle
  #frames
  #limit
  #steps = []
  #lastId = firstId - 1
  #lastCall = 0
  /** By session: its log. */
  #logs = new Map()
  /** Calls with a subscription that was answered, and the next fact of each. */
  #readers = []
  /** Requests that wait for an answer: which call, what for, and its id. */
  #asked = []

  constructor(seed, index, language) {
    this.#random = new Random(seed, index)
    this.#limit = this.#random.once(4) ? 4096 : 1 << 20
    this.#oracle = new SdkOracle({ language, limit: this.#limit })
    this.#frames = new SdkFrames(this.#random, language)
  }

  build() {
    const random = this.#random
    this.#open()
    for (let left = random.between(3, 40); left > 0 && this.#oracle.isReady; left -= 1) this.#event()
    if (this.#oracle.isReady && random.chance(0.8)) this.#finish()
    if (this.#oracle.isReady && random.chance(0.8)) this.#fence()
    if (random.once(10)) this.#send([this.#frames.notice().subarray(0, random.below(60))])
    this.#do({ do: 'end' }, () => this.#oracle.end())
    const { refused, prompts, kinds } = this.#oracle
    return { limit: this.#limit, steps: this.#steps, expect: this.#oracle.outcomes(), refused, prompts, kinds: Object.fromEntries(kinds) }
  }

  #open() {
    const random = this.#random
    this.#start({ kind: 'open' })
    const [request] = this.#asked
    this.#bindLast('initialize')
    if (random.once(60)) this.#send([this.#junk()])
    const result = random.once(80) ? mutated(greeting, random) : random.once(80) ? { ...greeting, protocol: 2 } : greeting
    if (request !== undefined && this.#oracle.isAlive) this.#answer(request, { result })
  }

  #event() {
    const random = this.#random
    if (!this.#oracle.isReady) return
    random.weighted([
      [this.#readers.length + this.#asked.length < 8 ? 5 : 0, () => this.#call()],
      [this.#asked.length > 0 ? 5 : 0, () => this.#answerOne()],
      [this.#readers.length > 0 ? 14 : 0, () => this.#advance(random.pick(this.#readers))],
      [10, () => this.#send(Array.from({ length: random.between(1, 5) }, () => this.#harmless()))],
      [3, () => this.#wrong()],
      [0.5, () => this.#send([this.#junk()])],
    ])()
  }

  // Calls, and the requests that they make.

  #call() {
    const random = this.#random
    const kind = random.weighted(kinds)
    const call = { kind, session: random.pick(sessions) }
    if (kind === 'tail') call.after = this.#log(call.session).start
    if (kind === 'collect') call.message = random.uuid()
    this.#start(call)
  }

  #start(call) {
    this.#lastCall += 1
    const started = { name: `${call.kind}-${this.#lastCall}`, ...call }
    if (call.kind === 'open') started.name = 'open'
    this.#do({ do: 'start', ...started }, () => this.#oracle.start(started))
    const method = call.kind === 'open' ? 'initialize' : (simple[call.kind] ?? 'session/subscribe')
    this.#asked.push({ call: started, method })
    if (call.kind !== 'open') this.#bindLast()
  }

  /** The request that was asked for last has gone out. */
  #bindLast() {
    this.#bind(this.#asked.at(-1))
  }

  #bind(request) {
    const { call, method } = request
    this.#lastId += 1
    request.id = this.#lastId
    const isSubscribe = method === 'session/subscribe'
    const bound = { name: call.name, method, id: request.id, ...(isSubscribe && { subscription: this.#frames.uuid() }) }
    if (method === 'session/prompt') bound.message = this.#frames.uuid()
    call.subscription ??= bound.subscription
    call.message ??= bound.message
    this.#do({ do: 'bind', session: call.session, ...bound }, () => this.#oracle.bind(bound))
  }

  // Answers.

  #answerOne() {
    const random = this.#random
    const request = random.pick(this.#asked)
    const { call, method } = request
    if (random.chance(0.85)) return this.#answer(request, { result: this.#result(request) })
    return random.weighted([
      [3, () => this.#answer(request, { error: this.#frames.error() })],
      [1, () => this.#answer(request, { error: mutated(this.#frames.error(), random) })],
      [2, () => this.#answer(request, { result: mutated(this.#result(request), random) })],
      [1, () => this.#answer(request, { result: odd(random) })],
      [1, () => this.#answer(request, { result: this.#result(request), error: this.#frames.error() })],
      [
        0.5,
        () => this.#send([this.#frames.line(mutated({ jsonrpc: '2.0', id: request.id, result: this.#result({ call, method }) }, random))]),
      ],
    ])()
  }

  #answer(request, what) {
    const times = this.#random.once(15) ? 2 : 1
    const line = this.#frames.line({ jsonrpc: '2.0', id: request.id, ...what })
    this.#send(Array(times).fill(line))
    this.#asked = this.#asked.filter((other) => other !== request)
    const { call, method } = request
    if (method !== 'session/subscribe' || !this.#oracle.isListening(call.name)) return
    const next = call.kind === 'tail' ? 0 : this.#log(call.session).facts.length
    this.#readers.push({ call, next, first: next })
    if (call.kind !== 'run' && call.kind !== 'stream') return
    const prompt = { call, method: 'session/prompt' }
    this.#bind(prompt)
    this.#asked.push(prompt)
  }

  #result({ call, method }) {
    const made = this.#frames.values.of(resultOf(method))
    const { session, subscription, message } = call
    if (method === 'session/subscribe') return { ...made, subscriptionId: subscription, seq: this.#log(session).seq }
    if (method === 'session/prompt') return { ...made, messageId: message }
    return made
  }

  // Facts.

  #log(session) {
    const known = this.#logs.get(session)
    if (known !== undefined) return known
    const log = new Conversation(this.#random, session, this.#random.pick([0, 0, 7, 500]))
    log.start = log.seq
    this.#logs.set(session, log)
    return log
  }

  /** Gives a subscription its next facts, right ones. */
  #advance(reader) {
    const random = this.#random
    const { call } = reader
    if (!this.#oracle.isOpen(call.name)) {
      this.#readers = this.#readers.filter((other) => other !== reader)
      return
    }
    const log = this.#log(call.session)
    if (reader.next >= log.facts.length) this.#continue(log, call)
    const facts = log.facts.slice(reader.next, reader.next + random.pick([1, 2, 5, 30]))
    reader.next += facts.length
    this.#send(facts.flatMap((fact) => [this.#factLine(call, fact), ...(random.once(5) ? [this.#harmless()] : [])]))
  }

  /** The log goes on: with the run of a message that waits for it, or with something else. */
  #continue(log, call) {
    const wantsRun = call.kind !== 'tail' && (call.kind === 'collect' || call.message !== undefined)
    if (wantsRun && !call.isTold) {
      call.isTold = true
      log.run(call.message)
    } else if (wantsRun || this.#random.once(2)) log.run(this.#frames.uuid())
    else log.idleTalk(this.#random.between(1, 4))
  }

  #factLine(call, fact) {
    // Whose fact it is says the frame around it, whatever the fact says.
    const event = this.#random.once(40) ? { ...fact, sessionId: 'another' } : fact
    const params = { subscriptionId: call.subscription, sessionId: call.session, event }
    return this.#frames.line({ jsonrpc: '2.0', method: 'session.event', params })
  }

  // What no call is the worse for.

  #harmless() {
    const random = this.#random
    return random.weighted([
      [3, () => this.#frames.notice()],
      [
        2,
        () =>
          this.#frames.sane({
            jsonrpc: '2.0',
            method: random.pick(['session.weather', 'x', 'session/get', '$/progress', '']),
            params: odd(random),
          }),
      ],
      [
        2,
        () =>
          this.#frames.sane({
            jsonrpc: '2.0',
            id: random.pick([7_000_000, 'q', null, -1, odd(random)]),
            method: random.pick(['client/ask', 'initialize']),
            params: odd(random),
          }),
      ],
      [2, () => this.#late()],
      [2, () => this.#repeat()],
      [2, () => this.#side()],
      [1, () => Buffer.from(random.pick(['', '\r', ' ', '\t', '  \r']))],
    ])()
  }

  /** A second answer to what was answered. */
  #late() {
    const random = this.#random
    const ids = Array.from({ length: this.#lastId - firstId + 1 }, (_, i) => firstId + i)
    const done = ids.filter((id) => !this.#asked.some((request) => request.id === id))
    if (done.length === 0) return Buffer.from('')
    return this.#frames.sane({
      jsonrpc: '2.0',
      id: random.pick(done),
      ...random.pick([{ result: odd(random) }, { error: this.#frames.error() }, { error: odd(random) }]),
    })
  }

  /** A fact that a subscription has had. */
  #repeat() {
    // The first fact of a collect may be any: nothing can be a repeat before it.
    const had = this.#readers.filter(
      ({ call, next, first }) => next > (call.kind === 'collect' ? first : 0) && this.#oracle.isOpen(call.name),
    )
    if (had.length === 0) return Buffer.from('')
    const { call, next } = this.#random.pick(had)
    return this.#factLine(call, this.#log(call.session).facts[this.#random.below(next)])
  }

  /** What goes along with facts, and tells nothing that they don't. */
  #side() {
    const random = this.#random
    const open = this.#readers.filter(({ call }) => this.#oracle.isOpen(call.name) && call.kind !== 'tail')
    if (open.length === 0) return Buffer.from('')
    const { call } = random.pick(open)
    const ids = { subscriptionId: call.subscription, sessionId: call.session }
    const step = { ...ids, turnId: 't', stepId: 'st' }
    return random.pick([
      () =>
        this.#frames.sane({
          jsonrpc: '2.0',
          method: 'session.status',
          params: { ...this.#frames.values.of('SessionStatusNotice'), ...ids },
        }),
      () =>
        this.#frames.sane({
          jsonrpc: '2.0',
          method: 'session.delta',
          params: { ...step, kind: random.pick(['text', 'reasoning', 'smell']), index: 0, text: this.#frames.values.text() },
        }),
      () => this.#factLine({ ...call, session: 'another' }, new Conversation(random, 'another', random.below(900)).idleTalk(1)[0]),
    ])()
  }

  // What ends something.

  #wrong() {
    const random = this.#random
    const open = this.#readers.filter(({ call }) => this.#oracle.isOpen(call.name))
    if (open.length === 0) return this.#send([this.#harmless()])
    const reader = random.pick(open)
    const { call } = reader
    const ids = { subscriptionId: call.subscription, sessionId: call.session }
    const log = this.#log(call.session)
    if (reader.next >= log.facts.length) this.#continue(log, call)
    const fact = log.facts[reader.next]
    const say = (method, params) => this.#send([this.#frames.line({ jsonrpc: '2.0', method, params })])
    return random.weighted([
      [5, () => this.#maybeNext(reader, this.#factLine(call, mutated(fact, random)))],
      [1, () => this.#send([this.#factLine(call, odd(random))])],
      [1, () => this.#send([this.#factLine(call, { ...fact, seq: fact.seq + random.between(1, 9) })])],
      [1, () => say('session.event', mutated({ ...ids, event: fact }, random))],
      [0.3, () => say('session.event', odd(random))],
      [3, () => say('session.closed', { ...ids, ...this.#frames.closed() })],
      [0.5, () => say('session.closed', mutated({ ...ids, ...this.#frames.closed() }, random))],
      [
        0.5,
        () => call.kind !== 'tail' && say('session.delta', mutated({ ...this.#frames.values.of('SessionDeltaParams'), ...ids }, random)),
      ],
      [0.5, () => say('session.status', mutated({ ...this.#frames.values.of('SessionStatusNotice'), ...ids }, random))],
    ])()
  }

  /** A fact that was changed may still be a right one, and then it has been had. */
  #maybeNext(reader, line) {
    const had = this.#oracle.lastSeq(reader.call.name)
    this.#send([line])
    if (this.#oracle.lastSeq(reader.call.name) !== had) reader.next += 1
  }

  /** Bytes after which nothing may be trusted any more, or which are passed over: the oracle knows. */
  #junk() {
    const random = this.#random
    const one = random.pick([() => this.#frames.notice(), () => this.#factOfSomebody()])()
    if (random.once(8)) return padded(one, this.#limit + random.between(-2, 2))
    return this.#frames.clear(Buffer.concat(damaged(one, this.#frames.notice(), random).filter((part) => !part.equals(lf))))
  }

  #factOfSomebody() {
    const open = this.#readers.filter(({ call }) => this.#oracle.isOpen(call.name))
    if (open.length === 0) return this.#frames.notice()
    const { call } = this.#random.pick(open)
    return this.#factLine(call, this.#log(call.session).facts.at(-1) ?? { seq: 1, type: 'x', time: 1 })
  }

  // The end.

  /** Everything comes to its right end, but for what is left open. */
  #finish() {
    const random = this.#random
    for (let left = 60; left > 0 && this.#oracle.isReady; left -= 1) {
      const [reader] = this.#readers.filter(({ call }) => this.#oracle.isOpen(call.name) && call.kind !== 'tail')
      const request = random.chance(0.3) ? this.#asked[0] : undefined
      if (request !== undefined) this.#answer(request, { result: this.#result(request) })
      else if (reader !== undefined) this.#advance(reader)
    }
  }

  /** The connection lives: a ping comes back. */
  #fence() {
    this.#start({ kind: 'ping' })
    this.#answer(this.#asked.at(-1), { result: {} })
  }

  // Steps.

  #send(lines) {
    const bytes = Buffer.concat(lines.flatMap((line) => [line, lf]))
    const step = { do: 'send', bytes, cuts: this.#cuts(bytes.length) }
    this.#do(step, () => this.#oracle.feed(bytes))
  }

  /** No chunk is longer than a frame may be: which of two faults in one chunk comes first is not told. */
  #cuts(length) {
    const cuts = this.#random.cuts(length).map(({ at }) => at)
    for (let at = this.#limit; at < length; at += this.#limit) cuts.push(at)
    return [...new Set(cuts)].filter((at) => at < length).sort((a, b) => a - b)
  }

  #do(step, tell) {
    this.#steps.push(step)
    tell()
  }
}

/**
 * @param {number} seed
 * @param {number} index
 * @param {'typescript' | 'python'} language
 * @returns {{ limit: number, steps: object[], expect: Record<string, import('./sdk-oracle.mjs').Outcome>, refused: number, prompts: number,
 * kinds: Record<string, number> }}
 * `limit`: of a frame, in bytes; `refused`: requests that the SDK must refuse; `prompts`: that it must send; `kinds`: how
 * many frames of each kind there are
 */
export function sdkScenario(seed, index, language) {
  return new Scenario(seed, index, language).build()
}
