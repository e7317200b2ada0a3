import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Case } from './case.ts'
import { isUnexpected, judgeAll, readExpected } from './expected.ts'
import { junit, matrix } from './report.ts'
import { coverageFaults, type Reason, readReasons, rulesOf } from './rules.ts'
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
  const cases = [
    { id: 'a/b', covers: ['RUN-1', 'RUN-9'] },
    { id: 'a/c', covers: [] },
  ] as unknown as Case[]
  const why = 'it has a reason of some words'
  const none = { methods: ['session/get'], repository: null }
  const reason = (more: Partial<Reason> = {}): Reason => ({ why, provenBy: [], until: null, ...more })

  it('wants a case or a reason for each rule, a rule for each case, and no reason where there is a case', () => {
    const reasons = new Map([
      ['RUN-1', reason()],
      ['RUN-7', reason()],
    ])
    expect(coverageFaults(['RUN-1', 'RUN-2'], cases, reasons, none)).toEqual([
      expect.stringMatching(/^RUN-2 has neither/),
      expect.stringMatching(/^RUN-1 has a case/),
      expect.stringMatching(/^RUN-7 has a reason, and is no rule/),
      expect.stringMatching(/^a\/c names no rule/),
      expect.stringMatching(/^a\/b covers RUN-9/),
    ])
  })

  it('takes no reason that is no longer true', () => {
    file('proof.test.ts', "it('RUN-3: holds')")
    const faultsOf = (more: Partial<Reason>, repository: string | null = folder) =>
      coverageFaults(['RUN-3'], [], new Map([['RUN-3', reason(more)]]), { ...none, repository })
    expect(faultsOf({ until: 'session/fork', provenBy: ['proof.test.ts'] })).toEqual([])
    expect(faultsOf({ until: 'session/get' })).toEqual([expect.stringMatching(/waits for session\/get, which is there/)])
    expect(faultsOf({ until: 'proof.test.ts' })).toEqual([expect.stringMatching(/waits for proof.test.ts/)])
    expect(faultsOf({ provenBy: ['gone.test.ts'] })).toEqual([expect.stringMatching(/gone.test.ts, which is not there/)])
    expect(faultsOf({ provenBy: ['gone.test.ts'] }, null)).toEqual([])
    file('other.test.ts', "it('RUN-33: holds')")
    expect(faultsOf({ provenBy: ['other.test.ts'] })).toEqual([expect.stringMatching(/other.test.ts, which doesn't name it/)])
  })

  it('takes no reason of two words, and no form that it does not know', () => {
    expect(() => readReasons(file('reasons.yaml', 'RUN-1: not now'))).toThrow(/RUN-1 needs a reason/)
    expect(() => readReasons(file('reasons.yaml', `RUN-1: {why: ${why}, untill: x}`))).toThrow(/RUN-1 is a text, or/)
    expect(readReasons(file('reasons.yaml', `RUN-1: {why: ${why}, until: x}`))).toEqual(new Map([['RUN-1', reason({ until: 'x' })]]))
    expect(() => rulesOf(file('contract.md', 'nothing'))).toThrow(/has no rules/)
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
