// Owns the measuring of this process's memory: what is in use once everything that nobody needs is gone.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')

/** Megabytes in use after a collection. */
export function heapUsed() {
  collect()
  collect()
  return process.memoryUsage().heapUsed / 2 ** 20
}

/** Says when memory grows: the first looks only tell what is normal. */
export class HeapWatch {
  #normal = 0
  #looks = 0
  #most

  /** @param {{ mostGrowth: number, warmUp: number }} options megabytes, and looks before it counts */
  constructor({ mostGrowth, warmUp }) {
    this.#most = { mostGrowth, warmUp }
  }

  /** Why it is too much, or nothing. */
  look() {
    const used = heapUsed()
    this.#looks += 1
    if (this.#looks <= this.#most.warmUp) {
      this.#normal = Math.max(this.#normal, used)
      return ''
    }
    const growth = used - this.#normal
    return growth <= this.#most.mostGrowth ? '' : `the heap grew by ${growth.toFixed(1)} MB, from ${this.#normal.toFixed(1)} MB`
  }
}
