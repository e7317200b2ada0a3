import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SearchOutput } from './search-job.ts'
import { ShownLines } from './shown-lines.ts'

test('the first lines are shown, and the whole list kept where it is longer, each within its limit', () => {
  const limits = fc.record({ maxShown: fc.integer({ min: 0, max: 30 }), maxKept: fc.integer({ min: 0, max: 40 }) })
  const lines = fc.array(fc.stringMatching(/^[a-z]{0,8}$/), { maxLength: 20 })
  fc.assert(
    fc.property(limits, lines, fc.integer({ min: 0, max: 20 }), (job, all, limit) => {
      const shown: string[] = []
      const pieces: string[] = []
      const deaf = { allows: () => true, at: () => undefined, line: () => undefined }
      const output: SearchOutput = { ...deaf, show: (line) => shown.push(line), keep: (text) => pieces.push(text) }
      const list = new ShownLines(job, output)
      const told = all.map((line, index) => list.add(line, index >= limit))
      list.end()
      const kept = pieces.join('')
      expect(shown).toEqual(all.slice(0, shown.length))
      expect(told).toEqual(all.map((_, index) => index < shown.length))
      expect(shown.length).toBeLessThanOrEqual(limit)
      expect(shown.join('\n').length).toBeLessThanOrEqual(job.maxShown)
      const next = all[shown.length]
      // As much as there is room for was shown.
      if (next !== undefined && shown.length < limit) expect([...shown, next].join('\n').length).toBeGreaterThan(job.maxShown)
      const whole = all.map((line) => `${line}\n`).join('')
      expect(whole.startsWith(kept)).toBe(true)
      expect(kept.length).toBeLessThan(job.maxKept === 0 || next === undefined ? 1 : job.maxKept + 9)
      expect(list.isOver).toBe(next !== undefined && kept.length >= job.maxKept)
      if (next !== undefined && !list.isOver) expect(kept).toBe(whole)
    }),
  )
})
