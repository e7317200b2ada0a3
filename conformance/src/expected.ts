// Owns the expected failures of a subject: one file beside its driver, a reason for each; an entry that passes, or fits nothing, is a fault.
import { existsSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { isObject } from './case.ts'
import { HarnessError } from './harness-error.ts'
import type { Verdict, VerdictName } from './verdict.ts'

/** What may be known beforehand; an error of the suite itself is nobody's failure. */
const excused: readonly VerdictName[] = ['fail', 'hang', 'crash']

export interface Expected {
  caseId: string
  verdict: VerdictName
  reason: string
}

/** The entries of `expected-failures.yaml`; none where there is no file. *Contract:* throws HarnessError. */
export function readExpected(path: string): Expected[] {
  if (!existsSync(path)) return []
  const found: unknown = parse(readFileSync(path, 'utf8')) ?? []
  if (!Array.isArray(found)) throw new HarnessError(`${path}: expected a list of {case, verdict, reason}`)
  return found.map((entry: unknown) => {
    if (!isObject(entry) || typeof entry.case !== 'string' || typeof entry.reason !== 'string' || entry.reason.length < 10)
      throw new HarnessError(`${path}: each entry needs a \`case\` and a \`reason\` of a few words, got ${JSON.stringify(entry)}`)
    const { verdict = 'fail' } = entry
    const expected = excused.find((name) => name === verdict)
    if (expected === undefined)
      throw new HarnessError(
        `${path}: ${entry.case}: verdict ${JSON.stringify(verdict)} can't be expected; it is one of ${excused.join(', ')}`,
      )
    return { caseId: entry.case, verdict: expected, reason: entry.reason }
  })
}

export interface Judged extends Verdict {
  /** What was known beforehand, where it came so. */
  readonly known: string | null
}

/** Which verdicts were unexpected, and which entries no longer hold; `ran` says whether a case ran at all for the subject. */
export function judgeAll(
  verdicts: readonly Verdict[],
  expected: ReadonlyMap<string, readonly Expected[]>,
): { judged: Judged[]; stale: string[] } {
  const judged = verdicts.map((verdict): Judged => {
    const entry = expected.get(verdict.subject)?.find(({ caseId }) => caseId === verdict.caseId)
    return { ...verdict, known: entry !== undefined && entry.verdict === verdict.verdict ? entry.reason : null }
  })
  const stale = [...expected].flatMap(([subject, entries]) =>
    entries.flatMap(({ caseId, verdict }) => {
      const came = verdicts.filter((each) => each.subject === subject && each.caseId === caseId)
      if (came.length === 0) return []
      const other = came.find((each) => each.verdict !== verdict)
      return other === undefined
        ? []
        : [`${subject}: ${caseId} is expected to ${verdict}, and came as ${other.verdict}: take the entry out`]
    }),
  )
  return { judged, stale }
}

export const isUnexpected = ({ verdict, known }: Judged): boolean => verdict !== 'pass' && verdict !== 'unsupported' && known === null
