// Owns what a vendor's counts of tokens mean: input with what came from a cache, output with reasoning.
import type { LanguageModelV3Usage } from '@ai-sdk/provider'
import type { UsageOf } from '@quiesce/schema'

export function usageOf({ inputTokens, outputTokens, raw }: LanguageModelV3Usage): UsageOf {
  const reasoning = count(outputTokens.reasoning)
  const usage: UsageOf = { inputTokens: count(inputTokens.total), outputTokens: count(outputTokens.total) }
  // Some servers of the chat format count reasoning beside the output: their total tells.
  if (reasoning > 0 && count(raw?.total_tokens) === usage.inputTokens + usage.outputTokens + reasoning) usage.outputTokens += reasoning
  // DeepSeek counts its cache in a field of its own.
  const cached = count(inputTokens.cacheRead) || count(raw?.prompt_cache_hit_tokens)
  if (cached > 0) usage.cachedInputTokens = cached
  if (reasoning > 0) usage.reasoningTokens = reasoning
  return usage
}

function count(value: unknown): number {
  return typeof value === 'number' && value > 0 ? Math.floor(value) : 0
}
