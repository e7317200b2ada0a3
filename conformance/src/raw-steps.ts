// Owns the steps that speak raw frames to a real server (L1).
import { bytesOf, chunksOf, objectOf, optionalText, textOf } from './args.ts'
import { isObject, type Json, type JsonObject } from './case.ts'
import type { StepRun } from './common-steps.ts'
import type { RawConnection } from './connection.ts'
import { Unsupported } from './driver-steps.ts'
import { HarnessError } from './harness-error.ts'
import { faultsOfLog } from './log-check.ts'
import { mismatches } from './match.ts'
import type { World } from './world.ts'

/** Opens a connection with a server of its own; `initialized` where whoever opened it has initialized it. */
export type Open = (name: string, env: Readonly<Record<string, string>>) => Promise<{ connection: RawConnection; initialized: boolean }>

const INITIALIZE: JsonObject = { protocol: { min: 1, max: 1 }, client: { name: 'conformance', version: '1' } }

export class RawLayer {
  readonly #world: World
  readonly #open: Open
  readonly #connections = new Map<string, RawConnection>()
  /** The ids of requests, by the step's name; `many` where the step made several. */
  readonly #asked = new Map<string, { connection: RawConnection; ids: readonly Json[]; many: boolean }>()

  constructor(world: World, open: Open) {
    this.#world = world
    this.#open = open
  }

  readonly steps: Readonly<Record<string, StepRun>> = {
    /** `open: {on?, initialize?: bool, env?}`: a server of its own, on the case's store. */
    open: async (_, args) => void (await this.#opened(objectOf('open', args))),
    /** `request: {method, params?, id?, as, on?}`: doesn't wait for its answer. With `count`, as many of them in one write. */
    request: async (_, args) => this.#request(objectOf('request', args)),
    /** `answered: name`: its answer is `name.result` or `name.error`; where there are several, `name` is the list of them. */
    answered: async (_, args) => this.#answered(textOf('answered', args)),
    /** `call: {method, params?, as, on?}`: request and answer. */
    call: async (_, args) => {
      const call = objectOf('call', args)
      await this.#request(call)
      await this.#answered(textOf('call', call.as ?? null, '`as`'))
    },
    /** `notify: {method, params?, on?}` */
    notify: async (_, args) => {
      const { method = null, params, on } = objectOf('notify', args)
      ;(await this.#on(on)).sendJson({ jsonrpc: '2.0', method, ...(params !== undefined && { params }) })
    },
    /** `send: bytes`, with `chunks` and `on`. */
    send: async (_, args) => this.#send(args),
    /** `receive: {where?, as?, on?}`: the next frame that fits, whatever it is. */
    receive: async (world, args) => {
      const { where = {}, as, on } = objectOf('receive', args)
      const frame = await (await this.#on(on)).wait((each) => mismatches(where, each).length === 0)
      if (as !== undefined) world.values.set(textOf('receive', as), frame)
    },
    /** `notification: {method, where?, as?, on?}`: the next one that fits; `where` fits its params. */
    notification: async (world, args) => {
      const { method = null, where, as, on } = objectOf('notification', args)
      const frame = await (await this.#on(on)).notification(textOf('notification', method), where)
      if (as !== undefined) world.values.set(textOf('notification', as), frame.params ?? null)
    },
    /** `event: {type, data?, seq?, as?, on?}`: the next fact of a subscription that fits; `as` is the fact. */
    event: async (world, args) => {
      const { as, on, ...event } = objectOf('event', args)
      const { params } = await (await this.#on(on)).notification('session.event', { event })
      if (as !== undefined) world.values.set(textOf('event', as), isObject(params) ? (params.event ?? null) : null)
    },
    /** `fence: on?`: whatever was to come before has come. */
    fence: async (_, args) => {
      const connection = await this.#on(args ?? undefined)
      await connection.answer(connection.request('server/ping', {}))
    },
    /** `pause: on?`: nothing that the server says is read any more. */
    pause: async (_, args) => (await this.#on(args ?? undefined)).server.hold(),
    /** `resume: on?`: all of it is. */
    resume: async (_, args) => (await this.#on(args ?? undefined)).server.read(),
    /** `kill: {signal?, on?}`: and waits for its end. */
    kill: async (_, args) => {
      const { signal = 'SIGKILL', on } = objectOf('kill', args)
      const connection = await this.#on(on)
      connection.server.signal(textOf('kill', signal) as NodeJS.Signals)
      await connection.ended
    },
    /** `eof: on?`: the server's stdin ends. */
    eof: async (_, args) => (await this.#on(args ?? undefined)).endInput(),
    /** `exited: {as, on?}`: `code`, `signal` and `stderr`, once it has. */
    exited: async (world, args) => {
      const { as = null, on } = objectOf('exited', args)
      const { server, ended } = await this.#on(on)
      const { code, signal } = await ended
      world.values.set(textOf('exited', as), { code, signal, stderr: server.stderr })
    },
    /** `frames: {as, on?}`: every frame that came so far. */
    frames: async (world, args) => {
      const { as = null, on } = objectOf('frames', args)
      world.values.set(textOf('frames', as), [...(await this.#on(on)).frames])
    },
    /** `log: {sessionId, as, on?}`: the session's whole log; one that breaks a rule which holds for every log fails the case. */
    log: async (_, args) => this.#log(objectOf('log', args)),
  }

  async #opened({ on, initialize = true, env }: JsonObject): Promise<RawConnection> {
    const name = optionalText('open', on) ?? 'main'
    const given = isObject(env) ? Object.fromEntries(Object.entries(env).map(([key, value]) => [key, String(value)])) : {}
    const { connection, initialized } = await this.#open(name, given)
    if (initialized && initialize === false) throw new Unsupported('the case initializes the connection itself')
    this.#connections.set(name, connection)
    if (initialized || initialize === false) return connection
    const answer = await connection.answer(connection.request('initialize', INITIALIZE))
    if (answer.error !== undefined) throw new HarnessError(`the server refused initialize: ${JSON.stringify(answer.error)}`)
    return connection
  }

  /** The connection that a step names; the first one opens by itself. */
  async #on(on: Json | undefined): Promise<RawConnection> {
    const name = optionalText('on', on) ?? 'main'
    const found = this.#connections.get(name)
    if (found !== undefined) return found
    if (name !== 'main') throw new HarnessError(`no connection ${name} is open; there are ${[...this.#connections.keys()].join(', ')}`)
    return this.#opened({})
  }

  async #request({ method = null, params, id, count, as, on }: JsonObject): Promise<void> {
    const connection = await this.#on(on)
    const called = textOf('request', method)
    const many = count !== undefined
    const ids = many ? connection.requests(called, params, Number(count)) : [connection.request(called, params, id)]
    if (as !== undefined) this.#asked.set(textOf('request', as), { connection, ids, many })
  }

  async #answered(name: string): Promise<void> {
    const asked = this.#asked.get(name)
    if (asked === undefined) throw new HarnessError(`no request ${name} was made; there are ${[...this.#asked.keys()].join(', ')}`)
    const answers = await Promise.all(
      asked.ids.map(async (each): Promise<Json> => {
        const { id: _, jsonrpc: __, ...answer } = await asked.connection.answer(each)
        return answer
      }),
    )
    this.#world.values.set(name, asked.many ? answers : (answers[0] ?? null))
  }

  async #send(args: Json): Promise<void> {
    const connection = await this.#on(isObject(args) ? args.on : undefined)
    for (const chunk of chunksOf('send', bytesOf('send', args), isObject(args) ? args.chunks : undefined)) {
      connection.send(chunk)
      // Each piece on its own way: otherwise the system may join them.
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
  }

  async #log({ sessionId = null, as = null, on }: JsonObject): Promise<void> {
    const connection = await this.#on(on)
    const events: Json[] = []
    for (let after = 0; ; ) {
      const answer = await connection.answer(connection.request('session/events', { sessionId, after, limit: 1000 }))
      const page = answer.result
      if (!isObject(page) || !Array.isArray(page.events)) throw new HarnessError(`session/events answered ${JSON.stringify(answer)}`)
      events.push(...page.events)
      after = Number(page.nextAfter)
      if (page.more !== true) break
    }
    for (const fault of faultsOfLog(events)) this.#world.frameFaults.push(`the log of ${String(sessionId)}: ${fault}`)
    this.#world.values.set(textOf('log', as), events)
  }
}
