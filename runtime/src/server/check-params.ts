// Owns the one check of a request's params: what can't be kept is refused, what the schema doesn't know is kept, `__proto__` too.
import { check, type Fault } from '@quiesce/schema'
import type * as z from 'zod/mini'
import { InvalidParams } from '../log/refusal.ts'
import { unkeepable } from './keepable.ts'

/** The params as their schema reads them. *Contract:* throws InvalidParams. */
export function checkParams<P extends z.ZodMiniType>(schema: P, params: unknown): z.output<P> {
  refuse(unkeepable(params))
  if (!hasProtoKey(params)) return checked(schema, params, (fault) => fault)
  return undisguised(checked(schema, disguised(params), told))
}

function checked<P extends z.ZodMiniType>(schema: P, params: unknown, tell: (fault: Fault) => Fault): z.output<P> {
  const verdict = check(schema, params)
  if (!verdict.ok) throw new InvalidParams(verdict.faults.map(tell))
  return verdict.value
}

function refuse(faults: readonly Fault[]): void {
  if (faults.length > 0) throw new InvalidParams(faults)
}

// The schema's validators pass over a key `__proto__` and leave it out, as if nothing were there. In the data of a user it is a key
// like any other: while they look, another key stands for it.

/** `__proto__`, or one that may stand for it. */
const proto = /^~*__proto__$/

/** No deeper than what `unkeepable` lets through. */
function hasProtoKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(hasProtoKey)
  return Object.entries(value).some(([key, inner]) => proto.test(key) || hasProtoKey(inner))
}

const disguised = (value: unknown): unknown => renamed(value, (key) => `~${key}`)

function undisguised<T>(value: T): T {
  return renamed(value, (key) => key.slice(1)) as T // only names that no type knows are others
}

const told = ({ path, message }: Fault): Fault => ({ path: plainly(path), message: plainly(message) })
const plainly = (text: string): string => text.replaceAll(/~(~*__proto__)/g, '$1')

function renamed(value: unknown, rename: (key: string) => string): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((inner) => renamed(inner, rename))
  // By its entries: an assignment to this key would set the prototype.
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [proto.test(key) ? rename(key) : key, renamed(inner, rename)]))
}
