// Owns the making of ids: sortable ones for the real world, counted ones for tests.
import { v7 } from 'uuid'

/** Makes an id that was not made before; `prefix` says what it names. */
export type Ids = (prefix: string) => string

export const systemIds: Ids = (prefix) => `${prefix}_${v7()}`

/** Ids that count up per prefix: the same in every run of a test. */
export function countedIds(): Ids {
  const counts = new Map<string, number>()
  return (prefix) => {
    const next = (counts.get(prefix) ?? 0) + 1
    counts.set(prefix, next)
    return `${prefix}_${next}`
  }
}
