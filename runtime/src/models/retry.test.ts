import fc from 'fast-check'
import { expect, it } from 'vitest'
import { defaultRetry, delayAfter } from './retry.ts'

const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

it('doubles from half a second to four, with jitter over the upper half (TU-5)', () => {
  expect([1, 2, 3, 4, 5, 9].map((attempt) => delayAfter(defaultRetry, attempt, 1))).toEqual([500, 1000, 2000, 4000, 4000, 4000])
  expect([1, 2, 3, 4].map((attempt) => delayAfter(defaultRetry, attempt, 0))).toEqual([250, 500, 1000, 2000])
})

it('never falls below the Retry-After that is within reason, nor beyond the larger of the two caps', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), unit, fc.integer({ min: 0, max: 10 ** 9 }), (attempt, random, retryAfterMs) => {
      const delay = delayAfter(defaultRetry, attempt, random, retryAfterMs)
      expect(Number.isInteger(delay)).toBe(true)
      expect(delay).toBeGreaterThanOrEqual(Math.min(retryAfterMs, defaultRetry.maxRetryAfterMs))
      expect(delay).toBeLessThanOrEqual(Math.max(defaultRetry.maxDelayMs, defaultRetry.maxRetryAfterMs))
    }),
  )
})
