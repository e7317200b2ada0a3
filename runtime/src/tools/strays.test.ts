import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hasMark, markOf, markValue } from './strays.ts'

const environment = (value: string) => `A=1\0QUIESCE_GROUP=${value}\0B=QUIESCE_GROUP=no.no.1.\0`

test("a mark begins with its runtime's and its session's, and with no other's, whatever the ids are", () => {
  const id = fc.oneof(fc.stringMatching(/^[a-c.:%_-]{1,6}$/), fc.string({ unit: 'binary', minLength: 1, maxLength: 6 }))
  fc.assert(
    fc.property(id, id, id, id, (runtime, session, otherRuntime, otherSession) => {
      const carried = environment(markValue(`${markOf(runtime, session)}7.`, undefined))
      expect(hasMark(carried, markOf(runtime))).toBe(true)
      expect(hasMark(carried, markOf(runtime, session))).toBe(true)
      expect(hasMark(carried, markOf(otherRuntime))).toBe(otherRuntime === runtime)
      expect(hasMark(carried, markOf(otherRuntime, otherSession))).toBe(otherRuntime === runtime && otherSession === session)
    }),
    { numRuns: 2_000 },
  )
})

test('an id of the wire is written as it is, a full stop apart', () => {
  expect(markOf('run_1', 'a.b:c-D_9')).toBe('run_1.a%002eb%003ac-D_9.')
})

test("a mark inside a tool's process carries those around it, and is found by each", () => {
  const inner = environment(markValue(markOf('run_2', 'b'), markValue(markOf('run_1', 'a'), '')))
  for (const mark of [markOf('run_1'), markOf('run_1', 'a'), markOf('run_2'), markOf('run_2', 'b')]) expect(hasMark(inner, mark)).toBe(true)
  for (const mark of [markOf('run_1', 'b'), markOf('run_2', 'a'), 'un_1.', 'a.', 'run_1.a. ']) expect(hasMark(inner, mark)).toBe(false)
})

test('only the variable itself counts', () => {
  expect(hasMark('QUIESCE_GROUP=run_1.a.1.\0', 'run_1.')).toBe(true)
  expect(hasMark('QUIESCE_GROUP=run_1.a.1.', 'run_1.')).toBe(true)
  for (const text of ['', 'X=QUIESCE_GROUP=run_1.a.1.\0', 'XQUIESCE_GROUP=run_1.a.1.\0', 'QUIESCE_GROUPS=run_1.a.1.\0', 'A=run_1.a.1.\0'])
    expect(hasMark(text, 'run_1.')).toBe(false)
})
