// Owns the rough size of a JSON value: the length of its texts. For bounds of memory and of answers, not for billing.

/** No answer that holds stored data grows beyond this many characters by more than one entry. */
export const MAX_ANSWER_CHARS = 4 * 1024 * 1024

/** What an entry weighs beside its texts. */
const OVERHEAD = 16

/** Walks without recursion; counts names, texts and a little for each value. */
export function sizeOf(root: unknown): number {
  let size = 0
  const values: unknown[] = [root]
  while (values.length > 0) {
    const value = values.pop()
    size += typeof value === 'string' ? value.length : OVERHEAD
    if (Array.isArray(value)) for (const inner of value) values.push(inner)
    else if (typeof value === 'object' && value !== null)
      for (const [key, inner] of Object.entries(value)) {
        size += key.length
        values.push(inner)
      }
  }
  return size
}

/** How many entries, `limit` at most, fit into one answer: at least one where there is one. */
export function fitting(sizes: readonly number[], from: number, limit: number): number {
  let count = 0
  let size = 0
  for (; count < limit && from + count < sizes.length; count += 1) {
    size += sizes[from + count] ?? 0
    if (count > 0 && size > MAX_ANSWER_CHARS) break
  }
  return count
}
