// Owns the other home of the SQLite engine: a worker thread, so that a flush doesn't hold the event loop. One text each way.
import { Worker } from 'node:worker_threads'
import { type Deferred, deferred } from '../../base/deferred.ts'
import { type FaultData, StoreFault } from '../fault.ts'
import type { Home } from '../home.ts'
import type { Keeper, KeeperEvents, Upkeep, Watch } from '../upkeep.ts'
import type { FromWorker, ToWorker, WorkerStart } from './worker-messages.ts'

/** How often the event loop shows the thread that it turns: at least once between two renewals. */
const TICK_MS = 500

/**
 * Starts the thread and opens the store in it. `entry` is the compiled store-worker.ts: beside this module in `dist`, and an
 * entry point of its own, with that name, where the runtime is bundled.
 * *Contract:* rejects with StoreFault `storage_unavailable` or `store_version`.
 */
export async function openWorkerHome(
  path: string,
  entry: URL = new URL('./store-worker.js', import.meta.url),
  times?: WorkerStart['times'],
): Promise<WorkerHome> {
  const home = new WorkerHome(path, entry, times)
  await home.opened
  return home
}

export class WorkerHome implements Home {
  readonly upkeep: Upkeep = { keep: (events) => this.#keep(events), watch: (onChange) => this.#watch(onChange) }
  readonly #path: string
  readonly #worker: Worker
  readonly #shared = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  readonly #ticks = new Int32Array(this.#shared)
  readonly #tickMs: number
  #ticking: NodeJS.Timeout | undefined
  #keeperEvents: KeeperEvents | null = null
  #onChange: (() => void) | null = null
  readonly #opening = deferred()
  /** Once the store is closed, or its thread gone: taking a thread down takes longer than the rest, and nobody needs to wait for it. */
  readonly #ended = deferred()
  /** In the order of the calls, which is that of the answers. */
  readonly #waiting: Deferred<string>[] = []
  #gone: StoreFault | null = null
  #closed: Promise<void> | null = null

  constructor(path: string, entry: URL, times: WorkerStart['times']) {
    const start: WorkerStart = { path, ticks: this.#shared, ...(times !== undefined && { times }) }
    const worker = new Worker(entry, { workerData: start })
    this.#path = path
    this.#worker = worker
    this.#tickMs = Math.min(TICK_MS, (times?.renewMs ?? Number.POSITIVE_INFINITY) / 2)
    worker.on('message', (message: FromWorker) => this.#receive(message))
    worker.on('error', (error) => this.#lose(error.message))
    worker.on('exit', (code) => this.#lose(`it ended with code ${code}`))
  }

  get opened(): Promise<void> {
    return this.#opening.promise
  }

  call(text: string): Promise<string> {
    if (this.#gone !== null) return Promise.reject(this.#gone)
    const answered = deferred<string>()
    this.#waiting.push(answered)
    this.#worker.ref()
    this.#send(text)
    return answered.promise
  }

  close(): Promise<void> {
    this.#closed ??= this.#end()
    return this.#closed
  }

  #keep(events: KeeperEvents): Keeper {
    this.#keeperEvents = events
    this.#send({ keep: true })
    const tick = () => Atomics.add(this.#ticks, 0, 1)
    return {
      hold: (lease) => {
        tick()
        this.#ticking ??= setInterval(tick, this.#tickMs).unref()
        this.#send({ hold: lease })
      },
      drop: (lease) => this.#send({ drop: lease }),
      guard: (groups) => this.#send({ guard: groups }),
      stop: () => {
        this.#keeperEvents = null
        this.#stopTicking()
        this.#send({ keep: false })
      },
    }
  }

  #stopTicking(): void {
    clearInterval(this.#ticking)
    this.#ticking = undefined
  }

  #watch(onChange: () => void): Watch {
    this.#onChange = onChange
    this.#send({ watch: true })
    return {
      check: () => this.#send({ check: true }),
      stop: () => {
        this.#onChange = null
        this.#send({ watch: false })
      },
    }
  }

  async #end(): Promise<void> {
    this.#stopTicking()
    if (this.#gone === null) {
      this.#worker.ref()
      this.#send(null)
    }
    await this.#ended.promise
  }

  #send(message: ToWorker): void {
    this.#worker.postMessage(message)
  }

  #receive(message: FromWorker): void {
    if (typeof message === 'string') this.#waiting.shift()?.resolve(message)
    else this.#hear(message)
    // A store at rest doesn't hold the process.
    if (this.#waiting.length === 0) this.#worker.unref()
  }

  #hear(message: Exclude<FromWorker, string>): void {
    if ('changed' in message) this.#onChange?.()
    else if ('renewed' in message) this.#keeperEvents?.renewed(message.renewed)
    else if ('renewalFailed' in message) this.#keeperEvents?.failed(faultOf(message.renewalFailed))
    else if ('expiring' in message) this.#keeperEvents?.expiring(message.expiring, message.groups)
    else if ('closed' in message) this.#ended.resolve()
    else if (message.opened) this.#opening.resolve()
    else this.#opening.reject(faultOf(message.fault))
  }

  #lose(why: string): void {
    this.#gone ??= new StoreFault('storage_unavailable', `the store ${this.#path} failed: its thread is gone (${why})`, {
      path: this.#path,
    })
    this.#opening.reject(this.#gone)
    this.#ended.resolve()
    for (const answered of this.#waiting.splice(0)) answered.reject(this.#gone)
  }
}

const faultOf = ({ code, message, details, retry }: FaultData): StoreFault => new StoreFault(code, message, details, retry)
