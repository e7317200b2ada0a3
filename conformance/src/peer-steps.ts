// Owns the steps of the scripted peer: what it waits for, and what it says.
import { bytesOf, chunksOf, objectOf, optionalText, textOf } from './args.ts'
import { isObject, type Json, type JsonObject } from './case.ts'
import type { StepRun } from './common-steps.ts'
import { type Deferred, deferred } from './deferred.ts'
import type { Link } from './endpoint.ts'
import { HarnessError } from './harness-error.ts'
import { Peer, type Subscription } from './peer.ts'
import type { World } from './world.ts'

export class PeerLayer {
  readonly #world: World
  readonly #options: JsonObject
  readonly #linked: Deferred<Peer> = deferred()
  #peer: Peer | null = null

  constructor(world: World, options: JsonObject) {
    this.#world = world
    this.#options = options
  }

  /** An SDK launched its runtime; the latest is the one that steps speak of. */
  link(link: Link): void {
    this.#peer = new Peer(this.#world, link, this.#options)
    this.#linked.resolve(this.#peer)
  }

  readonly steps: Readonly<Record<string, StepRun>> = {
    /** `peer.expect: {method, params?, as}`: waits for a request; its `id` and `params` are values. */
    'peer.expect': async (world, args) => {
      const { method = null, params = {}, as } = objectOf('peer.expect', args)
      const peer = await this.#there()
      const frame = await peer.expect(textOf('peer.expect', method), params)
      const name = optionalText('peer.expect', as)
      if (name !== undefined)
        world.values.set(name, { id: frame.id ?? null, method: textOf('peer.expect', method), params: frame.params ?? {} })
    },
    /** `peer.answer: {to, result | error}` */
    'peer.answer': async (world, args) => {
      const { to = null, result, error } = objectOf('peer.answer', args)
      const id = world.values.at(`${textOf('peer.answer', to)}.id`) as Json | undefined
      if (id === undefined) throw new HarnessError(`peer.answer: no request ${String(to)} was expected before`)
      ;(await this.#there()).sendJson({
        jsonrpc: '2.0',
        id,
        ...(error === undefined ? { result: result === undefined ? {} : result } : { error }),
      })
    },
    /** `peer.accept: name`: answers a request that the case waited for, as the peer would by itself. */
    'peer.accept': async (world, args) => {
      const name = textOf('peer.accept', args)
      const asked = world.values.at(name)
      if (!isObject(asked)) throw new HarnessError(`peer.accept: no request ${name} was expected before`)
      const peer = await this.#there()
      const result = peer.automatic(String(asked.method), isObject(asked.params) ? asked.params : {})
      if (result === undefined) throw new HarnessError(`peer.accept: the peer has no answer of its own to ${String(asked.method)}`)
      peer.sendJson({ jsonrpc: '2.0', id: asked.id ?? null, result })
    },
    /** `peer.seq: n`: where the log ends for the next that subscribes. */
    'peer.seq': async (_, args) => {
      const peer = await this.#there()
      peer.seq = Number(args)
    },
    /** `peer.notify: {method, params, subscription?}`: any notification; the id of the nth subscription stands for the one that it has. */
    'peer.notify': async (_, args) => {
      const { method = null, params = {}, subscription } = objectOf('peer.notify', args)
      const named = subscription !== undefined && isObject(params) && 'subscriptionId' in params
      const { subscriptionId } = subscription === undefined ? { subscriptionId: '' } : await this.#subscription(subscription)
      const sent = named ? { ...params, subscriptionId } : params
      ;(await this.#there()).sendJson({ jsonrpc: '2.0', method, params: sent })
    },
    /**
     * `peer.events: [fact…]`, or `{facts, subscription?, chunks?, verbatim?}`: each a session.event, to the latest subscription, or the nth
     * from 1; `verbatim`: the session that a fact names is its own matter. With `chunks: every` they are sent again and again, with seqs
     * that go on, each time cut in two at the next byte; `as` is how many there were.
     */
    'peer.events': async (_, args) => this.#events(Array.isArray(args) ? { facts: args } : objectOf('peer.events', args)),
    /** `peer.status | peer.delta | peer.closed: {…params, subscription?}`: with the ids filled in. */
    'peer.status': async (_, args) => this.#about('session.status', objectOf('peer.status', args)),
    'peer.delta': async (_, args) => this.#about('session.delta', objectOf('peer.delta', args)),
    'peer.closed': async (_, args) => this.#about('session.closed', objectOf('peer.closed', args)),
    /** `peer.send: bytes`, with `chunks`. */
    'peer.send': async (_, args) => this.#write(bytesOf('peer.send', args), isObject(args) ? args.chunks : undefined),
    /** `peer.end: {}`: its stdout ends, and it lives on. */
    'peer.end': async () => (await this.#there()).link.endOutput(),
    /** `peer.exit: {code?, signal?, stderr?}`, and waits for it. */
    'peer.exit': async (_, args) => {
      const { link } = await this.#there()
      const { code, signal, stderr } = objectOf('peer.exit', args)
      link.exit({
        ...(code !== undefined && { code: Number(code) }),
        ...(signal !== undefined && { signal: String(signal) }),
        ...(stderr !== undefined && { stderr: String(stderr) }),
      })
      await link.closed
    },
    /** `peer.gone: {}`: once the SDK has ended it. */
    'peer.gone': async () => (await this.#there()).link.closed,
  }

  async #there(): Promise<Peer> {
    await this.#linked.promise
    if (this.#peer === null) throw new HarnessError('the SDK launched nothing')
    return this.#peer
  }

  async #events({ facts = [], subscription, chunks, verbatim, as }: JsonObject): Promise<void> {
    const to = await this.#subscription(subscription)
    const list = Array.isArray(facts) ? facts : [facts]
    const bytes = (of: readonly Json[]) =>
      Buffer.from(of.map((fact) => `${JSON.stringify(eventFrame(to, fact, verbatim === true))}\n`).join(''))
    if (chunks !== 'every') {
      await this.#write(bytes(list), chunks)
      return
    }
    let sent = 0
    for (let at = 1; ; at += 1) {
      const these = bytes(list.map((fact) => (isObject(fact) ? { ...fact, seq: Number(fact.seq) + sent } : fact)))
      if (at >= these.length) break
      await this.#write(these, [at])
      sent += list.length
    }
    const name = optionalText('peer.events', as)
    if (name !== undefined) this.#world.values.set(name, sent)
  }

  async #about(method: string, { subscription, ...params }: JsonObject): Promise<void> {
    ;(await this.#there()).sendJson({ jsonrpc: '2.0', method, params: { ...(await this.#subscription(subscription)), ...params } })
  }

  async #subscription(which: Json | undefined): Promise<Subscription> {
    return (await this.#there()).subscription(which === undefined ? null : Number(which))
  }

  async #write(bytes: Buffer, how: Json | undefined): Promise<void> {
    const peer = await this.#there()
    const chunks = chunksOf('peer.send', bytes, how)
    for (const chunk of chunks) {
      peer.send(chunk)
      // Each on its own way: what is written at once is read at once.
      if (chunks.length > 1) await peer.link.passed()
    }
  }
}

function eventFrame({ subscriptionId, sessionId }: Subscription, fact: Json, verbatim: boolean): JsonObject {
  const about = (of: Json, event: Json): JsonObject => ({
    jsonrpc: '2.0',
    method: 'session.event',
    params: { subscriptionId, sessionId: of, event },
  })
  if (verbatim || !isObject(fact)) return about(sessionId, fact)
  const { sessionId: own = sessionId, ...event } = fact
  return about(own, event)
}
