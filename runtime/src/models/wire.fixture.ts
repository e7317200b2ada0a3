// Owns what the tests of vendors say in every wire format: answers, errors, and the model that reads them.
import type { Model } from './model.ts'
import { openAICompatible } from './openai-compatible.ts'
import type { VendorSettings } from './vendor-settings.ts'

export interface Call {
  id: string
  name: string
  /** As the model wrote it; sent in two pieces. */
  arguments: string
}

export interface Said {
  /** In pieces. */
  text?: readonly string[]
  calls?: readonly Call[]
  /** In the vendor's own word, see `Wire.finishes`; none: the answer has no end. */
  finish?: string
  usage?: { input: number; cached?: number; output: number; reasoning?: number }
}

/** What can be wrong at a vendor's, or with a request. */
export type Trouble = 'overloaded' | 'rate limit' | 'internal' | 'request' | 'auth' | 'context'

export interface Wire {
  name: string
  path: string
  make(settings: VendorSettings): Model
  /** The header that carries the key. */
  keyHeader(apiKey: string): [name: string, value: string]
  /** The vendor's words for the four ways to end an answer. */
  finishes: Readonly<Record<'stop' | 'length' | 'tool_calls' | 'content_filter', readonly string[]>>
  /** Words that end no answer. */
  noFinishes: readonly string[]
  /** The events of an answer, as they are sent. */
  answer(said: Said): string[]
  /** An event. */
  trouble(trouble: Trouble, message: string): string
  /** The body of a status. */
  refusal(trouble: Trouble, message: string): string
  /** A keep-alive event that means nothing. */
  ping: string
}

export function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '')
}

export function event(data: unknown, name?: string): string {
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
}

const troubles: Readonly<Record<Trouble, { type: string; code: string | null }>> = {
  overloaded: { type: 'server_error', code: 'server_overloaded' },
  'rate limit': { type: 'requests', code: 'rate_limit_exceeded' },
  internal: { type: 'server_error', code: null },
  request: { type: 'invalid_request_error', code: null },
  auth: { type: 'invalid_request_error', code: 'invalid_api_key' },
  context: { type: 'invalid_request_error', code: 'context_length_exceeded' },
}

/** Chat completions, as OpenAI and many others speak them. */
export const chatFormat: Omit<Wire, 'name' | 'make'> = {
  path: '/v1/chat/completions',
  keyHeader: (apiKey) => ['authorization', `Bearer ${apiKey}`],
  finishes: { stop: ['stop'], length: ['length'], tool_calls: ['tool_calls', 'function_call'], content_filter: ['content_filter'] },
  noFinishes: ['error', 'bored'],
  answer: chatAnswer,
  trouble: (trouble, message) => event({ error: { message, param: null, ...troubles[trouble] } }),
  refusal: (trouble, message) => JSON.stringify({ error: { message, param: null, ...troubles[trouble] } }),
  ping: ': keep-alive\n\n',
}

export const compatibleWire: Wire = { ...chatFormat, name: 'compatible chat', make: openAICompatible }

export function chatChunk(delta: object, finish: string | null = null): string {
  return event({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })
}

function chatAnswer({ text = [], calls = [], finish, usage }: Said): string[] {
  const events = [chatChunk({ role: 'assistant', content: '' }), ...text.map((content) => chatChunk({ content }))]
  calls.forEach(({ id, name, arguments: written }, index) => {
    events.push(chatChunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }))
    for (const half of halves(written)) events.push(chatChunk({ tool_calls: [{ index, function: { arguments: half } }] }))
  })
  if (finish === undefined) return events
  events.push(chatChunk({}, finish))
  if (usage !== undefined) events.push(event({ choices: [], usage: chatUsage(usage) }))
  return [...events, 'data: [DONE]\n\n']
}

function chatUsage({ input, cached = 0, output, reasoning = 0 }: NonNullable<Said['usage']>): object {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  }
}
