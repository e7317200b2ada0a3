// Owns values that fit the protocol's schema: any type of it, with whatever it leaves open filled by chance.
import { resolved, schema } from './schema.mjs'

const texts = [
  '',
  'a',
  'hello there',
  'ä',
  '漢字',
  '🧭',
  'a\u2028b\u2029c\u0085d\u000be\u000cf',
  'line\nline\r\n\t',
  '\u0000',
  '{"a":1}',
  'x'.repeat(300),
]
const deepest = 6

export class Values {
  #random
  #special

  /**
   * @param {import('./random.mjs').Random} random
   * @param {Record<string, (random: import('./random.mjs').Random) => unknown>} special what stands for a type, or for the field
   * of an object (`SessionCreateParams.cwd`), instead of what the schema says; undefined leaves the field out
   */
  constructor(random, special = {}) {
    this.#random = random
    this.#special = special
  }

  /** A value of the type with this name in `$defs`. */
  of(name) {
    return this.#named(name, 0)
  }

  /** Any JSON value at all. */
  any(depth = 0) {
    const random = this.#random
    return random.weighted([
      [3, () => this.text()],
      [3, () => random.between(-10, 1000)],
      [1, () => thousandths(random.real() * 1e6)],
      [1, () => random.chance(0.5)],
      [1, () => null],
      [depth < 3 ? 2 : 0, () => Array.from({ length: random.below(4) }, () => this.any(depth + 1))],
      [depth < 3 ? 2 : 0, () => Object.fromEntries(Array.from({ length: random.below(4) }, () => [this.key(), this.any(depth + 1)]))],
    ])()
  }

  text() {
    return this.#random.pick(texts)
  }

  /** A key that data of a user may have; some of them are names that mean something to a language. */
  key() {
    return this.#random.pick(['a', 'B', 'snake_case', 'kebab-case', 'ä', '', 'constructor', '__proto__', 'sessionId', 'type', '0', '日'])
  }

  #named(name, depth) {
    const made = this.#special[name]
    return made === undefined ? this.#value(schema.$defs[name], depth, name) : made(this.#random)
  }

  #value(definition, depth, name = '') {
    if (definition.$ref !== undefined) return this.#named(definition.$ref.slice('#/$defs/'.length), depth)
    if (definition.anyOf !== undefined) return this.#value(this.#branch(definition.anyOf, depth), depth, name)
    if (definition.const !== undefined) return definition.const
    if (definition.enum !== undefined) return this.#random.pick(definition.enum)
    switch (definition.type) {
      case 'object':
        return this.#object(definition, depth, name)
      case 'array':
        return this.#array(definition, depth)
      case 'string':
        return this.#string(definition)
      case 'integer':
        return this.#integer(definition)
      case 'number':
        return thousandths(this.#random.real() * 100)
      case 'boolean':
        return this.#random.chance(0.5)
      case 'null':
        return null
      default:
        return this.any(depth)
    }
  }

  /** Deep inside, the branch that ends soonest. */
  #branch(branches, depth) {
    const scalar = depth < deepest ? undefined : branches.find((branch) => !['object', 'array'].includes(resolved(branch).type))
    return scalar ?? this.#random.pick(branches)
  }

  #object(definition, depth, name) {
    const random = this.#random
    const { properties = {}, required = [], additionalProperties } = definition
    const fields = []
    for (const [key, inner] of Object.entries(properties)) {
      const made = this.#special[`${name}.${key}`]
      if (made !== undefined) fields.push([key, made(random)])
      else if (required.includes(key) || random.chance(depth < 2 ? 0.4 : 0.2)) fields.push([key, this.#value(inner, depth + 1)])
    }
    const isMap = additionalProperties !== undefined && Object.keys(properties).length === 0
    const more = isMap ? random.below(4) : random.once(6) ? 1 : 0
    for (let i = 0; i < more; i += 1)
      fields.push([isMap ? this.key() : `x-${random.below(3)}`, this.#value(isMap ? additionalProperties : {}, depth + 1)])
    return Object.fromEntries(fields.filter(([, value]) => value !== undefined))
  }

  #array({ items = {}, minItems = 0 }, depth) {
    const length = minItems + this.#random.below(depth < deepest ? 3 : 1)
    return Array.from({ length }, () => this.#value(items, depth + 1))
  }

  #string({ not, pattern, minLength = 0, maxLength = Infinity }) {
    const random = this.#random
    if (not?.enum !== undefined) return random.pick(['sky/change', 'hologram', 'new_kind', not.enum[0].toUpperCase(), `${not.enum[0]} `])
    if (pattern !== undefined) return ['a', 'a-1', 'tool_1'].find((text) => new RegExp(pattern).test(text)) ?? 'a'
    const text = this.text().slice(0, maxLength)
    return text.length >= minLength ? text : 'a'.repeat(minLength)
  }

  #integer({ minimum = -5, maximum }) {
    const random = this.#random
    if (random.once(8)) return maximum ?? random.pick([minimum, 2 ** 31, 999_999_999_999_999])
    return Math.min(minimum + random.below(50), maximum ?? Infinity)
  }
}

/** A number that every language writes alike. */
const thousandths = (value) => Math.round(value * 1000 + 1) / 1000
