// Owns chance that can be had again: every case is made from a seed and its index alone.

/** A generator of numbers that look random, the same for the same seed and index. */
export class Random {
  #a
  #b
  #c
  #counter = 1

  /**
   * @param {number} seed a whole number
   * @param {number} index of the case; each has a sequence of its own
   */
  constructor(seed, index) {
    this.#a = seed >>> 0
    this.#b = index >>> 0
    this.#c = (Math.floor(index / 2 ** 32) ^ 0x9e3779b9) >>> 0
    for (let warm = 0; warm < 12; warm += 1) this.#next()
  }

  #next() {
    const sum = (this.#a + this.#b + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum
    return sum >>> 0
  }

  /** From 0 to below 1. */
  real() {
    return this.#next() / 2 ** 32
  }

  /** A whole number from 0 to below `end`. */
  below(end) {
    return Math.floor(this.real() * end)
  }

  /** A whole number, both ends included. */
  between(first, last) {
    return first + this.below(last - first + 1)
  }

  /** True once in `times`. */
  once(times) {
    return this.real() * times < 1
  }

  chance(probability) {
    return this.real() < probability
  }

  /** @template T @param {readonly T[]} list @returns {T} */
  pick(list) {
    return list[this.below(list.length)]
  }

  /** One of `[weight, value]`. @template T @param {readonly (readonly [number, T])[]} table @returns {T} */
  weighted(table) {
    let left = this.real() * table.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, value] of table) {
      left -= weight
      if (left < 0) return value
    }
    return table.at(-1)[1]
  }

  bytes(length) {
    const bytes = Buffer.alloc(length)
    for (let i = 0; i < length; i += 1) bytes[i] = this.below(256)
    return bytes
  }

  /**
   * Where to cut `length` bytes, in order, and for how many rounds of the event loop to wait there; often nowhere, sometimes at
   * every byte.
   * @returns {{ at: number, rounds: number }[]}
   */
  cuts(length) {
    if (length === 0 || this.chance(0.4)) return []
    if (length < 2000 && this.once(12)) return Array.from({ length: length - 1 }, (_, i) => ({ at: i + 1, rounds: 0 }))
    const places = new Set(Array.from({ length: this.between(1, this.once(4) ? 60 : 6) }, () => this.between(1, length)))
    return [...places].sort((a, b) => a - b).map((at) => ({ at, rounds: this.once(3) ? this.below(20) : 0 }))
  }

  /** A text that no other call of this generator gives. */
  id(prefix) {
    return `${prefix}-${this.#next().toString(36)}${this.#next().toString(36)}`
  }

  /** A text in the form of a UUID. */
  uuid() {
    const hex = this.bytes(16).toString('hex')
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
  }
}
