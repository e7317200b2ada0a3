// Owns the wire format of Anthropic's Messages API for tests.
import { anthropic } from './anthropic.ts'
import { event, halves, type Said, type Trouble, type Wire } from './wire.fixture.ts'

type Usage = NonNullable<Said['usage']>

export function messageEvent(type: string, data: object = {}): string {
  return event({ type, ...data }, type)
}

const types: Readonly<Record<Trouble, string>> = {
  overloaded: 'overloaded_error',
  'rate limit': 'rate_limit_error',
  internal: 'api_error',
  request: 'invalid_request_error',
  auth: 'authentication_error',
  context: 'invalid_request_error',
}

/** Only its words tell that a prompt is too long. */
const words = (trouble: Trouble, message: string) => (trouble === 'context' ? `prompt is too long: ${message}` : message)

export const anthropicWire: Wire = {
  name: 'anthropic messages',
  path: '/v1/messages',
  make: anthropic,
  keyHeader: (apiKey) => ['x-api-key', apiKey],
  finishes: {
    stop: ['end_turn', 'stop_sequence'],
    length: ['max_tokens', 'model_context_window_exceeded'],
    tool_calls: ['tool_use'],
    content_filter: ['refusal'],
  },
  noFinishes: ['pause_turn', 'compaction', 'bored'],
  answer: ({ text = [], calls = [], finish, usage }) => {
    const blocks = [
      ...(text.length > 0 ? [textBlock(text)] : []),
      ...calls.map(({ id, name, arguments: written }) => callBlock(id, name, written)),
    ]
    const events = [started(usage), ...blocks.flatMap((block, index) => block(index))]
    return finish === undefined ? events : [...events, ...stopped(finish, usage)]
  },
  trouble: (trouble, message) => messageEvent('error', { error: { type: types[trouble], message: words(trouble, message) } }),
  refusal: (trouble, message) => JSON.stringify({ type: 'error', error: { type: types[trouble], message: words(trouble, message) } }),
  ping: messageEvent('ping'),
}

/** The events of a block, by its index. */
export type WireBlock = (index: number) => string[]

export function textBlock(pieces: readonly string[]): WireBlock {
  return block({ type: 'text', text: '' }, ...pieces.map((text) => ({ type: 'text_delta', text })))
}

export function callBlock(id: string, name: string, written: string): WireBlock {
  const pieces = halves(written).map((half) => ({ type: 'input_json_delta', partial_json: half }))
  return block({ type: 'tool_use', id, name, input: {} }, { type: 'input_json_delta', partial_json: '' }, ...pieces)
}

export function thinkingBlock(text: string, signature: string): WireBlock {
  const pieces = halves(text).map((thinking) => ({ type: 'thinking_delta', thinking }))
  return block({ type: 'thinking', thinking: '', signature: '' }, ...pieces, { type: 'signature_delta', signature })
}

export function redactedBlock(data: string): WireBlock {
  return block({ type: 'redacted_thinking', data })
}

function block(content_block: object, ...deltas: object[]): WireBlock {
  return (index) => [
    messageEvent('content_block_start', { index, content_block }),
    ...deltas.map((delta) => messageEvent('content_block_delta', { index, delta })),
    messageEvent('content_block_stop', { index }),
  ]
}

/** Anthropic counts what came from its cache beside the rest of the input. */
export function started({ input, cached = 0 }: Partial<Usage> = {}, written = 0): string {
  const usage = {
    input_tokens: Math.max(0, (input ?? 0) - cached - written),
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: written,
    output_tokens: 1,
  }
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  }
  return messageEvent('message_start', { message })
}

export function stopped(finish: string, { output = 0, reasoning }: Partial<Usage> = {}): string[] {
  const details = reasoning === undefined ? {} : { output_tokens_details: { thinking_tokens: reasoning } }
  return [
    messageEvent('message_delta', { delta: { stop_reason: finish, stop_sequence: null }, usage: { output_tokens: output, ...details } }),
    messageEvent('message_stop'),
  ]
}

export function answerOf(blocks: readonly WireBlock[], finish: string): string[] {
  return [started(), ...blocks.flatMap((made, index) => made(index)), ...stopped(finish)]
}
