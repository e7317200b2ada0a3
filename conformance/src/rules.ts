// Owns which rules there are, which of them the cases cover, and the written reasons of those that none covers; a reason must stay true.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { type Case, isObject } from './case.ts'
import { HarnessError } from './harness-error.ts'

/** Why a rule has no case. */
export interface Reason {
  readonly why: string
  /** Files of the repository that prove it instead; each must be there, and name the rule. */
  readonly provenBy: readonly string[]
  /** What it waits for: a method of the protocol, or a place in the repository. Once it is there, the reason is not true any more. */
  readonly until: string | null
}

/** What reasons are held against. */
export interface Surroundings {
  /** Every method of the protocol. */
  readonly methods: readonly string[]
  /** Null where the suite is installed elsewhere: then what lies in the repository isn't looked at. */
  readonly repository: string | null
}

/** Every rule of the contract, in its order: `**RUN-2**` at the beginning of an item. */
export function rulesOf(contract: string): string[] {
  const rules = [...new Set([...readFileSync(contract, 'utf8').matchAll(/\*\*([A-Z]+-\d+)\*\*/g)].map(([, id]) => id ?? ''))]
  if (rules.length === 0) throw new HarnessError(`${contract}: it has no rules; each is written as **RUN-2**`)
  return rules
}

/** Of a file `{RULE: why}` or `{RULE: {why, provenBy, until}}`. *Contract:* throws HarnessError. */
export function readReasons(path: string): ReadonlyMap<string, Reason> {
  const found: unknown = parse(readFileSync(path, 'utf8')) ?? {}
  if (!isObject(found)) throw new HarnessError(`${path}: expected {RULE: reason}`)
  return new Map(
    Object.entries(found).map(([rule, given]) => {
      const { why, provenBy = [], until = null, ...unknown } = isObject(given) ? given : { why: given }
      if (typeof why !== 'string' || why.length < 20) throw new HarnessError(`${path}: ${rule} needs a reason that says why it has no case`)
      if (!Array.isArray(provenBy) || (until !== null && typeof until !== 'string') || Object.keys(unknown).length > 0)
        throw new HarnessError(
          `${path}: ${rule} is a text, or {why, provenBy?: [file], until?: method or place}, got ${JSON.stringify(given)}`,
        )
      return [rule, { why, provenBy: provenBy.map(String), until }]
    }),
  )
}

/** What is wrong with the coverage: rules without case and reason, reasons that are no longer true, names of no rule. */
export function coverageFaults(
  rules: readonly string[],
  cases: readonly Case[],
  reasons: ReadonlyMap<string, Reason>,
  surroundings: Surroundings,
): string[] {
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
    ...[...reasons].flatMap(([rule, reason]) => untruths(rule, reason, surroundings)),
    ...cases.filter(({ covers }) => covers.length === 0).map(({ id }) => `${id} names no rule that it covers`),
    ...cases.flatMap(({ id, covers }) =>
      covers.filter((rule) => !known.has(rule)).map((rule) => `${id} covers ${rule}, which is no rule of the contract`),
    ),
  ]
}

function untruths(rule: string, { provenBy, until }: Reason, { methods, repository }: Surroundings): string[] {
  const there = (place: string) => repository !== null && existsSync(join(repository, place))
  const arrived = until !== null && (methods.includes(until) || there(until))
  return [
    ...(arrived ? [`${rule} waits for ${until}, which is there: it needs a case`] : []),
    ...(repository === null ? [] : provenBy)
      .filter((file) => !there(file) || !new RegExp(`\\b${rule}\\b`).test(readFileSync(join(repository ?? '', file), 'utf8')))
      .map((file) => `${rule} is said to be proven by ${file}, which ${there(file) ? "doesn't name it" : 'is not there'}`),
  ]
}
