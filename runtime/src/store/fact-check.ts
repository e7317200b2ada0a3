// Owns the check of facts as they come out of a store: each is whole and in its place. One that isn't is named, never passed on.
import type { AnyFact } from '@quiesce/schema'
import { SessionFault } from './fault.ts'

/** Which store it is about, as messages name it, and its path where it has one. */
export interface Place {
  name: string
  path?: string
}

/** *Contract:* throws SessionFault `storage_unavailable` where the text isn't the session's fact with this seq. */
export function factAt(text: string | undefined, sessionId: string, seq: number, place: Place): AnyFact {
  const fact = text === undefined ? undefined : parsed(text)
  if (fact !== undefined && isFact(fact) && isAt(fact, sessionId, seq)) return fact
  throw damagedFact(place, sessionId, seq)
}

/** Whether these are the session's facts behind `after`, without a gap. */
export function areInPlace(facts: readonly AnyFact[], sessionId: string, after: number): boolean {
  return facts.every((fact, i) => isFact(fact) && isAt(fact, sessionId, after + 1 + i))
}

/** One that is missing, no JSON, or another fact than was written. */
export function damagedFact(place: Place, sessionId: string, seq: number): SessionFault {
  return damaged(place, `fact ${seq} of session ${sessionId} can not be read`, { sessionId, seq })
}

/** A row of one session is damaged: it concerns that session alone. */
export function damaged(place: Place, what: string, details: Readonly<Record<string, unknown>>): SessionFault {
  const advice = 'Other sessions go on; delete this one, or stop every runtime and put a backup of the store in its place'
  return sessionFault(place, `is damaged: ${what}. ${advice}`, details)
}

export function sessionFault(place: Place, what: string, details: Readonly<Record<string, unknown>>): SessionFault {
  const path = place.path === undefined ? {} : { path: place.path }
  return new SessionFault('storage_unavailable', `${place.name} ${what}`, { ...path, ...details })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isFact(value: unknown): value is AnyFact {
  if (typeof value !== 'object' || value === null) return false
  return 'type' in value && typeof value.type === 'string' && 'data' in value && typeof value.data === 'object' && value.data !== null
}

const isAt = (fact: AnyFact, sessionId: string, seq: number): boolean => fact.sessionId === sessionId && fact.seq === seq
