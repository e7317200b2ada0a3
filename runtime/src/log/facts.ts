// Owns the making of facts before they have a seq.
import type { AnyFact, FactData, FactType, UsageOf } from '@quiesce/schema'

/** A fact that is to be committed: `seq` is given inside the transaction. */
export type NewFact = { [T in FactType]: { type: T; time: number; data: FactData<T> } }[FactType]

export function fact<T extends FactType>(type: T, time: number, data: FactData<T>): NewFact {
  return { type, time, data } as NewFact
}

/** Gives a new fact its place in the log. */
export function placed(sessionId: string, seq: number, made: NewFact): AnyFact {
  return { sessionId, seq, type: made.type, time: made.time, data: made.data } as AnyFact
}

export const noUsage: UsageOf = { inputTokens: 0, outputTokens: 0 }

export function addUsage(a: UsageOf, b: UsageOf): UsageOf {
  const sum: UsageOf = { inputTokens: a.inputTokens + b.inputTokens, outputTokens: a.outputTokens + b.outputTokens }
  if (a.cachedInputTokens !== undefined || b.cachedInputTokens !== undefined)
    sum.cachedInputTokens = (a.cachedInputTokens ?? 0) + (b.cachedInputTokens ?? 0)
  if (a.reasoningTokens !== undefined || b.reasoningTokens !== undefined)
    sum.reasoningTokens = (a.reasoningTokens ?? 0) + (b.reasoningTokens ?? 0)
  return sum
}
