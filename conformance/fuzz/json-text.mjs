// Owns JSON as text that JSON.stringify never writes: numbers and keys that no value of the language holds, and every spelling.

/** A piece of JSON text that is written as it is. */
export class Raw {
  constructor(text) {
    this.text = text
  }
}

/** An object as a list of its entries, so that a key may come twice. */
export class Entries {
  constructor(entries) {
    this.entries = entries
  }
}

/**
 * The value as JSON text, in one of its spellings: with spaces or without, with letters escaped or not.
 * @param {unknown} value may hold Raw and Entries
 * @param {import('./random.mjs').Random} random
 */
export function written(value, random) {
  if (random.chance(0.75)) return plain(value)
  const style = { space: random.pick(['', ' ', '\t', '\r']), escaped: random.chance(0.3), random }
  return spelled(value, style)
}

/** The value as JSON text, in the one spelling that JSON.stringify has. */
export function plain(value) {
  if (value instanceof Raw) return value.text
  if (value instanceof Entries) return `{${value.entries.map(([key, inner]) => `${JSON.stringify(key)}:${plain(inner)}`).join(',')}}`
  if (Array.isArray(value)) return `[${value.map(plain).join(',')}]`
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : (JSON.stringify(value) ?? 'null')
  const fields = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return `{${fields.map(([key, inner]) => `${JSON.stringify(key)}:${plain(inner)}`).join(',')}}`
}

function spelled(value, style) {
  const { space } = style
  if (typeof value === 'string') return text(value, style)
  if (Array.isArray(value)) return `[${space}${value.map((inner) => spelled(inner, style)).join(`${space},${space}`)}${space}]`
  if (typeof value !== 'object' || value === null || value instanceof Raw) return plain(value)
  const entries = value instanceof Entries ? value.entries : Object.entries(value).filter(([, inner]) => inner !== undefined)
  const fields = entries.map(([key, inner]) => `${text(key, style)}${space}:${space}${spelled(inner, style)}`)
  return `{${space}${fields.join(`${space},${space}`)}${space}}`
}

function text(value, { escaped, random }) {
  if (!escaped) return JSON.stringify(value)
  let out = '"'
  for (let i = 0; i < value.length; i += 1) {
    const unit = value.charCodeAt(i)
    // Digits and dashes stay: whoever plays a scenario looks for the ids in it.
    const mayStay = unit >= 0x20 && unit !== 0x22 && unit !== 0x5c && (unit < 0xd800 || unit > 0xdfff)
    const stays = unit === 0x2d || (unit >= 0x30 && unit <= 0x39) || (mayStay && random.chance(0.7))
    out += stays ? value[i] : `\\u${unit.toString(16).padStart(4, '0')}`
  }
  return `${out}"`
}
