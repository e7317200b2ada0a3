import type { FactErrorOf } from '@quiesce/schema'
import { afterEach, describe, expect, it } from 'vitest'
import { type ChatAnswer, type ChatServer, startChatServer } from '../../../conformance/fixtures/chat-server.mjs'
import { ManualClock } from '../base/clock.ts'
import { deferred } from '../base/deferred.ts'
import { countedIds } from '../base/ids.ts'
import type { Model, ModelMessage, ModelPart, ModelRequest } from './model.ts'
import { openAICompatible } from './openai-compatible.ts'
import { requestAnswer } from './request.ts'
import { defaultRetry } from './retry.ts'

const apiKey = 'sk-very/secret+key"1'
let server: ChatServer

async function serve(...answers: ChatAnswer[]): Promise<Model> {
  server = await startChatServer(answers)
  return openAICompatible({ name: 'openai-compatible/m', modelId: 'm', baseURL: server.baseURL, apiKey, now: () => Date.UTC(2026, 0, 1) })
}

afterEach(() => server.close())

const hello: ModelMessage[] = [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }]

function request(over: Partial<ModelRequest> = {}): ModelRequest {
  return { system: 'be kind', messages: hello, tools: [], options: {}, signal: new AbortController().signal, ...over }
}

async function partsOf(model: Model, asked = request()): Promise<ModelPart[]> {
  const parts: ModelPart[] = []
  for await (const part of model.stream(asked)) parts.push(part)
  return parts
}

const failureOf = (parts: readonly ModelPart[]) => parts.find((part) => part.type === 'failure')
const sentBody = (index: number) => JSON.parse(server.requests[index]!.body)

describe('a stream that ends well', () => {
  it('gives reasoning, text, tool input and calls, then the finish with the usage', async () => {
    const model = await serve({
      reasoning: 'hm',
      chunks: ['one ', 'two'],
      toolCalls: [
        { id: 'c1', name: 'read_file', arguments: { path: 'a' }, pieces: 3 },
        { id: 'c2', name: 'glob', arguments: '' },
      ],
      usage: {
        prompt_tokens: 100,
        completion_tokens: 20,
        prompt_tokens_details: { cached_tokens: 64 },
        completion_tokens_details: { reasoning_tokens: 7 },
      },
    })
    const parts = await partsOf(model)
    expect(parts.filter((part) => part.type !== 'tool_input')).toEqual([
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'one ' },
      { type: 'text', text: 'two' },
      { type: 'tool_call', vendorCallId: 'c1', name: 'read_file', input: { path: 'a' } },
      { type: 'tool_call', vendorCallId: 'c2', name: 'glob', input: {} },
      { type: 'finish', finish: 'tool_calls', usage: { inputTokens: 100, outputTokens: 20, cachedInputTokens: 64, reasoningTokens: 7 } },
    ])
    const inputs = parts.flatMap((part) => (part.type === 'tool_input' && part.index === 0 ? [part.text] : []))
    expect(inputs.length).toBeGreaterThan(1)
    expect(inputs.join('')).toBe('{"path":"a"}')
  })

  it.each([
    [{ text: 'x' }, { finish: 'stop' }],
    [{ text: 'x', finish: 'length' }, { finish: 'length' }],
    [{ finish: 'content_filter' }, { finish: 'content_filter' }],
    [{ text: 'x', usage: null }, { usage: { inputTokens: 0, outputTokens: 0 } }],
    [
      { text: 'x', usage: { prompt_tokens: 9, completion_tokens: 1, prompt_cache_hit_tokens: 8 } },
      { usage: { inputTokens: 9, outputTokens: 1, cachedInputTokens: 8 } },
    ],
  ] as [ChatAnswer, Partial<ModelPart>][])('%j', async (answer, wanted) => {
    expect((await partsOf(await serve(answer))).at(-1)).toMatchObject({ type: 'finish', ...wanted })
  })

  it('keeps the text of arguments that are no JSON, as where the length limit cut them', async () => {
    const parts = await partsOf(await serve({ toolCalls: [{ name: 'shell', arguments: '{"command":"ls' }], finish: 'length' }))
    expect(parts.find((part) => part.type === 'tool_call')).toMatchObject({ name: 'shell', invalid: '{"command":"ls' })
  })
})

// Every other way to end (TU-5): one failure at the end, and it says whether it is transient.
const refusals: [string, ChatAnswer, FactErrorOf['code'], boolean][] = [
  ['400', { status: 400 }, 'model_request', false],
  ['401', { status: 401 }, 'model_auth', false],
  ['403', { status: 403 }, 'model_auth', false],
  ['404', { status: 404 }, 'model_request', false],
  ['408', { status: 408 }, 'model_overloaded', true],
  ['409', { status: 409 }, 'model_overloaded', true],
  ['422', { status: 422 }, 'model_request', false],
  ['429', { status: 429 }, 'model_rate_limit', true],
  ['500', { status: 500 }, 'model_internal', true],
  ['502 with a page', { status: 502, body: '<html>Bad gateway</html>' }, 'model_internal', true],
  ['503 without a body', { status: 503, body: '' }, 'model_overloaded', true],
  ['529', { status: 529 }, 'model_overloaded', true],
  [
    'a context that is too long, by its code',
    { status: 400, error: { message: 'no', code: 'context_length_exceeded' } },
    'model_context_length',
    false,
  ],
  [
    'a context that is too long, by its words',
    { status: 400, error: { message: "This model's maximum context length is 4096 tokens" } },
    'model_context_length',
    false,
  ],
  ['no finish', { text: 'half', end: 'none' }, 'model_stream', true],
  ['no finish and no text', { end: 'none' }, 'model_stream', true],
  ['a dropped connection', { text: 'half', end: 'drop' }, 'model_stream', true],
  ['a reset connection', { text: 'half', end: 'reset' }, 'model_stream', true],
  ['a finish that nobody knows', { text: 'half', finish: 'bored' }, 'model_stream', false],
  ["the vendor's own trouble as finish", { text: 'half', finish: 'insufficient_system_resource' }, 'model_overloaded', true],
  ['an event that is no JSON', { text: 'half', events: ['{"choices":'], end: 'stall' }, 'model_stream', true],
  ['an error event', { text: 'half', end: 'error' }, 'model_stream', true],
  ['an error event, then a finish', { text: 'half', events: ['{"error":{"message":"no"}}'] }, 'model_stream', true],
  ['an error event that is a text', { end: 'error', error: 'overheated' }, 'model_stream', true],
  ['an error event: overloaded', { end: 'error', error: { message: 'x', type: 'overloaded_error' } }, 'model_overloaded', true],
  ['an error event: rate limit', { end: 'error', error: { message: 'x', code: 'rate_limit_exceeded' } }, 'model_rate_limit', true],
  ['an error event: server', { end: 'error', error: { message: 'x', type: 'server_error' } }, 'model_internal', true],
  ['an error event with a status', { end: 'error', error: { message: 'x', code: 529 } }, 'model_overloaded', true],
  ['an error event: request', { end: 'error', error: { message: 'x', type: 'invalid_request_error' } }, 'model_request', false],
  ['an error event: key', { end: 'error', error: { message: 'x', type: 'authentication_error' } }, 'model_auth', false],
  [
    'an error event: context',
    { end: 'error', error: { message: 'prompt is too long', type: 'invalid_request_error' } },
    'model_context_length',
    false,
  ],
]

describe('a stream that fails', () => {
  it.each(refusals)('%s', async (_, answer, code, retryable) => {
    const parts = await partsOf(await serve(answer))
    expect(parts.at(-1)).toMatchObject({ type: 'failure', error: { code, retryable } })
    expect(parts.filter(({ type }) => type === 'failure' || type === 'finish')).toHaveLength(1)
    if ('text' in answer) expect(parts[0]).toEqual({ type: 'text', text: 'half' })
  })

  it('is a network failure where nobody listens', async () => {
    const model = await serve()
    await server.close()
    expect(await partsOf(model)).toMatchObject([{ type: 'failure', error: { code: 'model_network', retryable: true } }])
    server = await startChatServer([])
  })

  it.each([
    [{ 'retry-after': '2' }, 2000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after-ms': '120', 'retry-after': '2' }, 120],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:07 GMT' }, 7000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
  ])('honours %j', async (headers, retryAfterMs) => {
    const [failure] = await partsOf(await serve({ status: 429, headers }))
    expect(failure).toMatchObject({ type: 'failure' })
    expect(failure).toEqual(
      retryAfterMs === undefined
        ? expect.not.objectContaining({ retryAfterMs: expect.anything() })
        : expect.objectContaining({ retryAfterMs }),
    )
  })

  it.each([
    ['a status', { status: 401, error: { message: `Incorrect API key: ${apiKey}` } }],
    ['a status with a page', { status: 500, body: apiKey }],
    ['an error event', { end: 'error', error: { message: `bad ${apiKey}` } }],
    ['an error event of no known form', { end: 'error', error: { key: apiKey, url: `/?k=${encodeURIComponent(apiKey)}` } }],
  ] as [string, ChatAnswer][])('says no key, whatever the vendor says: %s', async (_, answer) => {
    const text = JSON.stringify(failureOf(await partsOf(await serve(answer))))
    expect(text).not.toMatch(/secret.{1,5}key/)
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${apiKey}`)
  })

  it('says no key where the key itself makes the request impossible', async () => {
    server = await startChatServer([])
    const model = openAICompatible({ name: 'x/m', modelId: 'm', baseURL: server.baseURL, apiKey: 'sk-hidden\nkey', now: Date.now })
    const [failure] = await partsOf(model)
    expect(failure).toMatchObject({ error: { code: 'model_request', retryable: false } })
    expect(JSON.stringify(failure)).not.toContain('hidden')
  })

  it('refuses images and files in words', async () => {
    const model = await serve()
    const messages: ModelMessage[] = [{ role: 'user', content: [{ type: 'image', data: '', mediaType: 'image/png' }] }]
    expect(await partsOf(model, request({ messages }))).toMatchObject([
      { type: 'failure', error: { code: 'model_request', message: expect.stringContaining('"image"'), retryable: false } },
    ])
    expect(server.requests).toEqual([])
  })
})

describe('a request', () => {
  it('carries the model, the options, the tools and the messages', async () => {
    const model = await serve({ text: 'x' })
    await partsOf(
      model,
      request({
        tools: [{ name: 'glob', description: 'finds', parameters: { type: 'object', properties: {} } }],
        options: {
          temperature: 0.5,
          maxOutputTokens: 9,
          stop: ['END'],
          seed: 7,
          reasoningEffort: 'low',
          providerOptions: { top_k: 3, nested: { a_b: 1 } },
        },
      }),
    )
    expect(sentBody(0)).toEqual({
      model: 'm',
      max_tokens: 9,
      temperature: 0.5,
      stop: ['END'],
      seed: 7,
      top_k: 3,
      nested: { a_b: 1 },
      reasoning_effort: 'low',
      messages: [
        { role: 'system', content: 'be kind' },
        { role: 'user', content: 'hello' },
      ],
      tools: [{ type: 'function', function: { name: 'glob', description: 'finds', parameters: { type: 'object', properties: {} } } }],
      stream: true,
      stream_options: { include_usage: true },
    })
    expect(server.requests[0]?.path).toBe('/v1/chat/completions')
    expect(server.requests[0]?.headers['user-agent']).toMatch(/^quiesce/)
  })

  // TU-9, at the server: the earlier request's messages are a prefix of the later one's, byte for byte.
  it('only grows from step to step', async () => {
    const model = await serve(
      { reasoning: 'hm', text: 'looking', toolCalls: [{ id: 'c1', name: 'glob', arguments: '{ "pattern" : "*" }', pieces: 4 }] },
      { toolCalls: [{ id: 'c2', name: 'shell', arguments: '{"command":' }] },
      { text: 'done' },
    )
    const ids = countedIds()
    const messages: ModelMessage[] = [...hello]
    for (const results of [['a.txt'], ['bad input'], []]) {
      const outcome = await requestAnswer(model, request({ messages: [...messages] }), {
        clock: new ManualClock(),
        retry: { ...defaultRetry, attempts: 1 },
        random: () => 0,
        newCallId: () => ids('call'),
        onPart: () => undefined,
        onRetry: async () => undefined,
      })
      if (outcome.kind !== 'answer') throw new Error(`no answer: ${JSON.stringify(outcome)}`)
      messages.push({ role: 'assistant', content: outcome.content })
      const calls = outcome.content.flatMap((block) => (block.type === 'tool_use' ? [block] : []))
      if (calls.length === 0) continue
      messages.push({
        role: 'tool',
        content: calls.map(({ callId }, index) => ({ type: 'tool_result', callId, content: results[index]!, isError: false })),
      })
    }
    const sent = server.requests.map(({ body }) => /"messages":(\[.*\])(?=,"stream")/.exec(body)?.[1] ?? '')
    expect(sent).toHaveLength(3)
    expect(sent[1]?.startsWith(sent[0]!.slice(0, -1))).toBe(true)
    expect(sent[2]?.startsWith(sent[1]!.slice(0, -1))).toBe(true)
    expect(sentBody(2).messages.slice(2)).toEqual([
      {
        role: 'assistant',
        content: 'looking',
        reasoning_content: 'hm',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'glob', arguments: '{"pattern":"*"}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'a.txt' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c2', type: 'function', function: { name: 'shell', arguments: '"{\\"command\\":"' } }],
      },
      { role: 'tool', tool_call_id: 'c2', content: 'bad input' },
    ])
  })

  it('shares connections with the next', async () => {
    const model = await serve(...Array.from({ length: 9 }, (_, index): ChatAnswer => (index % 3 === 1 ? { status: 503 } : { text: 'a' })))
    for (let count = 0; count < 9; count += 1) await partsOf(model)
    expect(server.requests).toHaveLength(9)
    expect(server.connections).toBeLessThanOrEqual(2) // the second where a request comes before the last connection is free
  })
})

describe('an abort', () => {
  it.each([
    ['before any answer', { silent: true }, 0],
    ['before any word', { end: 'stall' }, 0],
    ['amid the text', { text: 'a', end: 'stall' }, 1],
  ] as [string, ChatAnswer, number][])('%s ends the stream, and the connection', async (_, answer, count) => {
    const model = await serve(answer)
    const abort = new AbortController()
    const parts: ModelPart[] = []
    if (count === 0) void server.arrived(0).then(() => abort.abort())
    for await (const part of model.stream(request({ signal: abort.signal }))) {
      parts.push(part)
      if (parts.length === count) abort.abort()
    }
    await server.left(0)
    expect(parts).toEqual([{ type: 'text', text: 'a' }].slice(0, count))
  })
})

describe('retries over the wire', () => {
  const messages = hello
  class ImpatientClock extends ManualClock {
    readonly waits: number[] = []

    override after(ms: number, callback: () => void): () => void {
      if (ms < defaultRetry.betweenBytesMs) {
        this.waits.push(ms)
        queueMicrotask(() => this.advance(ms))
      }
      return super.after(ms, callback)
    }
  }
  const ask = (model: Model, clock: ManualClock, attempts = defaultRetry.attempts) =>
    requestAnswer(model, request({ messages }), {
      clock,
      retry: { ...defaultRetry, attempts },
      random: () => 1,
      newCallId: () => 'call_1',
      onPart: () => undefined,
      onRetry: async () => undefined,
    })

  it('get over a busy server, a dropped stream and an empty answer, with the same bytes each time', async () => {
    const model = await serve(
      { status: 429, headers: { 'retry-after': '3' } },
      { text: 'half', end: 'drop' },
      { usage: null },
      { text: 'whole' },
    )
    const clock = new ImpatientClock()
    expect(await ask(model, clock)).toMatchObject({ kind: 'answer', content: [{ type: 'text', text: 'whole' }] })
    expect(clock.waits).toEqual([3000, 1000, 2000])
    expect(new Set(server.requests.map(({ body }) => body)).size).toBe(1)
  })

  it.each([
    ['before', { silent: true }, defaultRetry.firstByteMs],
    ['amid', { text: 'half', end: 'stall' }, defaultRetry.betweenBytesMs],
  ] as [string, ChatAnswer, number][])('leave a server that falls silent %s the answer', async (_, answer, ms) => {
    const model = await serve(answer)
    const clock = new ManualClock()
    const heard = deferred()
    const outcome = requestAnswer(model, request({ messages }), {
      clock,
      retry: { ...defaultRetry, attempts: 1 },
      random: () => 1,
      newCallId: () => 'call_1',
      onPart: () => heard.resolve(),
      onRetry: async () => undefined,
    })
    await (answer.silent === true ? server.arrived(0) : heard.promise)
    clock.advance(ms)
    expect(await outcome).toMatchObject({ kind: 'failure', error: { code: 'model_stalled' } })
    await server.left(0)
  })
})

it('lets bytes be heard that are no part', async () => {
  const model = await serve({ comments: 3, text: 'a' })
  let heard = 0
  const onBytes = () => {
    heard += 1
  }
  const before: number[] = []
  for await (const part of model.stream(request({ onBytes }))) if (part.type === 'text') before.push(heard)
  expect(before[0]).toBeGreaterThan(0)
})
