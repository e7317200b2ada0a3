// Owns the other home of the SQLite engine: a worker thread, so that a flush doesn't hold the event loop. One text each way.
import { Worker } from 'node:worker_threads'
import { type Deferred, deferred } from '../../base/deferred.ts'
import { type FaultData, StoreFault } from '../fault.ts'
import type { Home } from '../home.ts'

/** What the thread is started with, what goes to it, and what comes back. */
export interface WorkerStart {
  path: string
}
/** A Call, or null: close. */
export type ToWorker = string | null
/** First whether the store was opened; then one Reply for each Call, in their order; last that it is closed. */
export type FromWorker = { opened: true } | { opened: false; fault: FaultData } | { closed: true } | string

/**
 * Starts the thread and opens the store in it. `entry` is the compiled store-worker.ts: beside this module in `dist`, and an
 * entry point of its own, with that name, where the runtime is bundled.
 * *Contract:* rejects with StoreFault `storage_unavailable` or `store_version`.
 */
export async function openWorkerHome(path: string, entry: URL = new URL('./store-worker.js', import.meta.url)): Promise<Home> {
  const start: WorkerStart = { path }
  const home = new WorkerHome(path, new Worker(entry, { workerData: start }))
  await home.opened
  return home
}

class WorkerHome implements Home {
  readonly #path: string
  readonly #worker: Worker
  readonly #opening = deferred()
  /** Once the store is closed, or its thread gone: taking a thread down takes longer than the rest, and nobody needs to wait for it. */
  readonly #ended = deferred()
  /** In the order of the calls, which is that of the answers. */
  readonly #waiting: Deferred<string>[] = []
  #gone: StoreFault | null = null
  #closed: Promise<void> | null = null

  constructor(path: string, worker: Worker) {
    this.#path = path
    this.#worker = worker
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

  async #end(): Promise<void> {
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
    else if ('closed' in message) this.#ended.resolve()
    else if (message.opened) this.#opening.resolve()
    else this.#opening.reject(new StoreFault(message.fault.code, message.fault.message, message.fault.details))
    // A store at rest doesn't hold the process.
    if (this.#waiting.length === 0) this.#worker.unref()
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
