// Owns frames to a server by way of a driver that can make any call (L1 of a driver): what it can't say raw is `unsupported`.
import { isObject, type Json, type JsonObject } from './case.ts'
import type { RawConnection } from './connection.ts'
import type { DriverProcess } from './driver-process.ts'
import { Unsupported } from './driver-steps.ts'
import { Inbox } from './inbox.ts'
import type { ServerProcess } from './server-process.ts'

export class DriverConnection implements RawConnection {
  readonly frames: Json[] = []
  readonly #driver: DriverProcess
  readonly #on: string
  readonly #inbox = new Inbox()
  #ids = 0

  private constructor(driver: DriverProcess, on: string) {
    this.#driver = driver
    this.#on = on
  }

  /** Launches the server by the driver, which initializes the connection. */
  static async open(driver: DriverProcess, on: string, runtime: JsonObject): Promise<DriverConnection> {
    const launched = await driver.ask('launch', { ...runtime, as: on })
    if ('error' in launched) throw new Error(`launch was refused: ${JSON.stringify(launched.error)}`)
    const connection = new DriverConnection(driver, on)
    void driver.ask('notifications', { on }, (item) => connection.#hear(item)).catch(() => undefined)
    return connection
  }

  get server(): ServerProcess {
    throw new Unsupported('the case does something to the server itself, which lies behind the driver')
  }

  /** The driver's answer is that of JSON-RPC: {result} or {error}. */
  request(method: string, params: Json | undefined, id?: Json): Json {
    this.#ids += 1
    const used = id ?? this.#ids
    void this.#driver
      .ask('call', { on: this.#on, method, ...(params !== undefined && { params }) })
      .then((answer) =>
        this.#hear({ jsonrpc: '2.0', id: used, ...('result' in answer && isObject(answer.result) ? answer.result : answer) }),
      )
      .catch(() => undefined)
    return used
  }

  sendJson(): void {
    throw new Unsupported('the case sends a frame of its own, and a driver makes whole calls')
  }

  send(): void {
    throw new Unsupported('the case sends bytes of its own, and a driver makes whole calls')
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
