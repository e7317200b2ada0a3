// Owns which rules there are, which of them the cases cover, and the written reasons of those that none covers.
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { type Case, isObject } from './case.ts'
import { HarnessError } from './harness-error.ts'

/** Every rule of the contract, in its order: `**RUN-2**` at the beginning of an item. */
export function rulesOf(contract: string): string[] {
  return [...new Set([...readFileSync(contract, 'utf8').matchAll(/\*\*([A-Z]+-\d+)\*\*/g)].map(([, id]) => id ?? ''))]
}

/** Rule to reason, of a file `{RULE: why}`. *Contract:* throws HarnessError. */
export function readReasons(path: string): ReadonlyMap<string, string> {
  const found: unknown = parse(readFileSync(path, 'utf8')) ?? {}
  if (!isObject(found)) throw new HarnessError(`${path}: expected {RULE: reason}`)
  return new Map(
    Object.entries(found).map(([rule, reason]) => {
      if (typeof reason !== 'string' || reason.length < 20)
        throw new HarnessError(`${path}: ${rule} needs a reason that says why it has no case`)
      return [rule, reason]
    }),
  )
}

/** What is wrong with the coverage: rules without case and reason, reasons that are no longer true, names of no rule. */
export function coverageFaults(rules: readonly string[], cases: readonly Case[], reasons: ReadonlyMap<string, string>): string[] {
  const covered = new Set(cases.flatMap(({ covers }) => covers))
  const known = new Set(rules)
  return [
    ...rules
      .filter((rule) => !covered.has(rule) && !reasons.has(rule))
      .map((rule) => `${rule} has neither a case nor a reason why it has none`),
    ...[...reasons.keys()]
      .filter((rule) => covered.has(rule))
      .map((rule) => `${rule} has a case, so its reason for having none is not true`),
    ...[...reasons.keys()].filter((rule) => !known.has(rule)).map((rule) => `${rule} has a reason, and is no rule of the contract`),
    ...cases.flatMap(({ id, covers }) =>
      covers.filter((rule) => !known.has(rule)).map((rule) => `${id} covers ${rule}, which is no rule of the contract`),
    ),
  ]
}
