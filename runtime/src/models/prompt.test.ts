import type { ContentBlockOf } from '@quiesce/schema'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ModelMessage } from './model.ts'
import { promptOf as mapped, marked, type PromptRules, UnsupportedContent } from './prompt.ts'
import { sealed, unsealed } from './vendor-seal.ts'

const compatible: PromptRules = {
  model: 'p/m',
  vendor: 'openaiCompatible',
  sealKey: 'google',
  plainReasoning: true,
  callIds: /./s,
  objectInputs: false,
  noBlankText: false,
  resultImages: 'behind',
}
const strict: PromptRules = {
  model: 'p/m',
  vendor: 'anthropic',
  plainReasoning: false,
  callIds: /^[\w-]{1,64}$/,
  objectInputs: true,
  noBlankText: true,
  resultImages: 'inside',
}

const promptOf = (system: string, messages: readonly ModelMessage[]) => mapped(system, messages, compatible)

const string = fc.string({ unit: 'grapheme', maxLength: 12 })
const callId = fc.constantFrom('call_1', 'call_2', 'call_3')
const image = fc.record({ type: fc.constant('image' as const), data: fc.constantFrom('aGk=', '/9j/', '') })
const signature = fc.constantFrom(sealed('p/m', 'anthropic', { signature: 's' }), sealed('p/other', 'anthropic', {}), 'raw', undefined)
const block: fc.Arbitrary<ContentBlockOf> = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text: string, signature }),
  fc.record({ type: fc.constant('reasoning' as const), text: string, signature }),
  fc.record({ type: fc.constant('tool_use' as const), callId, vendorCallId: string, name: string, input: fc.jsonValue() }),
  fc.record({ type: fc.constant('tool_result' as const), callId, content: string, isError: fc.boolean(), images: fc.array(image) }),
)
const message: fc.Arbitrary<ModelMessage> = fc.record({
  role: fc.constantFrom('user' as const, 'assistant' as const, 'tool' as const),
  content: fc.array(block, { maxLength: 4 }),
})
const conversation = fc.array(message, { maxLength: 8 })

it.each([
  ['compatible', compatible],
  ['strict', strict],
])('maps a longer history to a longer prompt with the same beginning (TU-9), by %s rules', (_, rules) => {
  fc.assert(
    fc.property(conversation, fc.nat(8), (messages, count) => {
      const whole = mapped('system', messages, rules)
      const part = mapped('system', messages.slice(0, count), rules)
      expect(JSON.stringify(whole.slice(0, part.length))).toBe(JSON.stringify(part))
    }),
  )
})

it('gives each call an id of its own that the vendor takes, and a name that a tool can have', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(string, string), { maxLength: 6 }), (calls) => {
      const content = calls.map(([vendorCallId, name], index) => ({
        type: 'tool_use' as const,
        callId: `call_${index}`,
        vendorCallId,
        name,
        input: 1,
      }))
      const [message] = mapped('', [{ role: 'assistant', content }], strict)
      const parts = message?.role === 'assistant' ? message.content.filter((part) => part.type === 'tool-call') : []
      expect(new Set(parts.map(({ toolCallId }) => toolCallId)).size).toBe(calls.length)
      for (const { toolCallId, toolName } of parts) {
        expect(toolCallId).toMatch(strict.callIds)
        expect(toolName).toMatch(/^[\w-]{1,64}$/)
      }
    }),
  )
})

it('answers calls by the id that the vendor gave, in call order', () => {
  const messages: ModelMessage[] = [
    { role: 'assistant', content: [use('call_1', 'v1'), use('call_2', undefined)] },
    { role: 'tool', content: [result('call_1'), result('call_2')] },
  ]
  expect(promptOf('', messages)[1]).toMatchObject({
    role: 'tool',
    content: [
      { toolCallId: 'v1', toolName: 'glob' },
      { toolCallId: 'call_2', toolName: 'glob' },
    ],
  })
})

it('leaves out unknown blocks, and messages of nothing else', () => {
  // As a newer runtime might have written it.
  const strange: ContentBlockOf = JSON.parse('{"type":"hologram","data":1}')
  const messages: ModelMessage[] = [
    { role: 'user', content: [strange, { type: 'text', text: 'hi' }] },
    { role: 'assistant', content: [strange] },
    { role: 'tool', content: [] },
  ]
  expect(promptOf('', messages)).toEqual([{ role: 'user', content: [{ type: 'text', text: 'hi' }] }])
})

it.each([
  { type: 'file' as const, path: 'a' },
  { type: 'image' as const, path: 'a.png' },
  { type: 'image' as const, data: '', mediaType: 'image/png' },
])('refuses what it can not pass on: %j', (content) => {
  expect(() => promptOf('', [{ role: 'user', content: [content] }])).toThrow(UnsupportedContent)
})

describe('a seal', () => {
  it('gives back to the same model of the same vendor what it was given, verbatim', () => {
    fc.assert(
      fc.property(fc.dictionary(string, fc.jsonValue({ noUnicodeString: false }), { noNullPrototype: true }), (metadata) => {
        const said = JSON.parse(JSON.stringify(metadata))
        expect(unsealed(sealed('p/m', 'openai', said), 'p/m', 'openai')).toEqual(said)
      }),
    )
  })

  it.each([
    ["another model's", sealed('p/other', 'openai', { itemId: 'i' })],
    ["another vendor's", sealed('p/m', 'anthropic', { signature: 's' })],
    ['what is no seal', 'ErUB+/='],
    ['what is no object', '[1]'],
    ['one without anything', '{"model":"p/m","openai":null}'],
    ['none', undefined],
  ])('keeps %s', (_, signature) => {
    expect(unsealed(signature, 'p/m', 'openai')).toBeUndefined()
  })
})

it('marks the end of a request, and of the one before it, at whatever step', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.boolean(), (steps, hasSystem) => {
      const messages: ModelMessage[] = [{ role: 'user', content: [{ type: 'text', text: 'go' }] }]
      const marksOf = () =>
        marked(mapped(hasSystem ? 'system' : '', messages, strict), { anthropic: {} }).flatMap(({ providerOptions }, index) =>
          providerOptions === undefined ? [] : [index],
        )
      let before: number | undefined
      for (let step = 0; step < steps; step += 1) {
        const marks = marksOf()
        expect(marks.length).toBeLessThanOrEqual(3) // the fourth is for the tools
        expect(marks).toContain(messages.length - (hasSystem ? 0 : 1))
        if (hasSystem) expect(marks).toContain(0)
        if (before !== undefined) expect(marks).toContain(before)
        before = marks.at(-1)
        messages.push(
          { role: 'assistant', content: [use(`call_${step}`, `v${step}`)] },
          { role: 'tool', content: [result(`call_${step}`)] },
        )
      }
    }),
  )
})

function use(id: string, vendorCallId: string | undefined): ContentBlockOf {
  return { type: 'tool_use', callId: id, name: 'glob', input: {}, ...(vendorCallId === undefined ? {} : { vendorCallId }) }
}

function result(id: string): ContentBlockOf {
  return { type: 'tool_result', callId: id, content: 'ok' }
}
