import type { ContentBlockOf } from '@quiesce/schema'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { ModelMessage } from './model.ts'
import { promptOf as mapped, type PromptRules, UnsupportedContent } from './prompt.ts'

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

const promptOf = (system: string, messages: readonly ModelMessage[]) => mapped(system, messages, compatible)

const string = fc.string({ unit: 'grapheme', maxLength: 12 })
const callId = fc.constantFrom('call_1', 'call_2', 'call_3')
const block: fc.Arbitrary<ContentBlockOf> = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text: string }),
  fc.record({ type: fc.constant('reasoning' as const), text: string }),
  fc.record({ type: fc.constant('tool_use' as const), callId, vendorCallId: string, name: string, input: fc.jsonValue() }),
  fc.record({ type: fc.constant('tool_result' as const), callId, content: string, isError: fc.boolean() }),
)
const message: fc.Arbitrary<ModelMessage> = fc.record({
  role: fc.constantFrom('user' as const, 'assistant' as const, 'tool' as const),
  content: fc.array(block, { maxLength: 4 }),
})

it('maps a longer history to a longer prompt with the same beginning (TU-9)', () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 8 }), fc.nat(8), (messages, count) => {
      const whole = promptOf('system', messages)
      const part = promptOf('system', messages.slice(0, count))
      expect(JSON.stringify(whole.slice(0, part.length))).toBe(JSON.stringify(part))
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

it('refuses what it can not pass on', () => {
  const content: ContentBlockOf[] = [{ type: 'file', path: 'a' }]
  expect(() => promptOf('', [{ role: 'user', content }])).toThrow(UnsupportedContent)
})

function use(id: string, vendorCallId: string | undefined): ContentBlockOf {
  return { type: 'tool_use', callId: id, name: 'glob', input: {}, ...(vendorCallId === undefined ? {} : { vendorCallId }) }
}

function result(id: string): ContentBlockOf {
  return { type: 'tool_result', callId: id, content: 'ok' }
}
