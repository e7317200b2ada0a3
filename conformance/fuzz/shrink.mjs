// Owns the making small of what failed: the fewest parts of a case, and the least inside each, that still fail in the same way.

/** No more tries than this: a failure that is told late helps nobody. */
const mostTries = 400

/**
 * @template T
 * @param {readonly T[]} parts
 * @param {(parts: readonly T[]) => Promise<boolean>} fails whether these parts fail still
 * @param {(part: T) => T[]} simpler what a part may be replaced by, best first; nothing where it can't be made simpler
 * @returns {Promise<T[]>}
 */
export async function shrunk(parts, fails, simpler = () => []) {
  const tries = { left: mostTries }
  const attempt = async (candidate) => tries.left-- > 0 && (await fails(candidate))
  const kept = await fewer([...parts], attempt)
  return smaller(kept, attempt, simpler)
}

/** Leaves out halves, then quarters, and so on down to single parts. */
async function fewer(parts, attempt) {
  let kept = parts
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let start = 0; start < kept.length; ) {
      const candidate = [...kept.slice(0, start), ...kept.slice(start + size)]
      if (await attempt(candidate)) kept = candidate
      else start += size
    }
  }
  return kept
}

async function smaller(parts, attempt, simpler) {
  const kept = [...parts]
  for (let i = 0; i < kept.length; i += 1) {
    for (let found = true; found; ) {
      found = false
      for (const part of simpler(kept[i])) {
        if (!(await attempt([...kept.slice(0, i), part, ...kept.slice(i + 1)]))) continue
        kept[i] = part
        found = true
        break
      }
    }
  }
  return kept
}

/** The frames that a frame of JSON becomes by leaving something out of it, or by writing it plainly. */
export function simplerFrames(part) {
  const text = part.toString()
  let value
  try {
    value = JSON.parse(text)
  } catch {
    return part.length > 40 ? [part.subarray(0, part.length >> 1), part.subarray(part.length >> 1)] : []
  }
  const plainly = Buffer.from(`${JSON.stringify(value)}\n`)
  return [...(plainly.length < part.length ? [plainly] : []), ...lacking(value).map((less) => Buffer.from(`${JSON.stringify(less)}\n`))]
}

/** Copies of a value with one thing less, at most three levels deep. */
function lacking(value, depth = 0) {
  if (typeof value === 'string') return value.length > 20 ? [value.slice(0, value.length >> 1)] : []
  if (typeof value !== 'object' || value === null || depth > 3) return []
  if (Array.isArray(value)) {
    const less = value.slice(0, 20).map((_, i) => value.filter((__, k) => k !== i))
    return [...(value.length > 1 ? [value.slice(0, value.length >> 1)] : []), ...less]
  }
  const keys = Object.keys(value).slice(0, 30)
  const without = keys.map((key) => Object.fromEntries(Object.entries(value).filter(([other]) => other !== key)))
  const inside = keys.flatMap((key) => lacking(value[key], depth + 1).map((less) => ({ ...value, [key]: less })))
  return [...without, ...inside]
}

/** What tells one failure from another: its first words, without names and numbers. */
export const signature = (problems) => (problems[0] ?? '').replaceAll(/\d+|"[^"]*"/g, '').slice(0, 40)
