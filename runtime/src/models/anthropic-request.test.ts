import type { ContentBlockOf, ModelOptionsOf } from '@quiesce/schema'
import { afterEach, describe, expect, it } from 'vitest'
import { anthropic } from './anthropic.ts'
import { anthropicWire } from './anthropic-wire.fixture.ts'
import type { Model, ModelMessage, ModelRequest } from './model.ts'
import { hello, partsOf, request, settingsAt } from './vendor-request.fixture.ts'
import { type Reply, VendorServer } from './vendor-server.fixture.ts'
import type { VendorSettings } from './vendor-settings.ts'

let server: VendorServer
afterEach(() => server?.close())

const fine: Reply = { body: anthropicWire.answer({ text: ['x'], finish: 'end_turn' }) }
const tools = [
  { name: 'glob', description: 'finds', parameters: { type: 'object', properties: {} } },
  { name: 'shell', description: 'runs', parameters: { type: 'object', properties: { command: { type: 'string' } } } },
]

async function serve(replies: readonly Reply[], over: Partial<VendorSettings> = {}): Promise<Model> {
  server = await VendorServer.start(...replies)
  return anthropic(settingsAt(server, { modelId: 'claude-sonnet-4-5', ...over }))
}

/** What the server is asked. */
async function bodyOf(over: Partial<ModelRequest>, modelId = 'claude-sonnet-4-5'): Promise<Record<string, unknown>> {
  await partsOf(await serve([fine], { modelId }), request(over))
  await server.close()
  return server.body(0)
}

/** Why nothing is asked. */
async function refusalOf(options: ModelOptionsOf, modelId = 'claude-sonnet-4-5'): Promise<string> {
  const parts = await partsOf(await serve([fine], { modelId }), request({ options }))
  await server.close()
  expect(parts).toMatchObject([{ type: 'failure', error: { code: 'model_request', retryable: false } }])
  return parts[0]?.type === 'failure' ? parts[0].error.message : ''
}

const mark = { cache_control: { type: 'ephemeral' } }
const blocks = (...content: ContentBlockOf[]): ModelMessage[] => [{ role: 'assistant', content }]
const messagesOf = async (...messages: ModelMessage[]) => (await bodyOf({ messages: [...hello, ...messages, ...hello] })).messages

describe('a request', () => {
  it('carries the model, the options, the tools and the messages', async () => {
    const options = { temperature: 0.5, maxOutputTokens: 9, stop: ['END'], providerOptions: { topP: 0.9, metadata: { userId: 'u' } } }
    // The SDK takes one of temperature and topP alone.
    expect(await bodyOf({ tools, options: { ...options, temperature: undefined } })).toEqual({
      model: 'claude-sonnet-4-5',
      max_tokens: 9,
      top_p: 0.9,
      stop_sequences: ['END'],
      metadata: { user_id: 'u' },
      system: [{ type: 'text', text: 'be kind', ...mark }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hello', ...mark }] }],
      tools: [
        { name: 'glob', description: 'finds', input_schema: tools[0]!.parameters, eager_input_streaming: true },
        { name: 'shell', description: 'runs', input_schema: tools[1]!.parameters, eager_input_streaming: true, ...mark },
      ],
      stream: true,
    })
    expect(await bodyOf({ options: { temperature: 0.5 } })).toMatchObject({ temperature: 0.5 })
  })

  it.each([
    ['claude-sonnet-4-5', 64_000],
    ['claude-opus-4-1', 32_000],
    ['claude-opus-5-5', 128_000],
    ['claude-of-the-future', 128_000],
    ['glm-9', 8192],
  ])('lets %s write as much as it can: %i', async (modelId, max_tokens) => {
    expect(await bodyOf({}, modelId)).toMatchObject({ max_tokens })
    expect(await bodyOf({ options: { maxOutputTokens: 77 } }, modelId)).toMatchObject({ max_tokens: 77 })
  })

  it('asks others that speak this format for nothing that is new in it', async () => {
    expect(JSON.stringify(await bodyOf({ tools }, 'glm-9'))).not.toContain('eager')
  })

  it.each([
    [{ seed: 7 }, 'modelOptions.seed', undefined],
    [{ temperature: 1.5 }, 'temperature: 1.5 exceeds', undefined],
    [{ temperature: 0.5 }, 'temperature', 'claude-opus-5'],
    [{ temperature: 0.5, reasoningEffort: 'low' }, 'temperature', undefined],
    [{ maxOutputTokens: 999_999 }, 'maxOutputTokens', undefined],
    [{ reasoningEffort: 'none' }, 'thinking', 'claude-opus-5-5'],
    [{ reasoningEffort: 'turbo' }, 'one of none, minimal, low', undefined],
    [{ reasoningEffort: 'low' }, 'has no reasoning', 'claude-3-haiku-20240307'],
    [{ providerOptions: { thinkng: {} } }, 'providerOptions.thinkng is no option of p/m: there are anthropicBeta, cacheControl', undefined],
    [{ providerOptions: { mcpServers: [] } }, 'providerOptions.mcpServers: tools that the vendor runs', undefined],
    [{ providerOptions: { topK: 'many' } }, 'topK must be a number, not "many"', undefined],
    [{ providerOptions: { thinking: { type: 'enabled', budgetTokens: 'all' } } }, 'modelOptions.providerOptions.thinking', undefined],
  ])('refuses %j in words', async (options, words, modelId) => {
    expect(await refusalOf(options, modelId)).toContain(words)
  })

  const adaptive = (effort: string) => ({ thinking: { type: 'adaptive' }, output_config: { effort } })
  const bound = { block_binding: { prefix_mismatch_behavior: 'drop_block' } }
  const budget = (budget_tokens: number, max_tokens: number) => ({ thinking: { type: 'enabled', budget_tokens }, max_tokens })
  it.each([
    ['claude-opus-4-6', 'minimal', adaptive('low')],
    ['claude-opus-4-6', 'medium', adaptive('medium')],
    ['claude-sonnet-5', 'xhigh', adaptive('xhigh')],
    ['claude-opus-4-10', 'max', adaptive('max')],
    ['claude-opus-5', 'none', { thinking: { type: 'disabled' } }],
    ['claude-fable-5-1', 'high', { thinking: { type: 'adaptive', ...bound }, output_config: { effort: 'high' } }],
    ['claude-sonnet-5-5', undefined, { thinking: bound }],
    ['claude-sonnet-4-5', 'low', budget(2048, 64_000)],
    ['claude-opus-4-5-20251101', 'medium', budget(8192, 64_000)],
    ['claude-sonnet-4-20250514', 'high', budget(16_384, 64_000)],
    ['claude-3-7-sonnet', 'minimal', budget(1024, 4096 + 1024)],
    ['glm-9', 'high', budget(16_384, 8192 + 16_384)],
    ['claude-3-haiku-20240307', 'none', {}],
    ['claude-sonnet-4-5', undefined, {}],
  ])('turns the effort of %s, %s, into what that model takes', async (modelId, reasoningEffort, wanted) => {
    const options = reasoningEffort === undefined ? {} : { reasoningEffort }
    const { thinking, output_config, max_tokens } = await bodyOf({ options }, modelId)
    const found = { thinking, output_config, ...('max_tokens' in wanted && { max_tokens }) }
    expect(JSON.parse(JSON.stringify(found))).toEqual(wanted)
  })

  it("lets the vendor's own options win over what an effort comes to", async () => {
    const options = { reasoningEffort: 'high', providerOptions: { thinking: { type: 'enabled', budgetTokens: 5000 }, speed: 'fast' } }
    expect(await bodyOf({ options })).toMatchObject({ thinking: { type: 'enabled', budget_tokens: 5000 }, speed: 'fast' })
  })

  it('sends images, and what a tool showed inside of its result', async () => {
    const png = { type: 'image' as const, data: 'aGk=', mediaType: 'image/png' }
    const jpeg = { type: 'image' as const, data: '/9j/4AAQ' }
    const source = { type: 'base64', media_type: 'image/png', data: 'aGk=' }
    const result = { type: 'tool_result' as const, callId: 'call_1', content: 'two pictures', images: [png, jpeg] }
    const messages: ModelMessage[] = [
      { role: 'user', content: [png, { type: 'text', text: 'see' }] },
      ...blocks({ type: 'tool_use', callId: 'call_1', name: 'read_file', input: {} }),
      { role: 'tool', content: [result] },
    ]
    const sent = (await bodyOf({ messages })).messages
    expect(sent).toMatchObject([
      {
        role: 'user',
        content: [
          { type: 'image', source },
          { type: 'text', text: 'see' },
        ],
      },
      { role: 'assistant' },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'call_1',
            content: [
              { type: 'text', text: 'two pictures' },
              { type: 'image', source },
              { type: 'image', source: { media_type: 'image/jpeg' } },
            ],
          },
        ],
      },
    ])
  })

  it.each([
    ['an image by its path', { type: 'image' as const, path: 'a.png' }],
    ['a file', { type: 'file' as const, path: 'a.txt' }],
  ])('refuses %s in words', async (_, block) => {
    const model = await serve([fine])
    const parts = await partsOf(model, request({ messages: [{ role: 'user', content: [block] }] }))
    expect(parts).toMatchObject([{ type: 'failure', error: { code: 'model_request', message: expect.stringContaining(block.type) } }])
    expect(server.asked).toEqual([])
  })

  // What Anthropic's API refuses, and would refuse in every later request too.
  it.each([
    [
      'a text without a word',
      [
        { type: 'text', text: ' \n' },
        { type: 'text', text: 'a' },
      ],
      [{ type: 'text', text: 'a' }],
    ],
    ['blanks at the end', [{ type: 'text', text: ' a\n' }], [{ type: 'text', text: 'a' }]],
    [
      'an input that is no object',
      [use('c1', 'v1', '{"a')],
      [{ type: 'tool_use', id: 'v1', name: 'glob', input: { INVALID_JSON: '{"a' } }],
    ],
    ['an input that is a list', [use('c1', 'v1', [1])], [{ type: 'tool_use', id: 'v1', name: 'glob', input: { INVALID_JSON: '[1]' } }]],
    ["another vendor's ids", [use('call_a-b', 'functions.glob:0')], [{ type: 'tool_use', id: 'call_ab', name: 'glob', input: {} }]],
    ['an id twice', [use('c1', 'v'), use('c2', 'v')], [{ id: 'v' }, { id: 'c2' }]],
    ['a name that no tool can have', [{ ...use('c1', 'v'), name: 'a.b c' }], [{ name: 'a_b_c' }]],
    [
      'unsigned reasoning',
      [
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text: 'a' },
      ],
      [{ type: 'text', text: 'a' }],
    ],
  ] as [string, ContentBlockOf[], object[]][])('mends %s', async (_, content, wanted) => {
    expect(await messagesOf(...blocks(...content))).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: wanted },
      { role: 'user' },
    ])
  })

  it('leaves out a message of which nothing is left', async () => {
    const sent = await messagesOf(...blocks({ type: 'reasoning', text: 'hm' }))
    expect(sent).toMatchObject([{ role: 'user', content: [{ text: 'hello' }, { text: 'hello' }] }])
  })
})

function use(callId: string, vendorCallId: string, input: unknown = {}): ContentBlockOf & { type: 'tool_use' } {
  return { type: 'tool_use', callId, vendorCallId, name: 'glob', input }
}
