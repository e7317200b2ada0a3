import type { ContentBlockOf, ModelOptionsOf } from '@quiesce/schema'
import { afterEach, describe, expect, it } from 'vitest'
import { deferred } from '../base/deferred.ts'
import { anthropic } from './anthropic.ts'
import {
  answerOf,
  anthropicWire,
  callBlock,
  messageEvent,
  redactedBlock,
  started,
  stopped,
  textBlock,
  thinkingBlock,
  type WireBlock,
} from './anthropic-wire.fixture.ts'
import type { Model, ModelMessage, ModelRequest } from './model.ts'
import { added, answer, hello, partsOf, request, settingsAt } from './vendor-request.fixture.ts'
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

const mark = { cache_control: { type: 'ephemeral' } }
const blocks = (...content: ContentBlockOf[]): ModelMessage[] => [{ role: 'assistant', content }]

describe('the finish', () => {
  it('counts what was read from the cache and written into it as input', async () => {
    const usage = { input: 100, cached: 60 }
    const body = [started(usage, 30), ...textBlock(['x'])(0), ...stopped('end_turn', { output: 20, reasoning: 5 })]
    const outcome = await answer(await serve([{ body }]))
    expect(outcome).toMatchObject({ usage: { inputTokens: 100, cachedInputTokens: 60, outputTokens: 20, reasoningTokens: 5 } })
  })

  it('ends the answer, also where the vendor takes its time to end the stream; the connection serves the next', async () => {
    const finishes = Array.from({ length: 6 }, () => deferred<void>())
    const model = await serve(finishes.map(({ promise }) => ({ body: [...fine.body!, { until: promise }] })))
    for (const [index, { resolve }] of finishes.entries()) {
      expect((await answer(model)).kind).toBe('answer')
      resolve()
      await server.left(index)
    }
    expect(server.connections).toBeLessThan(finishes.length) // each would be given up where nobody waits; a slow machine may give up some
  })

  it('ends the answer, and a moment later the connection, where the vendor never ends the stream', async () => {
    const model = await serve([{ body: [...fine.body!, 'stall'] }])
    expect((await answer(model)).kind).toBe('answer')
    await server.left(0)
  })
})

describe('events', () => {
  const amid = (...events: string[]) => ({ body: [started(), ...textBlock(['x'])(0), ...events, ...stopped('end_turn')] })

  it('of a new kind are passed over', async () => {
    const outcome = await answer(await serve([amid(messageEvent('confetti', { colours: 7 }))]))
    expect(outcome).toMatchObject({ kind: 'answer', content: [{ type: 'text', text: 'x' }] })
  })

  it.each([
    ['an unknown piece of a block', messageEvent('content_block_delta', { index: 0, delta: { type: 'smell_delta' } })],
    ['an unknown block', messageEvent('content_block_start', { index: 1, content_block: { type: 'hologram' } })],
  ])('that lose a part of the answer are failures: %s', async (_, event) => {
    expect(await answer(await serve([amid(event)]))).toMatchObject({ kind: 'failure', error: { retryable: true } })
  })

  it('that are errors count by their own words, also without their kind', async () => {
    const event = `data: ${JSON.stringify({ error: { type: 'overloaded_error', message: 'busy' } })}\n\n`
    const wanted = { kind: 'failure', error: { code: 'model_overloaded', message: 'busy', retryable: true } }
    expect(await answer(await serve([amid(event)]))).toMatchObject(wanted)
    await server.close()
    expect(await answer(await serve([{ body: [event] }]))).toMatchObject(wanted)
  })

  it("never let a tool of the vendor's pass for one of the runtime's", async () => {
    const block: WireBlock = (index) => [
      messageEvent('content_block_start', { index, content_block: { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} } }),
      messageEvent('content_block_stop', { index }),
    ]
    expect(await answer(await serve([{ body: answerOf([block], 'end_turn') }]))).toMatchObject({
      kind: 'failure',
      error: { code: 'model_request', message: expect.stringContaining('"web_search" itself') },
    })
  })
})

describe('reasoning', () => {
  const thoughts = [
    thinkingBlock('first I look', 'sig+/=1'),
    callBlock('v1', 'glob', '{"pattern":"*"}'),
    redactedBlock('encrypted+/=2'),
    thinkingBlock('', 'sig+/=3'),
    textBlock(['Looking.']),
    callBlock('v2', 'glob', '{}'),
  ]
  const sent = [
    { type: 'thinking', thinking: 'first I look', signature: 'sig+/=1' },
    { type: 'tool_use', id: 'v1', name: 'glob', input: { pattern: '*' } },
    { type: 'redacted_thinking', data: 'encrypted+/=2' },
    { type: 'thinking', thinking: '', signature: 'sig+/=3' },
    { type: 'text', text: 'Looking.' },
    { type: 'tool_use', id: 'v2', name: 'glob', input: {} },
  ]

  it('is kept with its signature, in its place, and comes back byte for byte', async () => {
    const model = await serve([{ body: answerOf(thoughts, 'tool_use') }, fine])
    const outcome = await answer(model, { tools })
    expect(outcome).toMatchObject({
      kind: 'answer',
      content: [
        { type: 'reasoning', text: 'first I look', signature: expect.stringContaining('sig+/=1') },
        { type: 'tool_use' },
        { type: 'reasoning', text: '', signature: expect.stringContaining('encrypted+/=2') },
        { type: 'reasoning', text: '' },
        { type: 'text', text: 'Looking.' },
        { type: 'tool_use' },
      ],
    })
    await answer(model, { tools, messages: [...hello, ...added(outcome)] })
    expect(JSON.stringify((server.body(1).messages as { content: unknown }[])[1]!.content)).toBe(JSON.stringify(sent))
  })

  it('is shown only to the model that signed it', async () => {
    const model = await serve([{ body: answerOf(thoughts, 'tool_use') }, fine])
    const messages = [...hello, ...added(await answer(model, { tools }))]
    await answer(anthropic(settingsAt(server, { name: 'p/another', modelId: 'claude-opus-4-5' })), { tools, messages })
    const { content } = (server.body(1).messages as { content: { type: string }[] }[])[1]!
    expect(content).toEqual(sent.filter(({ type }) => !type.includes('thinking')).sort((a) => (a.type === 'text' ? -1 : 0)))
  })

  it('goes back unsigned to models that sign nothing, as what they need it for', async () => {
    const unsigned: WireBlock = (index) => thinkingBlock('hm', '')(index).filter((event) => !event.includes('signature_delta'))
    const body = answerOf([unsigned, callBlock('v1', 'glob', '{}')], 'tool_use')
    const model = await serve([{ body }, fine, fine], { modelId: 'glm-9' })
    const messages = [...hello, ...added(await answer(model, { tools }))]
    await answer(model, { tools, messages })
    const thinking = { type: 'thinking', thinking: 'hm', signature: '' }
    expect(server.body(1).messages).toMatchObject([{}, { content: [thinking, { type: 'tool_use' }] }, {}])
    await answer(anthropic(settingsAt(server, { modelId: 'claude-sonnet-4-5' })), {
      messages: [...hello, ...blocks({ type: 'reasoning', text: 'hm' })],
    })
    expect(JSON.stringify(server.body(2))).not.toContain('hm')
  })

  it('is not asked of a model with a budget that goes on from calls made without it', async () => {
    const calls: ModelMessage[] = [
      ...hello,
      ...blocks(use('c1', 'v1')),
      { role: 'tool', content: [{ type: 'tool_result', callId: 'c1', content: 'done' }] },
    ]
    const options = { reasoningEffort: 'high' }
    expect(await bodyOf({ messages: calls, options })).not.toHaveProperty('thinking')
    expect(await bodyOf({ messages: [...calls, ...blocks({ type: 'text', text: 'so' }), ...hello], options })).toHaveProperty('thinking')
  })
})

// TU-9, at the server.
describe('from step to step', () => {
  const step = (count: number): Reply => {
    const calls = Array.from({ length: 3 }, (_, index) => callBlock(`v${count}_${index}`, 'glob', `{ "n" : ${index} }`))
    return { body: answerOf([thinkingBlock('hm', `sig${count}`), textBlock(['looking ']), ...calls], 'tool_use') }
  }
  const marks = (body: string) => body.split('"cache_control"').length - 1
  const unmarked = (body: string) => body.replaceAll(/,"cache_control":\{[^}]*\}/g, '')
  const section = (body: string, from: string, to: string) => {
    const [, rest = ''] = unmarked(body).split(`"${from}":`)
    return rest.split(`,"${to}":`)[0] ?? ''
  }

  async function converse(options: ModelOptionsOf = {}): Promise<string[]> {
    const model = await serve([...Array.from({ length: 5 }, (_, count) => step(count)), fine, fine])
    const messages = [...hello]
    for (let count = 0; count < 6; count += 1) messages.push(...added(await answer(model, { tools, options, messages })))
    messages.push(...hello)
    await answer(model, { tools, options, messages })
    return server.asked.map(({ body }) => body)
  }

  it('a request only adds to the one before, its marks aside', async () => {
    const bodies = await converse()
    expect(bodies).toHaveLength(7)
    for (const [index, body] of bodies.entries()) {
      expect(section(body, 'system', 'messages')).toBe(section(bodies[0]!, 'system', 'messages'))
      expect(section(body, 'tools', 'stream')).toBe(section(bodies[0]!, 'tools', 'stream'))
      expect(Object.keys(JSON.parse(body))).toEqual(Object.keys(JSON.parse(bodies[0]!)))
      const before = index === 0 ? '[' : section(bodies[index - 1]!, 'messages', 'tools').slice(0, -1)
      expect(section(body, 'messages', 'tools').startsWith(before)).toBe(true)
      expect(section(body, 'messages', 'tools').length).toBeGreaterThan(before.length)
    }
  })

  it('marks the end of the system text, of the tools, of this request and of the one before: never more than four places', async () => {
    const bodies = await converse()
    expect(bodies.map(marks)).toEqual([3, 4, 4, 4, 4, 4, 4])
    for (const [index, body] of bodies.entries()) {
      const sent = JSON.parse(body)
      const isMarked = sent.messages.map(({ content }: { content: object[] }) => content.map((block) => 'cache_control' in block))
      const ends = isMarked.map((blocks: boolean[]) => blocks.indexOf(true))
      const last = isMarked.length - 1
      expect(ends[last]).toBe(isMarked[last].length - 1)
      if (index > 0) expect(ends[JSON.parse(bodies[index - 1]!).messages.length - 1]).toBeGreaterThanOrEqual(0)
      expect(sent.system.at(-1)).toMatchObject(mark)
      expect(sent.tools.at(-1)).toMatchObject(mark)
    }
  })

  it('lets the caller choose how long the cache is kept', async () => {
    const [body = ''] = await converse({ providerOptions: { cacheControl: { type: 'ephemeral', ttl: '1h' } } })
    expect(body.split('"cache_control":{"type":"ephemeral","ttl":"1h"}')).toHaveLength(4)
    expect(JSON.parse(body)).not.toHaveProperty('cache_control')
  })

  it('what is said after a failed step joins the same message, behind what was there', async () => {
    const model = await serve([{ status: 500 }, fine])
    await answer(model)
    await answer(model, { messages: [...hello, { role: 'user', content: [{ type: 'text', text: 'again' }] }] })
    const [first, second] = server.asked.map(({ body }) => section(body, 'messages', 'stream'))
    expect(second?.startsWith(first!.slice(0, -3))).toBe(true)
  })
})

function use(callId: string, vendorCallId: string, input: unknown = {}): ContentBlockOf & { type: 'tool_use' } {
  return { type: 'tool_use', callId, vendorCallId, name: 'glob', input }
}
