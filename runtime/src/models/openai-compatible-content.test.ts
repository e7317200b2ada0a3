// What openai-compatible models are told beside words, and what they tell: images, signatures, counts.
import { afterEach, expect, it } from 'vitest'
import type { Model, ModelMessage } from './model.ts'
import { added, answer, hello, settingsAt } from './vendor-request.fixture.ts'
import { type Reply, VendorServer } from './vendor-server.fixture.ts'
import { chatChunk, compatibleWire, event } from './wire.fixture.ts'

let server: VendorServer
afterEach(() => server?.close())

const fine: Reply = { body: compatibleWire.answer({ text: ['x'], finish: 'stop' }) }

async function serve(...replies: Reply[]): Promise<Model> {
  server = await VendorServer.start(...replies)
  return compatibleWire.make(settingsAt(server))
}

it('are sent images, and what tools showed right behind their results', async () => {
  const png = { type: 'image' as const, data: 'aGk=', mediaType: 'image/png' }
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } }
  const messages: ModelMessage[] = [
    { role: 'user', content: [png, { type: 'text', text: 'see' }] },
    { role: 'assistant', content: [{ type: 'tool_use', callId: 'call_1', vendorCallId: 'v1', name: 'read_file', input: {} }] },
    {
      role: 'tool',
      content: [{ type: 'tool_result', callId: 'call_1', content: 'a picture', images: [png, { type: 'image', path: 'lost.png' }] }],
    },
    ...hello,
  ]
  await answer(await serve(fine), { system: '', messages })
  expect(server.body(0).messages).toEqual([
    { role: 'user', content: [image, { type: 'text', text: 'see' }] },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'v1', type: 'function', function: { name: 'read_file', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'v1', content: 'a picture' },
    { role: 'user', content: [{ type: 'text', text: 'What read_file showed (v1):' }, image] },
    { role: 'user', content: 'hello' },
  ])
})

it("are not told what another vendor signed, and its words aren't either", async () => {
  const signature = JSON.stringify({ model: 'a/b', anthropic: { signature: 'sig' } })
  const content = [
    { type: 'reasoning' as const, text: 'theirs', signature },
    { type: 'reasoning' as const, text: 'plain' },
    { type: 'text' as const, text: 'x', signature },
  ]
  await answer(await serve(fine), { messages: [...hello, { role: 'assistant', content }, ...hello] })
  expect(server.body(0).messages).toContainEqual({ role: 'assistant', content: 'x', reasoning_content: 'plain' })
})

it('get the signatures of their calls back, as Gemini wants them', async () => {
  const extra_content = { google: { thought_signature: 'sig+/=' } }
  const called = { index: 0, id: 'v1', type: 'function', function: { name: 'glob', arguments: '{}' }, extra_content }
  const model = await serve({ body: [chatChunk({ tool_calls: [called] }), chatChunk({}, 'tool_calls')] }, fine)
  const outcome = await answer(model)
  await answer(model, { messages: [...hello, ...added(outcome)] })
  const { index: _, ...sent } = called
  expect(server.body(1).messages).toContainEqual({ role: 'assistant', content: null, tool_calls: [sent] })
})

it.each([
  ['beside the output', 27, { outputTokens: 17, reasoningTokens: 7 }],
  ['as a part of it', 20, { outputTokens: 10, reasoningTokens: 7 }],
])('may count their reasoning %s', async (_, total_tokens, wanted) => {
  const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens, completion_tokens_details: { reasoning_tokens: 7 } }
  const body = [chatChunk({ content: 'x' }), chatChunk({}, 'stop'), event({ choices: [], usage })]
  expect(await answer(await serve({ body }))).toMatchObject({ usage: { inputTokens: 10, ...wanted } })
})

it.each([
  [
    "message: This model's maximum context length is 4096",
    { object: 'error', message: "This model's maximum context length is 4096 tokens" },
  ],
  ['llama.cpp', { error: { code: 400, message: 'the request exceeds the available context size, try increasing it' } }],
])('may say in many ways that a conversation is too long: %s', async (_, body) => {
  const reply = { status: 400, headers: { 'content-type': 'application/json' }, body: [JSON.stringify(body)] }
  expect(await answer(await serve(reply))).toMatchObject({ error: { code: 'model_context_length', retryable: false } })
})
