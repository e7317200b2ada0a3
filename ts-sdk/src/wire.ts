// Owns how wire values are checked, decoded and encoded, after a generated table of shapes. Refuses malformed known kinds
// with their path; keeps unknown fields and unknown kinds (FR-4). Never renames data of the user.

import { shown } from './shown.ts'

export type Fields = Readonly<Record<string, Shape>>
export type Shape =
  | string // the name of another type
  | { is: 'any' | 'boolean' | 'number' | 'null' }
  | { is: 'string'; min?: number; max?: number; pattern?: string }
  | { is: 'integer'; min?: number; max?: number }
  | { is: 'one'; of: readonly string[] }
  | { is: 'list'; of: Shape; min?: number }
  | { is: 'map'; of: Shape }
  | { is: 'either'; of: readonly Shape[] }
  | { is: 'object'; must: Fields; may: Fields }
  | { is: 'open'; tag: string; kinds: Readonly<Record<string, string>>; shared: { must: Fields; may: Fields } }
export type WireTable<Id extends string = string> = Readonly<Record<Id, Shape>>

/** What decoding came to: the value, or where it is wrong (`content[0].text`) and what would be right. */
export type Decoded<T> = { ok: true; value: T } | { ok: false; path: string; message: string }

export interface WireCodec<Id extends string> {
  /** The checked value; it is `value` itself, or a copy down to each unknown kind inside it. */
  decode<T>(id: Id, value: unknown): Decoded<T>
  /** The value with each unknown kind written as it came. Checks nothing. */
  encode(id: Id, value: unknown): unknown
}

type Dict = Record<string, unknown>
/** Gives the value back, changed or not, or `refused`. */
type Step = (value: unknown) => unknown

const refused = Symbol('refused')

/** Why the last step refused; the path is built from the inside out. */
interface Fault {
  path: (string | number)[]
  message: string
}

export function wireTypes<Id extends string>(table: WireTable<Id>): WireCodec<Id> {
  const fault: Fault = { path: [], message: '' }
  const decoders = new Steps(table, (shape, named) => decoder(shape, named, fault))
  const encoders = new Steps(table, encoder)
  return {
    decode<T>(id: Id, value: unknown): Decoded<T> {
      const decoded = decoders.named(id)(value)
      if (decoded === refused) return { ok: false, path: pathText(fault.path), message: fault.message }
      return { ok: true, value: decoded as T } // checked against `id` just now
    },
    encode: (id, value) => encoders.named(id)(value),
  }
}

/** The steps of a table, each made when it is first needed: nobody needs all of them. */
class Steps {
  readonly #shapes: ReadonlyMap<string, Shape>
  readonly #steps = new Map<string, Step>()
  readonly #make: (shape: Shape, named: (id: string) => Step) => Step

  constructor(table: WireTable, make: (shape: Shape, named: (id: string) => Step) => Step) {
    this.#shapes = new Map(Object.entries(table))
    this.#make = make
  }

  named(id: string): Step {
    const made = this.#steps.get(id)
    if (made !== undefined) return made
    const shape = this.#shapes.get(id)
    if (shape === undefined) throw new Error(`the table has no type ${id}`)
    // A type that contains itself finds this one while its own step is being made.
    this.#steps.set(id, (value) => this.named(id)(value))
    const step = this.#make(shape, (inner) => this.named(inner))
    this.#steps.set(id, step)
    return step
  }
}

function decoder(shape: Shape, named: (id: string) => Step, fault: Fault): Step {
  const refuse = (message: string): typeof refused => {
    fault.path = []
    fault.message = message
    return refused
  }
  const inside = (key: string | number): typeof refused => {
    fault.path.push(key)
    return refused
  }
  const make = (inner: Shape): Step => decoder(inner, named, fault)
  if (typeof shape === 'string') return named(shape)
  switch (shape.is) {
    case 'any':
      return (value) => value
    case 'boolean':
      return (value) => (typeof value === 'boolean' ? value : refuse(wanted('boolean', value)))
    case 'null':
      return (value) => (value === null ? value : refuse(wanted('null', value)))
    case 'number':
      return (value) => (Number.isFinite(value) ? value : refuse(wanted('number', value)))
    case 'integer':
      return integerDecoder(shape.min ?? -Infinity, shape.max ?? Infinity, refuse)
    case 'string':
      return stringDecoder(shape.min ?? 0, shape.max ?? Infinity, shape.pattern, refuse)
    case 'one':
      return (value) => (shape.of.includes(value as string) ? value : refuse(wanted(`one of ${shape.of.map(quote).join(', ')}`, value)))
    case 'list':
      return listDecoder(make(shape.of), shape.min ?? 0, refuse, inside)
    case 'map':
      return mapDecoder(make(shape.of), refuse, inside)
    case 'either':
      return eitherDecoder(shape.of.map(make), refuse, fault)
    case 'object':
      return objectDecoder(steps(shape.must, make), steps(shape.may, make), refuse, inside)
    case 'open': {
      const fields = { [shape.tag]: make({ is: 'string' }), ...Object.fromEntries(steps(shape.shared.must, make)) }
      const unknown = objectDecoder(Object.entries(fields), steps(shape.shared.may, make), refuse, inside)
      return openDecoder(shape, new Map(Object.entries(shape.kinds).map(([kind, id]) => [kind, named(id)])), unknown)
    }
  }
}

type Refuse = (message: string) => typeof refused
type Inside = (key: string | number) => typeof refused
type FieldSteps = readonly (readonly [name: string, step: Step])[]

const steps = (fields: Fields, make: (shape: Shape) => Step): FieldSteps =>
  Object.entries(fields).map(([name, shape]) => [name, make(shape)] as const)

function integerDecoder(min: number, max: number, refuse: Refuse): Step {
  return (value) => {
    if (!Number.isSafeInteger(value)) return refuse(wanted('integer', value))
    if ((value as number) < min) return refuse(wanted(`at least ${min}`, value))
    return (value as number) > max ? refuse(wanted(`at most ${max}`, value)) : value
  }
}

function stringDecoder(min: number, max: number, pattern: string | undefined, refuse: Refuse): Step {
  const regex = pattern === undefined ? undefined : new RegExp(pattern)
  return (value) => {
    if (typeof value !== 'string') return refuse(wanted('string', value))
    if (value.length < min) return refuse(wanted(`at least ${min} characters`, value))
    if (value.length > max) return refuse(wanted(`at most ${max} characters`, value))
    return regex === undefined || regex.test(value) ? value : refuse(wanted(`a string like ${pattern}`, value))
  }
}

function listDecoder(item: Step, min: number, refuse: Refuse, inside: Inside): Step {
  return (value) => {
    if (!Array.isArray(value)) return refuse(wanted('array', value))
    if (value.length < min) return refuse(wanted(`at least ${min} items`, value))
    let copy: unknown[] | undefined
    for (let index = 0; index < value.length; index++) {
      const given: unknown = value[index]
      const decoded = item(given)
      if (decoded === refused) return inside(index)
      if (decoded === given) continue
      copy ??= [...value]
      copy[index] = decoded
    }
    return copy ?? value
  }
}

function mapDecoder(item: Step, refuse: Refuse, inside: Inside): Step {
  return (value) => {
    if (!isDict(value)) return refuse(wanted('object', value))
    let copy: Dict | undefined
    for (const key of Object.keys(value)) {
      const decoded = item(value[key])
      if (decoded === refused) return inside(key)
      if (decoded !== value[key]) copy = replace(copy ?? value, key, decoded)
    }
    return copy ?? value
  }
}

/** Of alternatives that all refuse, the one that got furthest speaks. */
function eitherDecoder(branches: readonly Step[], refuse: Refuse, fault: Fault): Step {
  return (value) => {
    let furthest: Fault | undefined
    const messages: string[] = []
    for (const branch of branches) {
      const decoded = branch(value)
      if (decoded !== refused) return decoded
      messages.push(fault.message)
      if (fault.path.length > (furthest?.path.length ?? 0)) furthest = { path: fault.path, message: fault.message }
    }
    if (furthest === undefined) return refuse(messages.join('; or '))
    fault.path = furthest.path
    fault.message = furthest.message
    return refused
  }
}

function objectDecoder(must: FieldSteps, may: FieldSteps, refuse: Refuse, inside: Inside): Step {
  return (value) => {
    if (!isDict(value)) return refuse(wanted('object', value))
    let copy: Dict | undefined
    for (const [name, step] of must) {
      const given = value[name]
      if (given === undefined) {
        refuse('required')
        return inside(name)
      }
      const decoded = step(given)
      if (decoded === refused) return inside(name)
      if (decoded !== given) copy = replace(copy ?? value, name, decoded)
    }
    for (const [name, step] of may) {
      const given = value[name]
      if (given === undefined) continue
      const decoded = step(given)
      if (decoded === refused) return inside(name)
      if (decoded !== given) copy = replace(copy ?? value, name, decoded)
    }
    return copy ?? value
  }
}

function openDecoder(shape: Extract<Shape, { is: 'open' }>, known: ReadonlyMap<unknown, Step>, unknown: Step): Step {
  const shared = [...Object.keys(shape.shared.must), ...Object.keys(shape.shared.may)]
  return (value) => {
    const member = isDict(value) ? known.get(value[shape.tag]) : undefined
    if (member !== undefined) return member(value)
    if (unknown(value) === refused) return refused
    const raw = value as Dict
    const kept: Dict = { [shape.tag]: 'unknown', [originalName(shape.tag)]: raw[shape.tag] }
    for (const name of shared) if (raw[name] !== undefined) kept[name] = raw[name]
    kept.raw = raw
    return kept
  }
}

function encoder(shape: Shape, named: (id: string) => Step): Step {
  const make = (inner: Shape): Step => encoder(inner, named)
  if (typeof shape === 'string') return named(shape)
  switch (shape.is) {
    case 'list': {
      const item = make(shape.of)
      return item === same ? same : (value) => (Array.isArray(value) ? value.map(item) : value)
    }
    case 'map': {
      const item = make(shape.of)
      return item === same
        ? same
        : (value) => (isDict(value) ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, item(v)])) : value)
    }
    case 'either': {
      // At most one alternative changes a value of the wire: the others take strings and numbers.
      const branches = shape.of.map(make).filter((branch) => branch !== same)
      return branches.length === 0 ? same : (value) => branches.reduce((encoded, branch) => branch(encoded), value)
    }
    case 'object':
      return objectEncoder(steps({ ...shape.must, ...shape.may }, make).filter(([, step]) => step !== same))
    case 'open':
      return openEncoder(shape.tag, new Map(Object.entries(shape.kinds).map(([kind, id]) => [kind, named(id)])))
    default:
      return same
  }
}

const same: Step = (value) => value

function objectEncoder(fields: FieldSteps): Step {
  if (fields.length === 0) return same
  return (value) => {
    if (!isDict(value)) return value
    let copy: Dict | undefined
    for (const [name, step] of fields) {
      const encoded = step(value[name])
      if (encoded !== value[name]) copy = replace(copy ?? value, name, encoded)
    }
    return copy ?? value
  }
}

function openEncoder(tag: string, known: ReadonlyMap<unknown, Step>): Step {
  const original = originalName(tag)
  return (value) => {
    if (!isDict(value)) return value
    const member = known.get(value[tag])
    if (member !== undefined) return member(value)
    return value[tag] === 'unknown' && typeof value[original] === 'string' && isDict(value.raw) ? value.raw : value
  }
}

const isDict = (value: unknown): value is Dict => typeof value === 'object' && value !== null && !Array.isArray(value)
const originalName = (tag: string): string => `original${tag.slice(0, 1).toUpperCase()}${tag.slice(1)}`
const quote = (text: string): string => JSON.stringify(text)

/** A copy of `source` with one field changed; `__proto__` is a key like any other. */
function replace(source: Dict, key: string, value: unknown): Dict {
  const copy = { ...source }
  Object.defineProperty(copy, key, { value, enumerable: true, configurable: true, writable: true })
  return copy
}

const wanted = (what: string, value: unknown): string => `expected ${what}, got ${shown(value)}`

/** `content[0].text`, from the parts in the order in which they were found. */
export function pathText(insideOut: readonly (string | number)[]): string {
  return insideOut.reduceRight<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`
    return text === '' ? part : `${text}.${part}`
  }, '')
}
