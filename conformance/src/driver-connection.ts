// Owns frames to a server by way of a driver that can make any call (L1 of a driver): what it can't say raw is `unsupported`.
import { type Case, isObject, type Json, type JsonObject } from './case.ts'
import type { RawConnection } from './connection.ts'
import { deferred } from './deferred.ts'
import type { DriverProcess } from './driver-process.ts'
import { Unsupported } from './driver-steps.ts'
import { HarnessError } from './harness-error.ts'
import { Inbox } from './inbox.ts'
import type { ServerEnd, ServerProcess } from './server-process.ts'
import type { World } from './world.ts'

/** What only raw bytes can say, by the step that says it. */
const rawSteps: Readonly<Record<string, string>> = {
  send: 'sends bytes of its own',
  notify: 'sends a notification, and a driver makes calls',
  pause: 'leaves unread what the server says',
}

/** Why a driver can't play a case, or null: asked before anything starts. */
export function needsBytes(of: Case): string | null {
  for (const { name, args } of of.steps) {
    const raw = rawSteps[name]
    if (raw !== undefined) return `the case ${raw}`
    if (!isObject(args)) continue
    if (name === 'open' && args.initialize === false) return 'the case initializes the connection itself'
    if ((name === 'request' || name === 'call') && args.id !== undefined) return 'the case chooses ids of its own'
  }
  return null
}

export class DriverConnection implements RawConnection {
  readonly frames: Json[] = []
  readonly server: ServerProcess
  readonly ended: Promise<ServerEnd>
  readonly #driver: DriverProcess
  readonly #on: string
  readonly #inbox = new Inbox()
  #ids = 0

  private constructor(driver: DriverProcess, on: string, server: ServerProcess) {
    this.#driver = driver
    this.#on = on
    this.server = server
    const over = deferred()
    // Answered once the connection is over, and everything that came by it was told.
    driver
      .ask('notifications', { on }, (item) => this.#hear(item))
      .then(
        () => over.resolve(),
        (error: Error) => over.reject(error),
      )
    this.ended = over.promise.then(() => server.exited)
    this.ended.then(
      ({ code, signal }) =>
        this.#inbox.end(new Error(`the server ended (${signal ?? `status ${code}`}) while the case waited for a frame`)),
      (error: Error) => this.#inbox.end(error),
    )
  }

  /** Launches a server of the world's by the driver, which initializes the connection. */
  static async open(world: World, driver: DriverProcess, on: string, runtime: JsonObject): Promise<DriverConnection> {
    const launched = await driver.ask('launch', { ...runtime, as: on })
    if ('error' in launched) throw new Error(`launch was refused: ${JSON.stringify(launched.error)}`)
    const server = world.servers.at(-1)
    if (server === undefined) throw new HarnessError('the driver launched nothing')
    return new DriverConnection(driver, on, server)
  }

  request(method: string, params: Json | undefined, id?: Json): Json {
    if (id !== undefined) throw new Unsupported('the case chooses ids of its own')
    this.#ids += 1
    const own = this.#ids
    // The driver's answer is that of JSON-RPC: {result} or {error}. It has none of its own where the connection was lost.
    const answered = (answer: JsonObject) => {
      if (isObject(answer.result)) this.#hear({ jsonrpc: '2.0', id: own, ...answer.result })
    }
    this.#driver.ask('call', { on: this.#on, method, ...(params !== undefined && { params }) }, undefined, answered).catch(() => undefined)
    return own
  }

  requests(method: string, params: Json | undefined, count: number): Json[] {
    return Array.from({ length: count }, () => this.request(method, params))
  }

  sendJson(): void {
    throw new Unsupported('the case sends a frame of its own, and a driver makes whole calls')
  }

  send(): void {
    throw new Unsupported('the case sends bytes of its own, and a driver makes whole calls')
  }

  async endInput(): Promise<void> {
    // Once it was answered, what the driver was told before is with the server.
    await this.answer(this.request('server/ping', {}))
    this.server.endInput()
  }

  answer(id: Json): Promise<JsonObject> {
    return this.#inbox.answer(id)
  }

  notification(method: string, where: Json | undefined): Promise<JsonObject> {
    return this.#inbox.notification(method, where)
  }

  wait(fits: (frame: JsonObject) => boolean): Promise<JsonObject> {
    return this.#inbox.wait(fits)
  }

  #hear(frame: Json): void {
    if (!isObject(frame)) return
    this.frames.push(frame)
    this.#inbox.add(frame)
  }
}
