// Owns what JSON can carry. Refuses, with its place, a value that would be left out or become another one on the way.
import { isOpaque, shown } from './shown.ts'
import { pathText } from './wire.ts'

interface Fault {
  /** From the inside out. */
  path: (string | number)[]
  /** Said of the value: `is …`, `holds …`. */
  says: string
}

/**
 * Looks through the params of a request.
 * @throws TypeError for a function, symbol, bigint, NaN or Infinity, a Map or its like, and a value that holds itself.
 */
export function checkJson(method: string, params: unknown): void {
  const fault = faultIn(params, '', new Set())
  if (fault !== undefined) throw new TypeError(`${method}: ${pathText(fault.path) || 'params'} ${fault.says}`)
}

function faultIn(given: unknown, key: string, outer: Set<object>): Fault | undefined {
  const value = asJson(given, key)
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint') return uncarried(value)
  if (typeof value === 'number' && !Number.isFinite(value)) return uncarried(value)
  if (typeof value !== 'object' || value === null) return undefined
  if (outer.has(value)) return { path: [], says: 'holds itself, which JSON cannot carry' }
  if (isOpaque(value)) return uncarried(value) // it would be {}
  outer.add(value)
  const fault = Array.isArray(value) ? faultInItems(value, outer) : faultInFields(value, outer)
  outer.delete(value)
  return fault
}

function faultInItems(items: readonly unknown[], outer: Set<object>): Fault | undefined {
  for (const [index, item] of items.entries()) {
    const fault = faultIn(item, String(index), outer)
    if (fault !== undefined) return { ...fault, path: [...fault.path, index] }
  }
  return undefined
}

function faultInFields(value: object, outer: Set<object>): Fault | undefined {
  for (const key of Object.keys(value)) {
    const fault = faultIn(Reflect.get(value, key), key, outer)
    if (fault !== undefined) return { ...fault, path: [...fault.path, key] }
  }
  return undefined
}

const uncarried = (value: unknown): Fault => ({ path: [], says: `is ${shown(value)}, which JSON cannot carry` })

/** What a value says that it is in JSON: a Date its text. */
function asJson(given: unknown, key: string): unknown {
  if (given === null || (typeof given !== 'object' && typeof given !== 'bigint')) return given
  const toJson: unknown = Reflect.get(Object(given), 'toJSON')
  return typeof toJson === 'function' ? Reflect.apply(toJson, given, [key]) : given
}
