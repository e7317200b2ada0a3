import { describe, expect, it } from 'vitest'
import { comparedTraces } from './compared.ts'
import type { Verdict } from './verdict.ts'

const verdict = (caseId: string, subject: string, whole: string | null, common = 'c'): Verdict => ({
  ...{ caseId, subject, covers: ['RUN-1'], verdict: 'pass', reasons: [], transcript: [], stderr: '', ms: 1 },
  trace: whole === null ? null : { whole, common },
})

describe('the traces of a case', () => {
  it('are the same in every language, each time it runs', () => {
    const same = [verdict('a/b', 'ts', 'x'), verdict('a/b', 'py', 'x'), verdict('a/b', 'py', 'x'), verdict('a/c', 'py', 'y')]
    expect(comparedTraces(same)).toEqual([])
    const found = comparedTraces([...same, verdict('a/b', 'ts', 'z')])
    expect(found).toMatchObject([{ caseId: 'a/b', subject: 'both languages', verdict: 'fail', covers: ['RUN-1'] }])
    expect(found[0]?.reasons).toEqual(['ts and ts leave different traces: …x… against …z…'])
  })

  it('are, as far as they can be, the same over every way to the model', () => {
    const both = (common: string) => [
      verdict('a/b', 'ts', 'x', 'c'),
      verdict('a/b@http', 'ts', 'y', common),
      verdict('a/bc', 'ts', 'z', 'd'),
    ]
    expect(comparedTraces(both('c'))).toEqual([])
    expect(comparedTraces(both('e'))).toMatchObject([{ caseId: 'a/b', subject: 'both transports', verdict: 'fail' }])
  })

  it('are compared only where there are any', () => {
    expect(comparedTraces([verdict('a/b', 'ts', null), verdict('a/b', 'py', 'x')])).toEqual([])
  })
})
