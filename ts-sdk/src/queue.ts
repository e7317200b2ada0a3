// Owns an iteration that is fed from outside: items wait here until they are asked for. It drops nothing, so how much memory it
// takes is up to who feeds it.
import { type Deferred, deferred } from './deferred.ts'

type Step<T> = IteratorResult<T, undefined>

export class Queue<T extends object> implements AsyncIterableIterator<T, undefined> {
  readonly #waiting: Deferred<Step<T>>[] = []
  #arrived: T[] = []
  /** The oldest items, last one first, so that taking one costs the same however many wait. */
  #next: T[] = []
  #end: { error?: unknown } | undefined

  get length(): number {
    return this.#arrived.length + this.#next.length
  }

  /** Whether nothing more is taken. */
  get ended(): boolean {
    return this.#end !== undefined
  }

  push(item: T): void {
    if (this.#end !== undefined) return
    const waiting = this.#waiting.shift()
    if (waiting === undefined) this.#arrived.push(item)
    else waiting.resolve({ done: false, value: item })
  }

  /** Nothing comes any more. What waits here is still given out; then `error` is thrown once, if there is one. */
  finish(end: { error?: unknown } = {}): void {
    if (this.#end !== undefined) return
    this.#end = end
    for (const waiting of this.#waiting.splice(0)) this.#settle(waiting)
  }

  next(): Promise<Step<T>> {
    const waiting = deferred<Step<T>>()
    this.#settle(waiting)
    return waiting.promise
  }

  return(): Promise<Step<T>> {
    this.#arrived = []
    this.#next = []
    this.#end = {}
    for (const waiting of this.#waiting.splice(0)) this.#settle(waiting)
    return Promise.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #settle(waiting: Deferred<Step<T>>): void {
    const item = this.#take()
    if (item !== undefined) waiting.resolve({ done: false, value: item })
    else if (this.#end === undefined) this.#waiting.push(waiting)
    else this.#settleAtEnd(waiting, this.#end)
  }

  #settleAtEnd(waiting: Deferred<Step<T>>, { error }: { error?: unknown }): void {
    this.#end = {}
    if (error === undefined) waiting.resolve({ done: true, value: undefined })
    else waiting.reject(error)
  }

  #take(): T | undefined {
    if (this.#next.length === 0) {
      this.#next = this.#arrived.reverse()
      this.#arrived = []
    }
    return this.#next.pop()
  }
}
