// Owns the way in: one runtime, started at most once, and its end.
import { resolve } from 'node:path'
import { fromCaller } from './call-site.ts'
import { type Connect, Connection, request } from './connection.ts'
import { ConnectionClosedError } from './errors.ts'
import type { ModelInfo, ModelListParams, ToolInfo, ToolListParams } from './generated/protocol.ts'
import { type LaunchOptions, planLaunch } from './launch.ts'
import { checkOptions } from './options.ts'
import { RuntimeProcess } from './process.ts'
import { checkLimit } from './run.ts'
import { Sessions } from './sessions.ts'

const defaultRequestTimeoutMs = 60_000

/**
 * A runtime of one's own. `new Quiesce(options)` starts nothing until the first call needs it, and however many first calls come at
 * once, it starts one process; `Quiesce.launch(options)` starts it right away.
 */
export class Quiesce implements AsyncDisposable {
  readonly sessions: Sessions
  readonly #options: LaunchOptions
  #runtime: RuntimeProcess | undefined
  #connection: Promise<Connection> | undefined
  #isOpen = false
  #closed = false

  constructor(options: LaunchOptions = {}) {
    checkOptions('new Quiesce', options)
    checkLimit('requestTimeoutMs', options.requestTimeoutMs)
    this.#options = options
    this.sessions = new Sessions(this.#connect, { cwd: resolve(options.cwd ?? '.'), model: options.model })
  }

  /**
   * Starts a runtime. Close it when done: `await using`, or `try … finally close()`.
   * @throws RuntimeNotFoundError, which says where it looked; UnsupportedProtocolError; ConnectionClosedError where it exits at once.
   */
  static async launch(options: LaunchOptions = {}): Promise<Quiesce> {
    checkOptions('Quiesce.launch', options)
    const quiesce = new Quiesce(options)
    await fromCaller(quiesce.#connect)
    return quiesce
  }

  /** The models that can be named, and whether each is available. */
  async models(filter: ModelListParams = {}): Promise<ModelInfo[]> {
    checkOptions('quiesce.models', filter)
    return (await request(this.#connect, 'model/list', filter)).models
  }

  /** The tools that the model may call: of the runtime, or with `sessionId` of one session. */
  async tools(filter: ToolListParams = {}): Promise<ToolInfo[]> {
    checkOptions('quiesce.tools', filter)
    return (await request(this.#connect, 'tool/list', filter)).tools
  }

  /** Resolves when the runtime has answered. */
  async ping(): Promise<void> {
    await request(this.#connect, 'server/ping', {})
  }

  /**
   * Ends the runtime: `shutdown`, end of its stdin, SIGTERM, SIGKILL to its process group, each with a time limit. Runs under way
   * reject with ConnectionClosedError at once; their work goes on when a runtime drives the session again. Safe to call again.
   */
  async close(): Promise<void> {
    this.#closed = true
    if (!this.#isOpen) await this.#runtime?.stop() // it hasn't even greeted: nothing of ours can be under way
    const connection = await this.#connection?.catch(() => undefined)
    await connection?.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  readonly #connect: Connect = () => {
    if (this.#closed) return Promise.reject(new ConnectionClosedError('close() was called'))
    if (this.#connection === undefined) {
      this.#connection = this.#start()
      this.#connection.catch(() => {
        this.#connection = undefined // the next call tries again
      })
    }
    return this.#connection
  }

  async #start(): Promise<Connection> {
    const { onStderr, requestTimeoutMs = defaultRequestTimeoutMs } = this.#options
    this.#runtime = await RuntimeProcess.spawn(planLaunch(this.#options), onStderr)
    if (this.#closed) await this.#runtime.stop()
    const connection = await Connection.open(this.#runtime, requestTimeoutMs)
    this.#isOpen = true
    return connection
  }
}
