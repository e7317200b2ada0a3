// Owns what JSON may look like beyond its grammar, so that it can be kept and written again: not too deep, numbers that are finite.
import { type Fault, pathText } from '@quiesce/schema/faults'

/** Levels of arrays and objects; more would overflow the stack of whoever writes it. */
export const MAX_DEPTH = 200

interface Place {
  value: unknown
  path: readonly PropertyKey[]
}

/** The first fault of a parsed value, or none. Walks without recursion: any depth is safe. */
export function unkeepable(root: unknown): Fault[] {
  const places: Place[] = [{ value: root, path: [] }]
  for (let place = places.pop(); place !== undefined; place = places.pop()) {
    const { value, path } = place
    if (typeof value === 'number' && !Number.isFinite(value)) return [{ path: pathText(path), message: 'a number that is out of range' }]
    if (typeof value !== 'object' || value === null) continue
    if (path.length >= MAX_DEPTH) return [{ path: pathText(path.slice(0, 3)), message: `nested deeper than ${MAX_DEPTH} levels` }]
    for (const [key, inner] of entriesOf(value)) places.push({ value: inner, path: [...path, key] })
  }
  return []
}

const entriesOf = (value: object): [PropertyKey, unknown][] => (Array.isArray(value) ? [...value.entries()] : Object.entries(value))
