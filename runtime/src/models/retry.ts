// Owns the policy of retries and time limits of a model request (TU-5): how many, how long apart, how long silent.
import type { FactErrorOf } from '@quiesce/schema'

/** Counts and milliseconds. */
export interface RetryPolicy {
  /** Attempts in all, the first included. */
  attempts: number
  /** The wait before the second attempt; each further one is twice as long. */
  firstDelayMs: number
  maxDelayMs: number
  /** A longer `Retry-After` is cut to this. */
  maxRetryAfterMs: number
  /** No byte for so long after the request: stalled. */
  firstByteMs: number
  /** No byte for so long after a byte: stalled. */
  betweenBytesMs: number
}

export const defaultRetry: RetryPolicy = {
  attempts: 4,
  firstDelayMs: 500,
  maxDelayMs: 4_000,
  maxRetryAfterMs: 60_000,
  firstByteMs: 120_000,
  betweenBytesMs: 60_000,
}

/** The wait after the failed attempt number `attempt` (from 1): between half and the whole of the step, never below `Retry-After`. */
export function delayAfter(policy: RetryPolicy, attempt: number, random: number, retryAfterMs = 0): number {
  const step = Math.min(policy.firstDelayMs * 2 ** (attempt - 1), policy.maxDelayMs)
  const jittered = step * (0.5 + random / 2)
  return Math.round(Math.max(jittered, Math.min(retryAfterMs, policy.maxRetryAfterMs)))
}

/** May the failed attempt number `attempt` be followed by another? An empty answer, only the first time. */
export function isRetried(policy: RetryPolicy, attempt: number, error: FactErrorOf, empties: number): boolean {
  if (attempt >= policy.attempts || !error.retryable) return false
  return error.code !== 'model_empty' || empties === 1
}
