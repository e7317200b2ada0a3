// Owns what an operation gives piece by piece, and those who wait for a piece: each is told once so many of them fit.
import type { Json } from './case.ts'
import { type Deferred, deferred } from './deferred.ts'
import { mismatches } from './match.ts'

interface Watcher {
  where: Json
  count: number
  found: Deferred
}

export class Items {
  readonly all: Json[] = []
  #watchers: Watcher[] = []

  add(item: Json): void {
    this.all.push(item)
    for (const watcher of this.#watchers) if (this.#count(watcher.where) >= watcher.count) watcher.found.resolve()
  }

  /** Resolves once `count` items fit. *Contract:* rejects with the error of `end`, where that comes first. */
  async wait(where: Json, count = 1): Promise<void> {
    if (this.#count(where) >= count) return
    const found = deferred()
    this.#watchers.push({ where, count, found })
    await found.promise
  }

  /** No more come: whoever waits now is told why. */
  end(error: Error): void {
    for (const { found } of this.#watchers) found.reject(error)
    this.#watchers = []
  }

  #count(where: Json): number {
    return this.all.filter((item) => mismatches(where, item).length === 0).length
  }
}
