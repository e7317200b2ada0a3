// Owns how a value that somebody gave is told in an error, in a few words, whatever it is.

const mostLetters = 60

/** Its JSON, cut short; what has none by name: `a function`, `10n`, `NaN`, `an AbortController`. Never throws. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return excerpt(JSON.stringify(value))
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object' || value === null) return String(value)
  if (!Array.isArray(value) && tagOf(value) !== 'Object') return named(tagOf(value))
  try {
    return excerpt(JSON.stringify(value))
  } catch {
    return Array.isArray(value) ? 'an array' : 'an object'
  }
}

/** Of what kind a value is, and nothing of what it says. */
export function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value)
  return Array.isArray(value) ? 'an array' : typeof value === 'object' ? named(tagOf(value)) : named(typeof value)
}

/** Whether it is an object of the language's own whose content no key shows: a Map, a Promise, an AbortController. */
export const isOpaque = (value: object): boolean => !Array.isArray(value) && tagOf(value) !== 'Object' && Object.keys(value).length === 0

/** What sort of object it is: `Object` for plain ones and those of users' classes, else `Map`, `Promise` and so on. */
const tagOf = (value: object): string => Object.prototype.toString.call(value).slice('[object '.length, -1)

const named = (kind: string): string => `${/^[aeiou]/i.test(kind) ? 'an' : 'a'} ${kind === 'Object' ? 'object' : kind}`
const excerpt = (text: string): string => (text.length > mostLetters ? `${text.slice(0, mostLetters - 3)}...` : text)
