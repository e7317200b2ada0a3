// Owns the way from the runtime's messages to the SDK's prompt, by a vendor's rules. Append-only: a longer history only adds (TU-9).
import type { LanguageModelV3FunctionTool, LanguageModelV3Message, LanguageModelV3Prompt, SharedV3ProviderOptions } from '@ai-sdk/provider'
import type { ImageBlockOf } from '@quiesce/schema'
import type { ModelMessage, ToolSpec } from './model.ts'
import { unsealed, type VendorKey } from './vendor-seal.ts'

export interface PromptRules {
  /** `provider/model`: the one whose sealed blocks go back. */
  model: string
  vendor: VendorKey
  /** Where the SDK looks for what goes back with a block, if not under the vendor's key. */
  sealKey?: string
  /** Whether reasoning that nobody sealed goes back, as text. */
  plainReasoning: boolean
  /** The ids of calls that the vendor takes; another one is replaced by the runtime's own. */
  callIds: RegExp
  /** Whether the input of a call must be an object. */
  objectInputs: boolean
  /** Whether a text without a word must be left out. */
  noBlankText: boolean
  /** Where a tool's images go: into its result, or into a user message right behind the results. */
  resultImages: 'inside' | 'behind'
}

type Content<Role> = Extract<LanguageModelV3Message, { role: Role; content: unknown[] }>['content']
type UserPart = Content<'user'>[number]
type AssistantPart = Content<'assistant'>[number]
type ToolPart = Content<'tool'>[number]
type Block = ModelMessage['content'][number]
type BlockOf<Type> = Extract<Block, { type: Type }>

/** A block that a model can't be told; its message is for the failure of the step. */
export class UnsupportedContent extends Error {}

/**
 * *Contract:* throws UnsupportedContent for files, and for images without data. Unknown blocks, reasoning that isn't this model's to
 * see, and messages without anything else, are left out.
 */
export function promptOf(system: string, messages: readonly ModelMessage[], rules: PromptRules): LanguageModelV3Prompt {
  const calls = new Calls(rules)
  const prompt: LanguageModelV3Prompt = system === '' ? [] : [{ role: 'system', content: system }]
  for (const message of messages) prompt.push(...mapMessage(message, rules, calls).filter(({ content }) => content.length > 0))
  return prompt
}

export function toolsOf(specs: readonly ToolSpec[]): LanguageModelV3FunctionTool[] {
  return specs.map(({ name, description, parameters }) => ({ type: 'function', name, description, inputSchema: parameters }))
}

function mapMessage({ role, content }: ModelMessage, rules: PromptRules, calls: Calls): LanguageModelV3Message[] {
  if (role === 'user') return [{ role, content: content.flatMap((block) => userPart(block, rules)) }]
  if (role === 'assistant')
    return [
      {
        role,
        content: trimmed(
          content.flatMap((block) => assistantPart(block, rules, calls)),
          rules,
        ),
      },
    ]
  const results = content.filter((block): block is BlockOf<'tool_result'> => block.type === 'tool_result')
  const behind = rules.resultImages === 'behind' ? results.flatMap((result) => imagesBehind(result, calls)) : []
  return [
    { role: 'tool', content: results.map((result) => resultPart(result, rules, calls)) },
    { role: 'user', content: behind },
  ]
}

function userPart(block: Block, rules: PromptRules): UserPart[] {
  if (block.type === 'text') return isLeftOut(block.text, rules) ? [] : [{ type: 'text', text: block.text }]
  if (block.type === 'image') return [imagePart(block)]
  if (block.type === 'file') throw unsupported(block.type, 'send text')
  return []
}

function assistantPart(block: Block, rules: PromptRules, calls: Calls): AssistantPart[] {
  const seal = 'signature' in block ? unsealed(block.signature, rules.model, rules.vendor) : undefined
  const options = seal === undefined ? {} : { providerOptions: { [rules.sealKey ?? rules.vendor]: seal } }
  switch (block.type) {
    case 'reasoning': {
      const isTheirs = seal !== undefined || (rules.plainReasoning && block.signature === undefined)
      return isTheirs ? [{ type: 'reasoning', text: block.text, ...options }] : []
    }
    case 'tool_use': {
      const { id, name } = calls.add(block)
      return [{ type: 'tool-call', toolCallId: id, toolName: name, input: inputOf(block.input, rules), ...options }]
    }
    case 'text':
      return isLeftOut(block.text, rules) ? [] : [{ type: 'text', text: block.text, ...options }]
    case 'image':
    case 'file':
      throw unsupported(block.type, 'send text')
    default:
      return []
  }
}

/** Anthropic's SDK trims the text that ends a request; trimming it always is what keeps the bytes. */
function trimmed(content: AssistantPart[], { noBlankText }: PromptRules): AssistantPart[] {
  const last = content.at(-1)
  return noBlankText && last?.type === 'text' ? [...content.slice(0, -1), { ...last, text: last.text.trim() }] : content
}

function resultPart({ callId, content, images, isError }: BlockOf<'tool_result'>, rules: PromptRules, calls: Calls): ToolPart {
  const { id, name } = calls.of(callId)
  const shown = rules.resultImages === 'inside' ? (images ?? []).filter(hasData) : []
  const words = content.trim() === '' ? [] : [{ type: 'text' as const, text: content }]
  const pictures = shown.map((image) => ({ type: 'image-data' as const, ...dataOf(image) }))
  const text = { type: isError === true ? ('error-text' as const) : ('text' as const), value: content }
  const output = pictures.length === 0 ? text : { type: 'content' as const, value: [...words, ...pictures] }
  return { type: 'tool-result', toolCallId: id, toolName: name, output }
}

function imagesBehind({ callId, images }: BlockOf<'tool_result'>, calls: Calls): UserPart[] {
  const shown = (images ?? []).filter(hasData)
  if (shown.length === 0) return []
  const { id, name } = calls.of(callId)
  return [{ type: 'text', text: `What ${name} showed (${id}):` }, ...shown.map(imagePart)]
}

function imagePart(image: ImageBlockOf): UserPart {
  if (!hasData(image)) throw unsupported('image', 'send its data, base64')
  return { type: 'file', ...dataOf(image) }
}

function hasData(image: ImageBlockOf): image is ImageBlockOf & { data: string } {
  return image.data !== undefined && image.data !== ''
}

/** How the data of an image begins, in base64. */
const beginnings = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
] as const

function dataOf({ data, mediaType }: ImageBlockOf & { data: string }): { data: string; mediaType: string } {
  return { data, mediaType: mediaType ?? beginnings.find(([beginning]) => data.startsWith(beginning))?.[1] ?? 'image/png' }
}

function isLeftOut(text: string, { noBlankText }: PromptRules): boolean {
  return noBlankText && text.trim() === ''
}

/** A model that wrote no object is shown what it wrote. */
function inputOf(input: unknown, { objectInputs }: PromptRules): unknown {
  if (!objectInputs || (typeof input === 'object' && input !== null && !Array.isArray(input))) return input
  return { INVALID_JSON: typeof input === 'string' ? input : JSON.stringify(input) }
}

function unsupported(type: string, instead: string): UnsupportedContent {
  return new UnsupportedContent(`the message has a block of type "${type}" that models can't be given: ${instead}`)
}

interface Call {
  id: string
  name: string
}

/** The calls so far, by the runtime's ids; each has an id of its own for the vendor, the vendor's own where that is possible. */
class Calls {
  readonly #rules: PromptRules
  readonly #calls = new Map<string, Call>()
  readonly #used = new Set<string>()

  constructor(rules: PromptRules) {
    this.#rules = rules
  }

  add({ callId, vendorCallId = '', name }: BlockOf<'tool_use'>): Call {
    const isFit = this.#rules.callIds.test(vendorCallId) && !this.#used.has(vendorCallId)
    const call = { id: isFit ? vendorCallId : ownId(callId), name: nameOf(name) }
    this.#calls.set(callId, call)
    this.#used.add(call.id)
    return call
  }

  of(callId: string): Call {
    return this.#calls.get(callId) ?? { id: ownId(callId), name: 'unknown' }
  }
}

/** Short and plain enough for every vendor: at most 40 letters, digits and underscores. */
function ownId(callId: string): string {
  return callId.replaceAll(/\W/g, '').slice(0, 40)
}

/** A model may call what no tool can be named; vendors refuse such a name in a history. */
function nameOf(name: string): string {
  return name.replaceAll(/[^\w-]/g, '_').slice(0, 64) || 'unknown'
}

/** Marks where a vendor's cache is to be written: the end of this request, and of the one before, which its cache is sure to have. */
export function marked(prompt: LanguageModelV3Prompt, mark: SharedV3ProviderOptions): LanguageModelV3Prompt {
  const system = prompt[0]?.role === 'system' ? 0 : -1
  const before = prompt.findLastIndex(({ role }) => role === 'assistant') - 1
  const places = new Set([system, before, prompt.length - 1])
  return prompt.map((message, index) => (places.has(index) ? { ...message, providerOptions: mark } : message))
}
