import { readdirSync, readFileSync } from 'node:fs'
import { check, Fact } from '@quiesce/schema'
import { describe, expect, it } from 'vitest'
import * as z from 'zod/mini'
import { RunFold } from './run.ts'

const folder = new URL('../../../conformance/cases/reducer/', import.meta.url)
const Vector = z.looseObject({
  name: z.string(),
  sessionId: z.string(),
  messageId: z.string(),
  until: z.enum(['idle', 'quiescent']),
  after: z.optional(z.int()),
  facts: z.array(z.looseObject({ sessionId: z.optional(z.string()) })),
  expect: z.looseObject({
    done: z.boolean(),
    error: z.optional(z.unknown()),
    result: z.optional(z.unknown()),
    partial: z.optional(z.unknown()),
  }),
})

const vectors = readdirSync(folder).map((file) => z.parse(Vector, JSON.parse(readFileSync(new URL(file, folder), 'utf8'))))

describe('the run fold gives what the shared vectors say', () => {
  // Gaps, repeats, cursors and malformed facts can't come out of the runtime's own log: they are the SDKs' affair.
  const own = vectors.filter((vector) => vector.expect.error === undefined && vector.after === undefined)
  it.each(own.map((vector) => [vector.name, vector] as const))('%s', (_, vector) => {
    const fold = new RunFold(vector.sessionId, vector.messageId, vector.until)
    let last = 0
    for (const raw of vector.facts) {
      const verdict = check(Fact, raw)
      if (!verdict.ok) throw new Error(`${vector.name}: not a fact`)
      if (raw.sessionId !== vector.sessionId || verdict.value.seq <= last) continue
      last = verdict.value.seq
      fold.apply(verdict.value)
    }
    expect(fold.done).toBe(vector.expect.done)
    const { result, partial } = vector.expect
    if (result !== undefined) expect(fold.result()).toEqual(result)
    if (partial !== undefined) expect(fold.result()).toEqual(partial)
    const finish = 'finish_reason' in vector.expect ? vector.expect.finish_reason : undefined
    if (finish !== undefined) expect(fold.lastTurnEnd?.reason.kind ?? null).toBe(finish)
  })

  it('finds the vectors', () => {
    expect(own.length).toBeGreaterThan(30)
  })
})
