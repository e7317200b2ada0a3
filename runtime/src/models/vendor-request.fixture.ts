// Owns what the tests of vendors ask, and how they listen.
import { ManualClock } from '../base/clock.ts'
import { countedIds } from '../base/ids.ts'
import type { Model, ModelMessage, ModelPart, ModelRequest, Outcome } from './model.ts'
import { requestAnswer } from './request.ts'
import { defaultRetry } from './retry.ts'
import type { VendorServer } from './vendor-server.fixture.ts'
import type { VendorSettings } from './vendor-settings.ts'

export const apiKey = 'sk-very/secret+key"1'
export const hello: ModelMessage[] = [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }]

/** A model of the server's; its clock stands at the start of 2026. */
export function settingsAt(server: VendorServer, over: Partial<VendorSettings> = {}): VendorSettings {
  return { name: 'p/m', modelId: 'm', baseURL: server.baseURL, apiKey, now: () => Date.UTC(2026, 0, 1), ...over }
}

export function request(over: Partial<ModelRequest> = {}): ModelRequest {
  return { system: 'be kind', messages: hello, tools: [], options: {}, signal: new AbortController().signal, ...over }
}

export async function partsOf(model: Model, asked = request()): Promise<ModelPart[]> {
  const parts: ModelPart[] = []
  for await (const part of model.stream(asked)) parts.push(part)
  return parts
}

/** The parts that a listener sees: those that only seal a block aside. */
export function spoken(parts: readonly ModelPart[]): ModelPart[] {
  return parts.filter((part) => !('signature' in part) || !('text' in part) || part.text !== '')
}

const ids = countedIds()

/** One attempt, no retries. */
export function answer(model: Model, over: Partial<ModelRequest> = {}, clock = new ManualClock()): Promise<Outcome> {
  return requestAnswer(model, request(over), {
    clock,
    retry: { ...defaultRetry, attempts: 1 },
    random: () => 0,
    newCallId: () => ids('call'),
    onPart: () => undefined,
    onRetry: async () => undefined,
  })
}

/** The messages that an answer adds: itself, and a result for each of its calls. */
export function added(outcome: Outcome, result = 'done'): ModelMessage[] {
  if (outcome.kind !== 'answer') throw new Error(`no answer: ${JSON.stringify(outcome)}`)
  const calls = outcome.content.flatMap((block) => (block.type === 'tool_use' ? [block.callId] : []))
  const results = calls.map((callId) => ({ type: 'tool_result' as const, callId, content: result, isError: false }))
  return [{ role: 'assistant', content: outcome.content }, ...(results.length === 0 ? [] : [{ role: 'tool' as const, content: results }])]
}
