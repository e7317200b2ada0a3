// Owns what every log must keep, whatever a case is about: the rules of the contract that can be told from the facts alone.
import { LogReading } from '../crash/log-rules.mjs'
import type { Json } from './case.ts'

/** Which rules the log breaks, each with its seq. A fact of a type that no rule knows breaks none (FR-4). */
export function faultsOfLog(facts: readonly Json[]): string[] {
  return LogReading.of(facts).broken.filter((fault) => !fault.startsWith('a type that no rule knows'))
}
