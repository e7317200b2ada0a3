import { describe, expect, it } from 'vitest'
import type { ModelMessage, ModelPart, ModelRequest } from '../model.ts'
import { MemoryGates } from './gates.ts'
import { parseScript } from './script.ts'
import { ScriptedModel } from './scripted-model.ts'

const prompt: ModelMessage[] = [{ role: 'user', content: [{ type: 'text', text: 'say hi' }] }]
const withResult: ModelMessage[] = [...prompt, { role: 'tool', content: [{ type: 'tool_result', callId: 'c', content: 'a\nb' }] }]

function request(messages = prompt, signal = new AbortController().signal): ModelRequest {
  return { system: '', messages, tools: [], options: {}, signal }
}

function scripted(source: unknown, gates?: MemoryGates): ScriptedModel {
  return new ScriptedModel('scripted/test', parseScript('test', source), gates)
}

async function partsOf(model: ScriptedModel, asked = request()): Promise<ModelPart[]> {
  const parts: ModelPart[] = []
  for await (const part of model.stream(asked)) parts.push(part)
  return parts
}

describe('an entry', () => {
  it('says reasoning, text, chunks and calls in that order', async () => {
    const entry = {
      reasoning: 'hm',
      text: 'a',
      chunks: ['b', 'c'],
      tool: { name: 'glob' },
      tools: [{ name: 'shell', input: { command: 'ls' } }],
      usage: { inputTokens: 1, outputTokens: 2 },
    }
    expect(await partsOf(scripted([entry]))).toEqual([
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
      { type: 'text', text: 'c' },
      { type: 'tool_input', index: 0, text: '{}' },
      { type: 'tool_call', vendorCallId: 'scripted_0_0', name: 'glob', input: {} },
      { type: 'tool_input', index: 1, text: '{"command":"ls"}' },
      { type: 'tool_call', vendorCallId: 'scripted_0_1', name: 'shell', input: { command: 'ls' } },
      { type: 'finish', finish: 'tool_calls', usage: { inputTokens: 1, outputTokens: 2 } },
    ])
  })

  it('fills in the input and the last result, deep in a call too, and nothing else', async () => {
    const entry = {
      text: '{{input}} / {{last_tool_result}} / {{other}}',
      tool: { name: 'x', input: { list: [{ text: '<{{last_tool_result}}>' }, 1, null] } },
    }
    const parts = await partsOf(scripted([entry]), request(withResult))
    expect(parts[0]).toEqual({ type: 'text', text: 'say hi / a\nb / {{other}}' })
    expect(parts.at(-2)).toMatchObject({ input: { list: [{ text: '<a\nb>' }, 1, null] } })
  })

  it('costs the same in every run, whatever the ids are', async () => {
    const usageOf = async (callId: string) => {
      const messages: ModelMessage[] = [...prompt, { role: 'tool', content: [{ type: 'tool_result', callId, content: 'ok' }] }]
      return (await partsOf(scripted([{ text: '12345678' }]), request(messages))).at(-1)
    }
    expect(await usageOf('call_1')).toEqual(await usageOf('call_0198a'))
    expect(await usageOf('call_1')).toMatchObject({ usage: { inputTokens: 3, outputTokens: 2 } })
  })

  it.each([
    [{ error: { status: 503, retryAfterMs: 7 } }, { error: { code: 'model_overloaded', retryable: true }, retryAfterMs: 7 }],
    [{ error: { status: 400, message: 'maximum context length' } }, { error: { code: 'model_context_length', retryable: false } }],
    [{ error: { code: 'model_auth', message: 'no' } }, { error: { code: 'model_auth', message: 'no', retryable: false } }],
    [{ error: { code: 'model_network', retryable: true } }, { error: { code: 'model_network', retryable: true } }],
    [{ text: 'half', disconnect: {} }, { error: { code: 'model_stream', retryable: true } }],
  ])('%j fails', async (entry, failure) => {
    expect((await partsOf(scripted([entry]))).at(-1)).toMatchObject({ type: 'failure', ...failure })
  })

  it.each(['error', 'disconnect'])(
    'with %s fails as many times as it says, then answers; and again for the next who asks',
    async (kind) => {
      const model = scripted([{ text: 'ok', [kind]: { times: 2, ...(kind === 'error' ? { status: 500 } : {}) } }])
      const ends: (string | undefined)[] = []
      for (let play = 0; play < 6; play += 1) ends.push((await partsOf(model)).at(-1)?.type)
      expect(ends).toEqual(['failure', 'failure', 'finish', 'failure', 'failure', 'finish'])
    },
  )

  it('that stalls says no more until the abort', async () => {
    const abort = new AbortController()
    const parts: ModelPart[] = []
    for await (const part of scripted([{ text: 'half', stall: {} }]).stream(request(prompt, abort.signal))) {
      parts.push(part)
      queueMicrotask(() => abort.abort())
    }
    expect(parts).toEqual([{ type: 'text', text: 'half' }])
  })
})

describe('gates', () => {
  it('hold the model before its first word and between chunks', async () => {
    const gates = new MemoryGates()
    const heard: string[] = []
    const model = scripted([{ gate: 'start', chunks: ['a', { gate: 'middle' }, 'b'] }], gates)
    const done = (async () => {
      for await (const part of model.stream(request())) heard.push(part.type === 'text' ? part.text : part.type)
    })()
    await gates.reached('start')
    expect(heard).toEqual([])
    gates.release('start')
    await gates.reached('middle')
    expect(heard).toEqual(['a'])
    gates.release('middle')
    await done
    expect(heard).toEqual(['a', 'b', 'finish'])
    expect(gates.entries).toEqual(['steps-0'])
  })

  it('let go at an abort', async () => {
    const gates = new MemoryGates()
    const abort = new AbortController()
    void gates.reached('never').then(() => abort.abort())
    expect(await partsOf(scripted([{ chunks: ['a', { gate: 'never' }, 'b'] }], gates), request(prompt, abort.signal))).toEqual([
      { type: 'text', text: 'a' },
    ])
  })

  it('that nobody can open are refused', async () => {
    expect(await partsOf(scripted([{ chunks: ['a', { gate: 'g' }] }]))).toMatchObject([
      { type: 'failure', error: { code: 'model_request', message: expect.stringContaining('QUIESCE_GATES') } },
    ])
  })
})

it('tells which entries were never begun', async () => {
  const model = scripted({ cases: [{ when: 'hi', steps: [{ text: 'a' }, { text: 'b' }] }, { steps: [{ text: 'c' }] }] })
  await partsOf(model)
  expect(model.unconsumed()).toEqual(['cases-0-steps-1', 'cases-1-steps-0'])
})

it('fails where the script has run out, naming script and index', async () => {
  const messages: ModelMessage[] = [...prompt, { role: 'assistant', content: [{ type: 'text', text: 'a' }] }]
  expect(await partsOf(scripted([{ text: 'a' }]), request(messages))).toEqual([
    { type: 'failure', error: { code: 'model_request', message: 'scripted/test has no entry 1: it ends after 1', retryable: false } },
  ])
})
