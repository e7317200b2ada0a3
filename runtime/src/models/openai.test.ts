import type { ContentBlockOf, ModelOptionsOf } from '@quiesce/schema'
import { afterEach, describe, expect, it } from 'vitest'
import type { Model, ModelMessage, ModelRequest } from './model.ts'
import { openAI } from './openai.ts'
import {
  callItem,
  created,
  ended,
  messageItem,
  openAIChatWire,
  reasoningItem,
  responseEvent,
  responsesWire,
} from './openai-wire.fixture.ts'
import { added, answer, hello, partsOf, request, settingsAt } from './vendor-request.fixture.ts'
import { type Reply, VendorServer } from './vendor-server.fixture.ts'
import type { OpenAISettings } from './vendor-settings.ts'
import { chatChunk } from './wire.fixture.ts'

let server: VendorServer
afterEach(() => server?.close())

type API = OpenAISettings['api']
const fine: Readonly<Record<API, Reply>> = {
  responses: { body: responsesWire.answer({ text: ['x'], finish: 'completed' }) },
  chat: { body: openAIChatWire.answer({ text: ['x'], finish: 'stop' }) },
}
const tools = [{ name: 'glob', description: 'finds', parameters: { type: 'object', properties: {} } }]
const png = { type: 'image' as const, data: 'aGk=', mediaType: 'image/png' }
const url = 'data:image/png;base64,aGk='

async function serve(api: API, replies: readonly Reply[], over: Partial<OpenAISettings> = {}): Promise<Model> {
  server = await VendorServer.start(...replies)
  return openAI({ ...settingsAt(server, { modelId: 'gpt-5.4' }), api, ...over })
}

/** What the server is asked. */
async function bodyOf(api: API, over: Partial<ModelRequest>, modelId = 'gpt-5.4'): Promise<Record<string, unknown>> {
  await partsOf(await serve(api, [fine[api]], { modelId }), request(over))
  await server.close()
  return server.body(0)
}

async function refusalOf(api: API, options: ModelOptionsOf, modelId?: string): Promise<string> {
  const parts = await partsOf(await serve(api, [fine[api]], modelId === undefined ? {} : { modelId }), request({ options }))
  expect(parts).toMatchObject([{ type: 'failure', error: { code: 'model_request', retryable: false } }])
  return parts[0]?.type === 'failure' ? parts[0].error.message : ''
}

function use(callId: string, vendorCallId: string, input: unknown = {}): ContentBlockOf & { type: 'tool_use' } {
  return { type: 'tool_use', callId, vendorCallId, name: 'glob', input }
}

const showing: ModelMessage[] = [
  { role: 'user', content: [{ type: 'text', text: 'see' }, png] },
  { role: 'assistant', content: [use('call_1', 'v1'), use('call_2', 'v2')] },
  {
    role: 'tool',
    content: [
      { type: 'tool_result', callId: 'call_1', content: 'a picture', images: [png] },
      { type: 'tool_result', callId: 'call_2', content: 'none' },
    ],
  },
]

describe('the Responses API', () => {
  it('is asked with the options, and to keep nothing: reasoning comes back encrypted', async () => {
    const options = { maxOutputTokens: 9, reasoningEffort: 'low', providerOptions: { textVerbosity: 'low', reasoningSummary: 'auto' } }
    expect(await bodyOf('responses', { tools, options, sessionId: 'ses_1' })).toEqual({
      model: 'gpt-5.4',
      input: [
        { role: 'developer', content: 'be kind' },
        { role: 'user', content: [{ type: 'input_text', text: 'hello' }] },
      ],
      max_output_tokens: 9,
      text: { verbosity: 'low' },
      store: false,
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: 'ses_1',
      reasoning: { effort: 'low', summary: 'auto' },
      tools: [{ type: 'function', name: 'glob', description: 'finds', parameters: tools[0]!.parameters }],
      stream: true,
    })
    expect(await bodyOf('responses', { options: { temperature: 0.5, providerOptions: { topP: 0.9 } } }, 'gpt-4.1')).toMatchObject({
      temperature: 0.5,
      top_p: 0.9,
      store: false,
    })
  })

  it.each([
    [{ seed: 7 }, 'modelOptions.seed', undefined],
    [{ stop: ['END'] }, 'modelOptions.stop', undefined],
    [{ temperature: 0.5 }, 'temperature is not supported for reasoning models', undefined],
    [{ reasoningEffort: 'low' }, 'reasoningEffort is not supported for non-reasoning models', 'gpt-4.1'],
    [{ reasoningEffort: 'minimal' }, 'only supports the following', 'gpt-6-sol'],
    [{ providerOptions: { store: true } }, "providerOptions.store: a session's conversation is in its log", undefined],
    [{ providerOptions: { previousResponseId: 'r' } }, 'providerOptions.previousResponseId', undefined],
    [{ providerOptions: { conversation: 'c' } }, 'providerOptions.conversation', undefined],
    [{ providerOptions: { top_k: 3 } }, 'top_k is no option of p/m: there are allowedTools', undefined],
    [{ providerOptions: { textVerbosity: 'loud' } }, 'modelOptions.providerOptions.textVerbosity: Invalid option', undefined],
  ])('is not asked with %j', async (options, words, modelId) => {
    expect(await refusalOf('responses', options, modelId)).toContain(words)
  })

  it('is sent images, and what a tool showed inside of its output', async () => {
    expect((await bodyOf('responses', { system: '', messages: showing })).input).toMatchObject([
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'see' },
          { type: 'input_image', image_url: url },
        ],
      },
      { type: 'function_call', call_id: 'v1', name: 'glob', arguments: '{}' },
      { type: 'function_call', call_id: 'v2' },
      {
        type: 'function_call_output',
        call_id: 'v1',
        output: [
          { type: 'input_text', text: 'a picture' },
          { type: 'input_image', image_url: url },
        ],
      },
      { type: 'function_call_output', call_id: 'v2', output: 'none' },
    ])
  })

  it('is sent what a model wrote in place of an object, and ids that fit', async () => {
    const content = [use('c1', 'v1', '{"a'), use('call_2', 'x'.repeat(65))]
    expect((await bodyOf('responses', { system: '', messages: [...hello, { role: 'assistant', content }] })).input).toMatchObject([
      { role: 'user' },
      { arguments: '{"INVALID_JSON":"{\\"a"}' },
      { call_id: 'call_2' },
    ])
  })

  const thought = { id: 'rs_1', summary: ['first I look', 'then I act'], encrypted: 'gAAA+/=1' }
  const silent = { id: 'rs_2', summary: [], encrypted: 'gAAA+/=2' }
  const step = [
    created,
    ...reasoningItem(thought),
    ...messageItem(['Looking.'], { phase: 'commentary' }),
    ...callItem({ id: 'v1', name: 'glob', arguments: '{"pattern":"*"}' }),
    ...reasoningItem(silent),
    ...callItem({ id: 'v2', name: 'glob', arguments: '{}' }),
    ended('completed'),
  ]

  it('gives reasoning that is kept with all it needs, and comes back byte for byte', async () => {
    const model = await serve('responses', [{ body: step }, fine.responses])
    const outcome = await answer(model, { tools, sessionId: 's' })
    expect(outcome).toMatchObject({
      kind: 'answer',
      finish: 'tool_calls',
      content: [
        { type: 'reasoning', text: 'first I look', signature: expect.stringContaining('rs_1') },
        { type: 'reasoning', text: 'then I act', signature: expect.stringContaining('gAAA+/=1') },
        { type: 'text', text: 'Looking.' },
        { type: 'tool_use', vendorCallId: 'v1' },
        { type: 'reasoning', text: '', signature: expect.stringContaining('gAAA+/=2') },
        { type: 'tool_use', vendorCallId: 'v2' },
      ],
    })
    await answer(model, { tools, sessionId: 's', messages: [...hello, ...added(outcome)] })
    expect((server.body(1).input as unknown[]).slice(2, -2).map((item) => JSON.stringify(item))).toEqual(
      [
        {
          type: 'reasoning',
          id: 'rs_1',
          encrypted_content: 'gAAA+/=1',
          summary: [
            { type: 'summary_text', text: 'first I look' },
            { type: 'summary_text', text: 'then I act' },
          ],
        },
        { role: 'assistant', content: [{ type: 'output_text', text: 'Looking.' }], id: 'msg_1', phase: 'commentary' },
        { type: 'function_call', call_id: 'v1', name: 'glob', arguments: '{"pattern":"*"}' },
        { type: 'reasoning', id: 'rs_2', encrypted_content: 'gAAA+/=2', summary: [] },
        { type: 'function_call', call_id: 'v2', name: 'glob', arguments: '{}' },
      ].map((item) => JSON.stringify(item)),
    )
  })

  it('is told the reasoning of that model alone', async () => {
    const model = await serve('responses', [{ body: step }, fine.responses])
    const messages = [...hello, ...added(await answer(model, { tools }))]
    await answer(openAI({ ...settingsAt(server, { name: 'p/another', modelId: 'gpt-5.5' }), api: 'responses' }), { tools, messages })
    const { body } = server.asked[1]!
    expect(body).toContain('Looking.')
    expect(body).not.toMatch(/rs_|gAAA|msg_1|first I look|commentary/)
  })

  it('is only told more from step to step (TU-9)', async () => {
    const model = await serve('responses', [...Array.from({ length: 4 }, () => ({ body: step })), fine.responses])
    const messages = [...hello]
    for (let count = 0; count < 5; count += 1) messages.push(...added(await answer(model, { tools, sessionId: 's', messages })))
    const sections = server.asked.map(({ body }) => body.split(/"input":|,"store":/))
    for (const [index, [before, input = '', after]] of sections.entries()) {
      expect([before, after]).toEqual([sections[0]![0], sections[0]![2]])
      const earlier = index === 0 ? '[' : sections[index - 1]![1]!.slice(0, -1)
      expect(input.startsWith(earlier)).toBe(true)
      expect(input.length).toBeGreaterThan(earlier.length)
    }
    expect(sections).toHaveLength(5)
  })

  it('ends an answer that is a refusal as one that was filtered, with its words', async () => {
    const refusal = responseEvent('response.refusal.delta', { item_id: 'msg_1', output_index: 0, content_index: 0, delta: "I can't." })
    const [opened, part, closed] = messageItem([])
    const outcome = await answer(await serve('responses', [{ body: [created, opened!, part!, refusal, closed!, ended('completed')] }]))
    expect(outcome).toMatchObject({ kind: 'answer', finish: 'content_filter', content: [{ type: 'text', text: "I can't." }] })
  })

  it('passes over items and events of a new kind', async () => {
    const item = { type: 'hologram', id: 'h_1' }
    const news = [responseEvent('response.confetti', {}), responseEvent('response.output_item.added', { output_index: 9, item })]
    const body = [created, ...news, ...messageItem(['x']), ended('completed')]
    expect(await answer(await serve('responses', [{ body }]))).toMatchObject({ kind: 'answer', content: [{ type: 'text', text: 'x' }] })
  })

  const because = (code: string) => responseEvent('response.failed', { response: { error: { code, message: 'no' }, usage: null } })
  it.each([
    ['server_error', 'model_internal', true],
    ['rate_limit_exceeded', 'model_rate_limit', true],
    ['invalid_prompt', 'model_request', false],
    ['context_length_exceeded', 'model_context_length', false],
  ])('fails as it says: %s', async (code, known, retryable) => {
    const model = await serve('responses', [{ body: [created, because(code)] }, { body: [created, ...messageItem(['x']), because(code)] }])
    const wanted = { kind: 'failure', error: { code: known, message: 'no', retryable } }
    expect([await answer(model), await answer(model)]).toMatchObject([wanted, wanted])
  })

  it('says what to do where the server speaks the other format', async () => {
    expect(await answer(await serve('responses', [fine.chat]))).toMatchObject({
      kind: 'failure',
      error: { code: 'model_request', message: expect.stringContaining('choose the chat API'), retryable: false },
    })
  })
})

describe('chat completions', () => {
  it('are asked with the options', async () => {
    const options = { maxOutputTokens: 9, reasoningEffort: 'low', stop: ['END'], seed: 7, providerOptions: { parallelToolCalls: false } }
    expect(await bodyOf('chat', { tools, options, sessionId: 'ses_1' })).toEqual({
      model: 'gpt-5.4',
      messages: [
        { role: 'developer', content: 'be kind' },
        { role: 'user', content: 'hello' },
      ],
      max_completion_tokens: 9,
      parallel_tool_calls: false,
      stop: ['END'],
      seed: 7,
      reasoning_effort: 'low',
      prompt_cache_key: 'ses_1',
      tools: [{ type: 'function', function: { name: 'glob', description: 'finds', parameters: tools[0]!.parameters } }],
      stream: true,
      stream_options: { include_usage: true },
    })
    const plain = { temperature: 0.5, maxOutputTokens: 9 }
    expect(await bodyOf('chat', { options: plain }, 'gpt-4.1')).toMatchObject({ temperature: 0.5, max_tokens: 9 })
  })

  it.each([
    [{ temperature: 0.5 }, 'temperature is not supported for reasoning models'],
    [{ providerOptions: { truncation: 'auto' } }, 'truncation is no option of p/m'],
  ])('are not asked with %j', async (options, words) => {
    expect(await refusalOf('chat', options)).toContain(words)
  })

  it('are sent images, and what tools showed right behind their results', async () => {
    expect((await bodyOf('chat', { system: '', messages: showing })).messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image_url', image_url: { url } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: ['v1', 'v2'].map((id) => ({ id, type: 'function', function: { name: 'glob', arguments: '{}' } })),
      },
      { role: 'tool', tool_call_id: 'v1', content: 'a picture' },
      { role: 'tool', tool_call_id: 'v2', content: 'none' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What glob showed (v1):' },
          { type: 'image_url', image_url: { url } },
        ],
      },
    ])
  })

  it('are sent what a model wrote in place of an object, ids that fit, and no reasoning', async () => {
    const content = [{ type: 'reasoning' as const, text: 'hm' }, use('c1', 'v1', '{"a'), use('call_0-1', 'x'.repeat(41))]
    expect((await bodyOf('chat', { system: '', messages: [...hello, { role: 'assistant', content }] })).messages).toEqual([
      { role: 'user', content: 'hello' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'v1', type: 'function', function: { name: 'glob', arguments: '{"INVALID_JSON":"{\\"a"}' } },
          { id: 'call_01', type: 'function', function: { name: 'glob', arguments: '{}' } },
        ],
      },
    ])
  })

  it('are only told more from step to step (TU-9)', async () => {
    const body = openAIChatWire.answer({
      text: ['on it '],
      calls: [{ id: 'v1', name: 'glob', arguments: '{ "a" : 1 }' }],
      finish: 'tool_calls',
    })
    const model = await serve('chat', [{ body }, { body }, { body }, fine.chat])
    const messages = [...hello]
    for (let count = 0; count < 4; count += 1) messages.push(...added(await answer(model, { tools, messages })))
    const sections = server.asked.map(({ body }) => body.split(/"messages":|,"tools":/))
    for (const [index, [before, sent = '', after]] of sections.entries()) {
      expect([before, after]).toEqual([sections[0]![0], sections[0]![2]])
      expect(sent.startsWith(index === 0 ? '[' : sections[index - 1]![1]!.slice(0, -1))).toBe(true)
    }
    expect(sections).toHaveLength(4)
  })

  it('end an answer that is a refusal as one that was filtered, with its words', async () => {
    const body = [chatChunk({ role: 'assistant' }), chatChunk({ refusal: "I can't." }), chatChunk({}, 'stop')]
    const outcome = await answer(await serve('chat', [{ body }]))
    expect(outcome).toMatchObject({ kind: 'answer', finish: 'content_filter', content: [{ type: 'text', text: "I can't." }] })
  })
})
