// Owns the threads that searches run in: few, kept for a while, and ended by force when a search doesn't end in time or is aborted.
import type { Worker } from 'node:worker_threads'
import type { Clock } from '../../base/clock.ts'
import { type Deferred, deferred } from '../../base/deferred.ts'
import type { Search, SearchEnd, SearchJob, SearchListener, Stuck } from './search-job.ts'
import { SearchPlace } from './search-place.ts'

/** So many search at once; others wait. */
const MAX_THREADS = 2
/** A thread that isn't needed is kept for so long. */
export const KEPT_MS = 60_000
/** What a search that looks at the time may need to end when its own is over. */
export const GRACE_MS = 2_000
/** The heap of a thread, in MiB. */
const MAX_HEAP = 512

export interface SearcherStart {
  memory: SharedArrayBuffer
}

/** An `ask` is answered in the shared memory: the thread waits for it. */
export type FromSearcher = { show: string } | { keep: string } | { ask: string } | { end: SearchEnd } | { error: string }

/**
 * Searches in threads. `entry` is the compiled search-worker.ts: beside this module in `dist`, and an entry point of its own,
 * with that name, where the runtime is bundled.
 */
export function searchInThreads(
  clock: Clock,
  entry: URL = new URL('./search-worker.js', import.meta.url),
  maxHeap: number = MAX_HEAP,
): Search {
  const threads = new SearchThreads(clock, () => SearchThread.start(clock, entry, maxHeap))
  return (job, hear, signal) => threads.search(job, hear, signal)
}

class SearchThreads {
  readonly #clock: Clock
  readonly #start: () => Promise<SearchThread>
  #busy = 0
  readonly #waiting: (() => void)[] = []
  #idle: { thread: SearchThread; forget: () => void } | null = null

  constructor(clock: Clock, start: () => Promise<SearchThread>) {
    this.#clock = clock
    this.#start = start
  }

  async search(job: SearchJob, hear: SearchListener, signal: AbortSignal): Promise<SearchEnd | Stuck> {
    await this.#turn(signal)
    try {
      const thread = await this.#take()
      return await thread.run(job, hear, signal).finally(() => this.#giveBack(thread))
    } finally {
      this.#busy--
      this.#waiting.shift()?.()
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    this.#busy++
    if (this.#busy <= MAX_THREADS) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const come = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(come), 1)
        this.#busy--
        reject(signal.reason)
      }
      this.#waiting.push(come)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  async #take(): Promise<SearchThread> {
    const idle = this.#idle
    this.#idle = null
    idle?.forget()
    return idle?.thread ?? this.#start()
  }

  #giveBack(thread: SearchThread): void {
    if (!thread.isAlive) return
    if (this.#idle !== null) {
      thread.end()
      return
    }
    const forget = this.#clock.after(KEPT_MS, () => {
      this.#idle = null
      thread.end()
    })
    this.#idle = { thread, forget }
  }
}

class SearchThread {
  readonly #clock: Clock
  readonly #worker: Worker
  readonly #place: SearchPlace
  #job: { hear: SearchListener; done: Deferred<SearchEnd | Stuck> } | null = null
  #gone: Error | null = null

  private constructor(clock: Clock, worker: Worker, place: SearchPlace) {
    this.#clock = clock
    this.#worker = worker
    this.#place = place
    worker.unref()
    worker.on('message', (message: FromSearcher) => this.#receive(message))
    worker.on('error', (error) => this.#lose(faultOf(error)))
    worker.on('exit', (code) => this.#lose(new Error(`the search failed: its thread ended with code ${code}`)))
  }

  static async start(clock: Clock, entry: URL, maxHeap: number): Promise<SearchThread> {
    const { Worker } = await import('node:worker_threads')
    const place = new SearchPlace()
    const start: SearcherStart = { memory: place.memory }
    return new SearchThread(clock, new Worker(entry, { workerData: start, resourceLimits: { maxOldGenerationSizeMb: maxHeap } }), place)
  }

  get isAlive(): boolean {
    return this.#gone === null
  }

  async run(job: SearchJob, hear: SearchListener, signal: AbortSignal): Promise<SearchEnd | Stuck> {
    signal.throwIfAborted()
    if (this.#gone !== null) throw this.#gone
    const done = deferred<SearchEnd | Stuck>()
    this.#job = { hear, done }
    const cancel = this.#clock.after(job.budgetMs + GRACE_MS, () => {
      done.resolve({ kind: 'stuck', ...this.#place.read() })
      this.end()
    })
    const abort = () => {
      done.reject(signal.reason)
      this.end()
    }
    signal.addEventListener('abort', abort)
    this.#worker.ref()
    this.#worker.postMessage(job)
    try {
      return await done.promise
    } finally {
      this.#job = null
      cancel()
      signal.removeEventListener('abort', abort)
      this.#worker.unref()
    }
  }

  /** Isn't waited for: what hangs in the file system is not to be ended, only to be left. */
  end(): void {
    this.#gone ??= new Error('the search was ended')
    void this.#worker.terminate()
  }

  #receive(message: FromSearcher): void {
    const job = this.#job
    if (job === null) return
    if ('show' in message) job.hear.show(message.show)
    else if ('keep' in message) job.hear.keep(message.keep)
    else if ('ask' in message) this.#place.answer(job.hear.allows(message.ask))
    else if ('end' in message) job.done.resolve(message.end)
    else job.done.reject(new Error(message.error))
  }

  #lose(why: Error): void {
    this.#gone ??= why
    this.#job?.done.reject(this.#gone)
  }
}

function faultOf(error: Error & { code?: unknown }): Error {
  if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') return new Error(`the search failed: ${error.message}`)
  return new Error('the search needs more memory than it may have: give a directory below in path, or a narrower pattern')
}
