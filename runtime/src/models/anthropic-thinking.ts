// Owns what a reasoning effort comes to with Anthropic's models, whose generations think in different ways.
import type { AnthropicLanguageModelOptions } from '@ai-sdk/anthropic'
import type { LanguageModelV3Prompt } from '@ai-sdk/provider'
import { UnsupportedOption } from './vendor-model.ts'

type Options = Pick<AnthropicLanguageModelOptions, 'thinking' | 'effort'>

/** Tokens, for models that think up to a budget: it comes on top of `maxOutputTokens`, within the model's own limit. */
const budgets: Readonly<Record<string, number | undefined>> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 24_576,
  max: 24_576,
}
const efforts: Readonly<Record<string, Options['effort']>> = {
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'xhigh',
  max: 'max',
}

/** What the options of a request are without any of the caller's own. *Contract:* throws UnsupportedOption. */
export function thinkingOf(model: string, modelId: string, effort: string | undefined, prompt: LanguageModelV3Prompt): Options {
  if (effort === undefined) return bound(modelId)
  if (effort !== 'none' && efforts[effort] === undefined)
    throw new UnsupportedOption(
      `modelOptions.reasoningEffort must be one of none, ${Object.keys(efforts).join(', ')} for ${model}, not ${JSON.stringify(effort)}`,
    )
  const way = wayOf(modelId)
  if (effort === 'none') return way === 'none' ? {} : { thinking: { type: 'disabled' } }
  if (way === 'none') throw new UnsupportedOption(`${model} doesn't take modelOptions.reasoningEffort: it has no reasoning`)
  if (way === 'adaptive') return { effort: efforts[effort], thinking: { type: 'adaptive', ...bound(modelId).thinking } }
  const budgetTokens = budgets[effort]
  return budgetTokens === undefined || isAmidOthersCalls(prompt) ? {} : { thinking: { type: 'enabled', budgetTokens } }
}

/** Newer models choose how much they think; a budget is what the older ones take, and those of others that speak this format. */
function wayOf(modelId: string): 'adaptive' | 'budget' | 'none' {
  if (!modelId.includes('claude') || modelId.includes('claude-3-7')) return 'budget'
  if (/claude-(instant|v?[123])(?![0-9])/.test(modelId)) return 'none'
  const minor = /claude-(?:opus|sonnet|haiku)-4(?:[-.](\d+))?/.exec(modelId)
  if (minor === null) return 'adaptive'
  const [, digits = '0'] = minor
  return digits.length > 2 || Number(digits) < 6 ? 'budget' : 'adaptive' // more digits are a date
}

/**
 * The newest models refuse thoughts before which anything changed, be it by another version of the runtime, unless they are told to
 * pass over those.
 */
function bound(modelId: string): { thinking?: { blockBinding: { prefixMismatchBehavior: 'drop_block' } } } {
  const isBound = /claude-((fable|mythos)-5-[1-9]|(opus|sonnet|haiku)-5-5)/.test(modelId)
  return isBound ? { thinking: { blockBinding: { prefixMismatchBehavior: 'drop_block' } } } : {}
}

/** A model that thinks up to a budget refuses to go on, thinking, from calls that were made without its thoughts. */
function isAmidOthersCalls(prompt: LanguageModelV3Prompt): boolean {
  const last = prompt.findLast(({ role }) => role === 'assistant')
  if (last?.role !== 'assistant') return false
  return last.content.some(({ type }) => type === 'tool-call') && last.content[0]?.type !== 'reasoning'
}
