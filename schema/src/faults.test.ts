import { expect, it } from 'vitest'
import { check, pathText } from './faults.ts'
import { methods } from './methods.ts'

it('tells every fault of a union, however many there are', () => {
  const verdict = check(methods['session/prompt'].params, { sessionId: 's', content: Array(300_000).fill(1) })
  expect(verdict.ok).toBe(false)
  if (verdict.ok) return
  expect(verdict.faults).toHaveLength(300_000)
  expect(verdict.faults[0]?.path).toBe('content[0]')
}, 60_000)

it('cuts a very long key short in a path', () => {
  expect(pathText(['a', 0, 'k'.repeat(200), 'b'])).toBe(`a[0].${'k'.repeat(200)}.b`)
  expect(pathText(['k'.repeat(1_000_000), 'b'])).toBe(`${'k'.repeat(200)}....b`)
})
