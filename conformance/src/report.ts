// Owns how a run is told: lines while it goes on, the matrix at its end, and files for other programs.
import { isUnexpected, type Judged } from './expected.ts'
import type { VerdictName } from './verdict.ts'

const marks: Readonly<Record<VerdictName, string>> = {
  pass: 'ok',
  fail: 'FAIL',
  hang: 'HANG',
  crash: 'CRASH',
  unsupported: '–',
  'harness-error': 'ERROR',
}

export function line({ caseId, subject, verdict, ms, reasons, known }: Judged): string {
  const why = reasons.length === 0 ? '' : `\n    ${reasons.join('\n').replaceAll('\n', '\n    ')}`
  const expected = known === null ? '' : ` (expected: ${known})`
  return `${marks[verdict].padEnd(6)} ${caseId} [${subject}] ${Math.round(ms)} ms${expected}${why}`
}

/** Rule by subject: the worst verdict of the cases that cover it. */
export function matrix(
  rules: readonly string[],
  judged: readonly Judged[],
): { subjects: string[]; rows: { rule: string; cells: string[] }[] } {
  const subjects = [...new Set(judged.map(({ subject }) => subject))].sort()
  const order: VerdictName[] = ['harness-error', 'crash', 'hang', 'fail', 'unsupported', 'pass']
  const rows = rules.map((rule) => ({
    rule,
    cells: subjects.map((subject) => {
      const these = judged.filter((each) => each.subject === subject && each.covers.includes(rule))
      const worst = order.find((verdict) => these.some((each) => each.verdict === verdict))
      return worst === undefined ? '' : worst === 'pass' ? `ok ${these.length}` : marks[worst]
    }),
  }))
  return { subjects, rows }
}

/** For a terminal of a width: two rules side by side where there is room. */
export function matrixText(rules: readonly string[], judged: readonly Judged[], width: number): string {
  const { subjects, rows } = matrix(rules, judged)
  const ruleWidth = Math.max(4, ...rules.map(({ length }) => length))
  const cellWidths = subjects.map((subject, i) => Math.max(subject.length, ...rows.map(({ cells }) => cells[i]?.length ?? 0)))
  const row = (rule: string, cells: readonly string[]) =>
    [rule.padEnd(ruleWidth), ...cells.map((cell, i) => cell.padEnd(cellWidths[i] ?? 0))].join('  ')
  const head = row('rule', subjects)
  const columns = Math.max(1, Math.floor((width + 4) / (head.length + 4)))
  const perColumn = Math.ceil(rows.length / columns)
  const lines = Array.from({ length: perColumn }, (_, i) =>
    Array.from({ length: columns }, (__, column) => rows[column * perColumn + i])
      .flatMap((each) => (each === undefined ? [] : [row(each.rule, each.cells)]))
      .join('    ')
      .trimEnd(),
  )
  return [
    Array.from({ length: columns }, () => head)
      .join('    ')
      .trimEnd(),
    ...lines,
  ].join('\n')
}

export function markdown(rules: readonly string[], judged: readonly Judged[]): string {
  const { subjects, rows } = matrix(rules, judged)
  const failed = judged.filter((each) => each.verdict !== 'pass')
  return [
    `| rule | ${subjects.join(' | ')} |`,
    `| --- |${subjects.map(() => ' --- |').join('')}`,
    ...rows.map(({ rule, cells }) => `| ${rule} | ${cells.join(' | ')} |`),
    '',
    ...failed.map(
      ({ caseId, subject, verdict, reasons, known }) =>
        `- ${verdict}: \`${caseId}\` [${subject}]${known === null ? '' : ` (expected: ${known})`}: ${reasons.join('; ')}`,
    ),
    '',
  ].join('\n')
}

export function junit(judged: readonly Judged[]): string {
  const failures = judged.filter(isUnexpected).length
  const skipped = judged.filter(({ verdict, known }) => verdict === 'unsupported' || known !== null).length
  const cases = judged.map((each) => {
    const { caseId, subject, ms, verdict, reasons, known, transcript, stderr } = each
    const open = `    <testcase classname="${xml(subject)}" name="${xml(caseId)}" time="${(ms / 1000).toFixed(3)}"`
    if (isUnexpected(each)) {
      const out = xml([...transcript, '', stderr].join('\n'))
      return `${open}>\n      <failure type="${verdict}" message="${xml(reasons.join('; '))}"/>\n      <system-out>${out}</system-out>\n    </testcase>`
    }
    if (verdict === 'pass') return `${open}/>`
    return `${open}>\n      <skipped message="${xml(known ?? reasons.join('; '))}"/>\n    </testcase>`
  })
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites tests="${judged.length}" failures="${failures}" skipped="${skipped}">`,
    `  <testsuite name="conformance" tests="${judged.length}" failures="${failures}" skipped="${skipped}">`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

/** Without the characters that XML can't carry at all. */
function xml(text: string): string {
  return (
    // Half a surrogate pair becomes U+FFFD on the way.
    Buffer.from(text)
      .toString()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must go
      .replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, '\uFFFD')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
  )
}
