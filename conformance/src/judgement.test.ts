import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Case } from './case.ts'
import { isUnexpected, judgeAll, readExpected } from './expected.ts'
import { junit, matrix } from './report.ts'
import { coverageFaults, readReasons } from './rules.ts'
import type { Verdict, VerdictName } from './verdict.ts'

const folder = mkdtempSync(join(tmpdir(), 'conformance-test-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

const verdict = (caseId: string, name: VerdictName, subject = 'ts', covers = ['RUN-1']): Verdict => ({
  ...{
    caseId,
    subject,
    covers,
    verdict: name,
    reasons: name === 'pass' ? [] : ['why < & "\u0001'],
    transcript: [],
    stderr: '',
    ms: 5,
    trace: null,
  },
})

describe('expected failures', () => {
  const expected = new Map([['ts', [{ caseId: 'a/b', verdict: 'fail' as const, reason: 'it is known' }]]])

  it('are not unexpected, and nothing else is excused', () => {
    const { judged, stale } = judgeAll(
      [verdict('a/b', 'fail'), verdict('a/c', 'fail'), verdict('a/b', 'fail', 'py'), verdict('a/d', 'unsupported')],
      expected,
    )
    expect(judged.map(isUnexpected)).toEqual([false, true, true, false])
    expect(stale).toEqual([])
  })

  it('must stay true: one that passes, or fails in another way, is a fault', () => {
    expect(judgeAll([verdict('a/b', 'pass')], expected).stale).toEqual([
      expect.stringMatching(/a\/b is expected to fail, and came as pass/),
    ])
    const hung = judgeAll([verdict('a/b', 'hang')], expected)
    expect([hung.judged.map(isUnexpected), hung.stale.length]).toEqual([[true], 1])
    expect(judgeAll([verdict('a/c', 'pass')], expected).stale).toEqual([])
  })

  it('need a reason', () => {
    expect(readExpected(join(folder, 'none.yaml'))).toEqual([])
    expect(readExpected(file('good.yaml', '- {case: a/b, verdict: hang, reason: it is not built yet}'))).toEqual([
      { caseId: 'a/b', verdict: 'hang', reason: 'it is not built yet' },
    ])
    expect(() => readExpected(file('bad.yaml', '- {case: a/b}'))).toThrow(/needs a `case` and a `reason`/)
  })
})

describe('the coverage', () => {
  const cases = [{ id: 'a/b', covers: ['RUN-1', 'RUN-9'] }] as unknown as Case[]

  it('wants a case or a reason for each rule, and no reason that is untrue', () => {
    const reasons = new Map([
      ['RUN-1', 'it has a case'],
      ['RUN-7', 'it is no rule'],
    ])
    expect(coverageFaults(['RUN-1', 'RUN-2'], cases, reasons)).toEqual([
      expect.stringMatching(/^RUN-2 has neither/),
      expect.stringMatching(/^RUN-1 has a case/),
      expect.stringMatching(/^RUN-7 has a reason, and is no rule/),
      expect.stringMatching(/^a\/b covers RUN-9/),
    ])
  })

  it('takes no reason of two words', () => {
    expect(() => readReasons(file('reasons.yaml', 'RUN-1: not now'))).toThrow(/RUN-1 needs a reason/)
  })
})

describe('the reports', () => {
  const judged = judgeAll([verdict('a/b', 'fail'), verdict('a/c', 'pass'), verdict('a/b', 'pass', 'py')], new Map()).judged

  it('show the worst verdict of each rule and subject', () => {
    expect(matrix(['RUN-1', 'RUN-2'], judged)).toEqual({
      subjects: ['py', 'ts'],
      rows: [
        { rule: 'RUN-1', cells: ['ok 1', 'FAIL'] },
        { rule: 'RUN-2', cells: ['', ''] },
      ],
    })
  })

  it('are XML whatever a server said', () => {
    const text = junit(judged)
    expect(text).toContain('<failure type="fail" message="why &lt; &amp; &quot;\uFFFD"/>')
    expect(text).toContain('<testsuite name="conformance" tests="3" failures="1" skipped="0">')
  })
})
