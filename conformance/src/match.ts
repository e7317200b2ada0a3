// Owns the comparison of a value with what a case expects: partial by default, exact where it says so.
import { isObject, type Json } from './case.ts'
import { HarnessError } from './harness-error.ts'
import { valueAt } from './values.ts'

/** What doesn't fit: the path, and why. */
export interface Mismatch {
  path: string
  why: string
}

const at = (path: string, key: string | number): string =>
  typeof key === 'number' ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`
export const shown = (value: unknown): string => {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > 300 ? `${text.slice(0, 300)}…` : text
}

/** Compares; an empty list is a match. An object of the case may leave members out, a list may not. `undefined` is: not there. */
export function mismatches(expected: Json, actual: unknown, path = ''): Mismatch[] {
  if (isObject(expected)) {
    const [operator] = Object.keys(expected).filter((key) => key.startsWith('$'))
    if (operator !== undefined) return applyOperator(operator, expected, actual, path)
    if (!isObject(actual)) return [{ path, why: `expected an object, got ${shown(actual)}` }]
    return Object.entries(expected).flatMap(([key, inner]) => mismatches(inner, actual[key], at(path, key)))
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return [{ path, why: `expected a list, got ${shown(actual)}` }]
    if (actual.length !== expected.length)
      return [{ path, why: `expected ${expected.length} entries, got ${actual.length}: ${shown(actual)}` }]
    return expected.flatMap((inner, i) => mismatches(inner, actual[i], at(path, i)))
  }
  return Object.is(expected, actual) ? [] : [{ path, why: `expected ${shown(expected)}, got ${shown(actual)}` }]
}

type Operator = (argument: Json, actual: unknown, path: string) => Mismatch[]

const unless = (holds: boolean, path: string, why: string): Mismatch[] => (holds ? [] : [{ path, why }])

const operators: Readonly<Record<string, Operator>> = {
  /** Anything that is there, null too. */
  $any: (_, actual, path) => unless(actual !== undefined, path, 'expected something, got nothing'),
  $absent: (_, actual, path) => unless(actual === undefined, path, `expected nothing, got ${shown(actual)}`),
  $type: (type, actual, path) => unless(typeOf(actual) === type, path, `expected a ${String(type)}, got ${shown(actual)}`),
  /** Equal as a whole, with no member more. */
  $exact: (value, actual, path) => unless(isEqual(value, actual), path, `expected exactly ${shown(value)}, got ${shown(actual)}`),
  $keys: (keys, actual, path) => {
    const found = isObject(actual) ? Object.keys(actual).sort() : []
    return unless(isEqual([...list(keys)].sort(), found), path, `expected the members ${shown(keys)}, got ${shown(found)}`)
  },
  $matches: (pattern, actual, path) =>
    unless(
      typeof actual === 'string' && new RegExp(text(pattern), 'u').test(actual),
      path,
      `expected a text like /${text(pattern)}/, got ${shown(actual)}`,
    ),
  $oneOf: (choices, actual, path) =>
    unless(
      list(choices).some((choice) => mismatches(choice, actual).length === 0),
      path,
      `expected one of ${shown(choices)}, got ${shown(actual)}`,
    ),
  $not: (inner, actual, path) =>
    unless(mismatches(inner, actual).length > 0, path, `expected anything but ${shown(inner)}, got ${shown(actual)}`),
  $length: (inner, actual, path) => mismatches(inner, isSized(actual) ? actual.length : undefined, at(path, 'length')),
  $first: (inner, actual, path) => mismatches(inner, Array.isArray(actual) ? actual[0] : undefined, at(path, 0)),
  $last: (inner, actual, path) => mismatches(inner, Array.isArray(actual) ? actual.at(-1) : undefined, at(path, 'last')),
  $atLeast: (least, actual, path) =>
    unless(typeof actual === 'number' && actual >= Number(least), path, `expected at least ${shown(least)}, got ${shown(actual)}`),
  $atMost: (most, actual, path) =>
    unless(typeof actual === 'number' && actual <= Number(most), path, `expected at most ${shown(most)}, got ${shown(actual)}`),
  /** Each of these fits an entry of its own, in whatever order, and no entry is left. */
  $unordered: (inner, actual, path) => {
    const left = Array.isArray(actual) ? [...actual] : []
    for (const each of list(inner)) {
      const found = left.findIndex((entry) => mismatches(each, entry).length === 0)
      if (found === -1) return [{ path, why: `no entry fits ${shown(each)}; there are ${shown(actual)}` }]
      left.splice(found, 1)
    }
    return unless(left.length === 0, path, `expected no more entries, got ${shown(left)}`)
  },
  /** These fit entries in this order; others may lie between them. */
  $inOrder: (inner, actual, path) => {
    const entries = Array.isArray(actual) ? actual : []
    let from = 0
    for (const each of list(inner)) {
      const found = entries.findIndex((entry, i) => i >= from && mismatches(each, entry).length === 0)
      if (found === -1) return [{ path, why: `no entry from ${from} on fits ${shown(each)}; there are ${shown(actual)}` }]
      from = found + 1
    }
    return []
  },
  $every: (inner, actual, path) =>
    Array.isArray(actual)
      ? actual.flatMap((entry, i) => mismatches(inner, entry, at(path, i)))
      : [{ path, why: `expected a list, got ${shown(actual)}` }],
  $none: (inner, actual, path) =>
    unless(
      Array.isArray(actual) && actual.every((entry) => mismatches(inner, entry).length > 0),
      path,
      `expected no entry like ${shown(inner)}, got ${shown(actual)}`,
    ),
  /** What a path below finds: {$at: ["data.reason.kind", "completed"]}. */
  $at: (argument, actual, path) => {
    const [inner, expected] = list(argument)
    return mismatches(expected ?? null, valueAt(actual, text(inner)), at(path, text(inner)))
  },
  /** Counts the entries that fit: {$count: [{type: turn/end}, 2]}. */
  $count: (argument, actual, path) => {
    const [inner, count] = list(argument)
    const found = (Array.isArray(actual) ? actual : []).filter((entry) => mismatches(inner ?? null, entry).length === 0).length
    return mismatches(count ?? null, found, `${path}, counting ${shown(inner)}`)
  },
  /** Every one of these must fit the same value. */
  $all: (inner, actual, path) => list(inner).flatMap((each) => mismatches(each, actual, path)),
}

/** Names of the operators, for the documentation's test. */
export const operatorNames = Object.keys(operators)

function applyOperator(name: string, expected: Json, actual: unknown, path: string): Mismatch[] {
  const operator = operators[name]
  if (operator === undefined) throw new HarnessError(`${name} at ${path || 'the top'} is no matcher; there are ${operatorNames.join(', ')}`)
  if (!isObject(expected) || Object.keys(expected).length !== 1)
    throw new HarnessError(`${name} at ${path || 'the top'} must stand alone in its object; use $all for several`)
  return operator(expected[name] ?? null, actual, path)
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isSafeInteger(value) ? 'integer' : typeof value
}

const isSized = (value: unknown): value is { length: number } => typeof value === 'string' || Array.isArray(value)

function list(value: Json | undefined): readonly Json[] {
  if (Array.isArray(value)) return value
  throw new HarnessError(`a matcher needs a list, got ${shown(value)}`)
}

function text(value: Json | undefined): string {
  if (typeof value === 'string') return value
  throw new HarnessError(`a matcher needs a text, got ${shown(value)}`)
}

/** Equal as JSON, the order of members apart. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((each, i) => isEqual(each, b[i]))
  if (!isObject(a) || !isObject(b)) return Object.is(a, b)
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]))
}
