// Owns the scripted peer: a server that says what a case tells it to, right or wrong, to an SDK that believes it is a runtime (L0, L2).
import { isObject, type Json, type JsonObject } from './case.ts'
import { type Deferred, deferred } from './deferred.ts'
import type { Link } from './endpoint.ts'
import { Lines } from './lines.ts'
import { mismatches } from './match.ts'
import type { World } from './world.ts'

interface Wanted {
  method: string
  where: Json
  found: Deferred<JsonObject>
}

export interface Subscription {
  subscriptionId: string
  sessionId: string
}

export const peerSession = (sessionId: string): JsonObject => ({
  ...{ sessionId, depth: 0, metadata: {}, cwd: '/work', roots: ['/work'], model: 'scripted/case', permissions: 'edit', limits: {} },
  ...{ createdAt: 1_796_000_000_000, updatedAt: 1_796_000_000_000, status: 'idle', seq: 1, usage: { inputTokens: 0, outputTokens: 0 } },
})

export class Peer {
  readonly #world: World
  readonly #link: Link
  readonly #options: JsonObject
  /** What it answers by itself, by method: the result. */
  readonly #automatic: ReadonlyMap<string, (params: JsonObject) => Json>
  /** Where the log of every session ends, as a subscription is told. */
  seq: number
  readonly #left: JsonObject[] = []
  readonly #wanted: Wanted[] = []
  /** The subscriptions that it opened, in order, and those who wait for one. */
  readonly #subscriptions: Subscription[] = []
  readonly #awaited: Deferred[] = []

  constructor(world: World, link: Link, options: JsonObject) {
    this.#world = world
    this.#link = link
    this.#options = options
    this.seq = Number(options.seq ?? 0)
    this.#automatic = this.#answers(options)
    const lines = new Lines((line) => this.#receive(line))
    link.onData((chunk) => lines.push(chunk))
    void link.ended.then(() => {
      world.say('peer -> the SDK closed stdin')
      if (options.stays !== true) link.exit({})
    })
  }

  get link(): Link {
    return this.#link
  }

  /** What it would have answered by itself, where the case doesn't keep that method for itself. */
  automatic(method: string, params: JsonObject): Json | undefined {
    return this.#answers({ ...this.#options, manual: [] }).get(method)?.(params)
  }

  /** The next request with this method, of those that nothing answered by itself. */
  expect(method: string, where: Json): Promise<JsonObject> {
    const there = this.#left.findIndex((frame) => frame.method === method && mismatches(where, frame.params ?? {}).length === 0)
    if (there >= 0) return Promise.resolve(this.#left.splice(there, 1)[0] ?? {})
    const found = deferred<JsonObject>()
    this.#wanted.push({ method, where, found })
    return found.promise
  }

  /** The nth subscription, counted from 1, or the latest, once it is there. */
  async subscription(nth: number | null): Promise<Subscription> {
    for (;;) {
      const found = nth === null ? this.#subscriptions.at(-1) : this.#subscriptions[nth - 1]
      if (found !== undefined) return found
      const there = deferred()
      this.#awaited.push(there)
      await there.promise
    }
  }

  sendJson(frame: Json): void {
    this.send(Buffer.from(`${JSON.stringify(frame)}\n`))
  }

  send(bytes: Buffer): void {
    this.#world.say(`peer <- ${bytes.toString().trimEnd()}`)
    this.#link.write(bytes)
  }

  /** `manual` methods are left to the case; `answers` replaces what a method is answered. */
  #answers({ manual, answers, status = 'idle' }: JsonObject): ReadonlyMap<string, (params: JsonObject) => Json> {
    const limits = { maxFrameBytes: 33_554_432, maxInFlight: 1024, maxPendingMessages: 1000 }
    const described = ({ sessionId = 's-1' }: JsonObject) => ({ session: peerSession(String(sessionId)) })
    const automatic = new Map<string, (params: JsonObject) => Json>([
      [
        'initialize',
        () => ({
          protocol: 1,
          server: { name: 'peer', version: '1' },
          capabilities: { methods: [...this.#world.schema.methods], deltas: true },
          limits,
        }),
      ],
      ['session/create', described],
      ['session/get', described],
      ['session/subscribe', (params) => ({ ...this.#subscribed(params), status, seq: this.seq, waitingOn: [] })],
      ['session/unsubscribe', () => ({})],
      ['server/ping', () => ({})],
      ['shutdown', () => ({})],
    ])
    for (const [method, result] of Object.entries(isObject(answers) ? answers : {})) automatic.set(method, () => result)
    for (const method of Array.isArray(manual) ? manual : []) automatic.delete(String(method))
    return automatic
  }

  #subscribed({ subscriptionId, sessionId = 's-1' }: JsonObject): { subscriptionId: string } {
    const id = typeof subscriptionId === 'string' ? subscriptionId : `sub-${this.#subscriptions.length + 1}`
    this.#subscriptions.push({ subscriptionId: id, sessionId: String(sessionId) })
    // Once its answer is out.
    setImmediate(() => {
      for (const there of this.#awaited.splice(0)) there.resolve()
    })
    return { subscriptionId: id }
  }

  #receive(line: Buffer): void {
    const text = line.toString()
    this.#world.say(`peer -> ${text}`)
    let frame: unknown
    try {
      frame = JSON.parse(text)
    } catch {
      frame = null
    }
    if (!isObject(frame) || typeof frame.method !== 'string') {
      this.#world.frameFaults.push(`the SDK sent what is no request: ${text.slice(0, 500)}`)
      return
    }
    const params = isObject(frame.params) ? frame.params : {}
    const fault = this.#world.schema.params(frame.method, params)
    if (fault !== null) this.#world.frameFaults.push(`the SDK sent a faulty request: ${fault}: ${text.slice(0, 500)}`)
    const wanted = this.#wanted.findIndex(
      ({ method, where }) => isObject(frame) && frame.method === method && mismatches(where, params).length === 0,
    )
    if (wanted >= 0) {
      this.#wanted.splice(wanted, 1)[0]?.found.resolve(frame)
      return
    }
    const answer = this.#automatic.get(frame.method)
    if (answer === undefined) this.#left.push(frame)
    else this.sendJson({ jsonrpc: '2.0', id: frame.id ?? null, result: answer(params) })
  }
}
