// Owns what JSON may look like beyond its grammar, so that it can be kept and written again: not too deep, not too much of it,
// numbers that are finite.
import { type Fault, pathText } from '@quiesce/schema/faults'

/** Levels of arrays and objects; more would overflow the stack of whoever writes it. */
export const MAX_DEPTH = 200
/** Values in one request's params, inner ones included. To look at more, and to say what is wrong with each, would take seconds. */
export const MAX_VALUES = 100_000

/** The first fault of a parsed value, or none. Looks no deeper than may be, and at no more: any value is safe. */
export function unkeepable(root: unknown): Fault[] {
  const fault = new Look().at(root)
  return fault === null ? [] : [fault]
}

class Look {
  readonly #path: PropertyKey[] = []
  #values = 0

  at(value: unknown): Fault | null {
    this.#values += 1
    if (this.#values > MAX_VALUES) return { path: '', message: `more than ${MAX_VALUES} values` }
    if (typeof value === 'number' && !Number.isFinite(value))
      return { path: pathText(this.#path), message: 'a number that is out of range' }
    if (typeof value !== 'object' || value === null) return null
    if (this.#path.length >= MAX_DEPTH) return { path: pathText(this.#path.slice(0, 3)), message: `nested deeper than ${MAX_DEPTH} levels` }
    return Array.isArray(value) ? this.#inArray(value) : this.#inObject(value)
  }

  #inArray(items: readonly unknown[]): Fault | null {
    for (let i = 0; i < items.length; i += 1) {
      const fault = this.#inside(i, items[i])
      if (fault !== null) return fault
    }
    return null
  }

  #inObject(fields: object): Fault | null {
    for (const key of Object.keys(fields)) {
      const fault = this.#inside(key, Reflect.get(fields, key))
      if (fault !== null) return fault
    }
    return null
  }

  #inside(key: PropertyKey, value: unknown): Fault | null {
    this.#path.push(key)
    const fault = this.at(value)
    this.#path.pop()
    return fault
  }
}
