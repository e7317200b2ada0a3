// Owns OpenAI's wire formats for tests: the events of the Responses API, and chat completions.
import { openAI } from './openai.ts'
import { chatFormat, event, halves, type Said, type Trouble, type Wire } from './wire.fixture.ts'

export const openAIChatWire: Wire = { ...chatFormat, name: 'openai chat', make: (settings) => openAI({ ...settings, api: 'chat' }) }

export function responseEvent(type: string, data: object): string {
  return event({ type, sequence_number: 0, ...data }, type)
}

const codes: Readonly<Record<Trouble, string>> = {
  overloaded: 'server_overloaded',
  'rate limit': 'rate_limit_exceeded',
  internal: 'server_error',
  request: 'invalid_prompt',
  auth: 'invalid_api_key',
  context: 'context_length_exceeded',
}

export const created = responseEvent('response.created', { response: { id: 'resp_1', created_at: 1, model: 'm' } })

export const responsesWire: Wire = {
  ...chatFormat,
  name: 'openai responses',
  path: '/v1/responses',
  make: (settings) => openAI({ ...settings, api: 'responses' }),
  // Completed says nothing more; a call makes it one of calls.
  finishes: { stop: ['completed'], length: ['max_output_tokens'], tool_calls: ['completed'], content_filter: ['content_filter'] },
  noFinishes: ['bored', 'without a reason', 'failed'],
  answer: ({ text = [], calls = [], finish, usage }) => {
    const events = [created]
    if (text.length > 0) events.push(...messageItem(text))
    for (const call of calls) events.push(...callItem(call))
    return finish === undefined ? events : [...events, ended(finish, usage)]
  },
  trouble: (trouble, message) => responseEvent('error', { code: codes[trouble], message, param: null }),
}

export function messageItem(text: readonly string[], item: object = {}): string[] {
  const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'in_progress', content: [], ...item }
  return [
    responseEvent('response.output_item.added', { output_index: 0, item: message }),
    responseEvent('response.content_part.added', { item_id: 'msg_1', output_index: 0, content_index: 0, part: { type: 'output_text' } }),
    ...text.map((delta) => responseEvent('response.output_text.delta', { item_id: 'msg_1', output_index: 0, content_index: 0, delta })),
    responseEvent('response.output_item.done', { output_index: 0, item: { ...message, status: 'completed' } }),
  ]
}

export function callItem({ id, name, arguments: written }: { id: string; name: string; arguments: string }): string[] {
  const item = { type: 'function_call', id: `fc_${id}`, call_id: id, name, status: 'in_progress' }
  const at = { item_id: item.id, output_index: 1 }
  return [
    responseEvent('response.output_item.added', { output_index: 1, item: { ...item, arguments: '' } }),
    ...halves(written).map((delta) => responseEvent('response.function_call_arguments.delta', { ...at, delta })),
    responseEvent('response.function_call_arguments.done', { ...at, arguments: written }),
    responseEvent('response.output_item.done', { output_index: 1, item: { ...item, status: 'completed', arguments: written } }),
  ]
}

export interface Thought {
  id: string
  /** A text for each part. */
  summary: readonly string[]
  encrypted: string
}

export function reasoningItem({ id, summary, encrypted }: Thought): string[] {
  const parts = summary.flatMap((text, index) => {
    const at = { item_id: id, output_index: 0, summary_index: index }
    return [
      responseEvent('response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } }),
      ...halves(text).map((delta) => responseEvent('response.reasoning_summary_text.delta', { ...at, delta })),
      responseEvent('response.reasoning_summary_part.done', { ...at, part: { type: 'summary_text', text } }),
    ]
  })
  // What is encrypted when it begins is not yet the whole.
  const item = { type: 'reasoning', id, summary: [] }
  return [
    responseEvent('response.output_item.added', { output_index: 0, item: { ...item, encrypted_content: 'not-yet' } }),
    ...parts,
    responseEvent('response.output_item.done', { output_index: 0, item: { ...item, encrypted_content: encrypted } }),
  ]
}

export function ended(finish: string, usage?: Said['usage']): string {
  const response = { id: 'resp_1', created_at: 1, model: 'm', ...(usage === undefined ? {} : { usage: counted(usage) }) }
  if (finish === 'completed') return responseEvent('response.completed', { response })
  if (finish === 'failed') return responseEvent('response.failed', { response: { ...response, error: null } })
  const reason = finish === 'without a reason' ? null : { reason: finish }
  return responseEvent('response.incomplete', { response: { ...response, incomplete_details: reason } })
}

function counted({ input, cached = 0, output, reasoning = 0 }: NonNullable<Said['usage']>): object {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  }
}
