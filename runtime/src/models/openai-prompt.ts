// Owns the way from the runtime's messages to the provider's prompt. Append-only: a longer history only adds (TU-9).
import type { LanguageModelV3FunctionTool, LanguageModelV3Message, LanguageModelV3Prompt } from '@ai-sdk/provider'
import type { ModelMessage, ToolSpec } from './model.ts'

type AssistantPart = Extract<LanguageModelV3Message, { role: 'assistant' }>['content'][number]
type ToolPart = Extract<LanguageModelV3Message, { role: 'tool' }>['content'][number]
type Call = { vendorCallId: string; name: string }

/** A block that this provider can't be told; its message is for the failure of the step. */
export class UnsupportedContent extends Error {}

/** *Contract:* throws UnsupportedContent for images and files. Unknown blocks, and messages without any known one, are left out. */
export function promptOf(system: string, messages: readonly ModelMessage[]): LanguageModelV3Prompt {
  const calls = new Map<string, Call>()
  const prompt: LanguageModelV3Prompt = system === '' ? [] : [{ role: 'system', content: system }]
  for (const message of messages) {
    const mapped = mapMessage(message, calls)
    if (mapped.content.length > 0) prompt.push(mapped)
  }
  return prompt
}

export function toolsOf(specs: readonly ToolSpec[]): LanguageModelV3FunctionTool[] {
  return specs.map(({ name, description, parameters }) => ({ type: 'function', name, description, inputSchema: parameters }))
}

function mapMessage({ role, content }: ModelMessage, calls: Map<string, Call>): LanguageModelV3Message {
  if (role === 'user') return { role, content: content.flatMap((block) => (isText(block) ? [{ type: 'text', text: block.text }] : [])) }
  if (role === 'assistant') return { role, content: content.flatMap((block) => assistantPart(block, calls)) }
  return { role: 'tool', content: content.flatMap((block) => resultPart(block, calls)) }
}

type Block = ModelMessage['content'][number]

function isText(block: Block): block is Extract<Block, { type: 'text' }> {
  if (block.type === 'image' || block.type === 'file')
    throw new UnsupportedContent(`the message has a block of type "${block.type}", which openai-compatible models are not given: send text`)
  return block.type === 'text'
}

function assistantPart(block: Block, calls: Map<string, Call>): AssistantPart[] {
  if (block.type === 'reasoning') return [{ type: 'reasoning', text: block.text }]
  if (block.type === 'tool_use') {
    const vendorCallId = block.vendorCallId ?? block.callId
    calls.set(block.callId, { vendorCallId, name: block.name })
    return [{ type: 'tool-call', toolCallId: vendorCallId, toolName: block.name, input: block.input }]
  }
  return isText(block) ? [{ type: 'text', text: block.text }] : []
}

function resultPart(block: Block, calls: ReadonlyMap<string, Call>): ToolPart[] {
  if (block.type !== 'tool_result') return []
  const { vendorCallId, name } = calls.get(block.callId) ?? { vendorCallId: block.callId, name: 'unknown' }
  const output = { type: block.isError === true ? ('error-text' as const) : ('text' as const), value: block.content }
  return [{ type: 'tool-result', toolCallId: vendorCallId, toolName: name, output }]
}
