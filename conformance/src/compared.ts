// Owns the comparison of what one case left, in several languages and over several ways to its model: a verdict of its own where it differs.
import type { Trace, Verdict } from './verdict.ts'

/** The same case must leave the same trace in every language, and over every way to its model. */
export function comparedTraces(verdicts: readonly Verdict[]): Verdict[] {
  const traced = verdicts.filter(({ trace }) => trace !== null)
  const byCase = groups(traced, ({ caseId }) => caseId)
  const ofLanguages = byCase.flatMap((each) => difference(each, ({ subject }) => subject, 'both languages', 'whole'))
  const byFile = groups(
    byCase.flatMap(([first]) => first ?? []),
    ({ caseId }) => caseId.split('@')[0] ?? caseId,
  )
  return [...ofLanguages, ...byFile.flatMap((each) => difference(each, ({ caseId }) => caseId, 'both transports', 'common'))]
}

function groups(verdicts: readonly Verdict[], keyOf: (verdict: Verdict) => string): Verdict[][] {
  const found = new Map<string, Verdict[]>()
  for (const verdict of verdicts) found.set(keyOf(verdict), [...(found.get(keyOf(verdict)) ?? []), verdict])
  return [...found.values()]
}

function difference(verdicts: readonly Verdict[], nameOf: (verdict: Verdict) => string, subject: string, of: keyof Trace): Verdict[] {
  const [first] = verdicts
  const other = verdicts.find(({ trace }) => trace?.[of] !== first?.trace?.[of])
  if (first === undefined || other === undefined) return []
  const place = firstDifference(first.trace?.[of] ?? '', other.trace?.[of] ?? '')
  const reasons = [`${nameOf(first)} and ${nameOf(other)} leave different traces: ${place}`]
  return [{ ...first, subject, verdict: 'fail', reasons, transcript: [...first.transcript, '', ...other.transcript], stderr: '', ms: 0 }]
}

function firstDifference(a: string, b: string): string {
  let i = 0
  while (a[i] === b[i]) i += 1
  const from = Math.max(0, i - 80)
  return `…${a.slice(from, i + 120)}… against …${b.slice(from, i + 120)}…`
}
