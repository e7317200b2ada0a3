// Owns the playing of one entry: its pieces as stream parts, its gates, its failures. Deterministic, usage included.
import type { FactErrorOf, UsageOf } from '@quiesce/schema'
import { deferred } from '../../base/deferred.ts'
import { verdictOf } from '../http-status.ts'
import type { ModelMessage, ModelPart, ModelRequest } from '../model.ts'
import { type Gates, untilAborted } from './gates.ts'
import { assistantCount, lastInput, lastToolResult } from './history.ts'
import type { Entry, ToolCall } from './script.ts'

export interface Play {
  /** For messages. */
  script: string
  entry: Entry
  request: ModelRequest
  gates: Gates | undefined
  /** How many plays of this entry for this very history failed in a row before. */
  failedBefore: number
}

/** *Contract:* as Model.stream. */
export async function* play({ script, entry, request, gates, failedBefore }: Play): AsyncGenerator<ModelPart> {
  const { signal } = request
  const isDue = (times: number | undefined) => failedBefore < (times ?? Number.POSITIVE_INFINITY)
  const gate = firstGate(entry)
  if (gate !== undefined && gates === undefined) {
    yield failure('model_request', `${script}: the gate "${gate}" has nobody to open it: set QUIESCE_GATES to a directory`, false)
    return
  }
  if (entry.gate !== undefined) await gates?.pass(entry.gate, signal)
  if (signal.aborted) return
  if (entry.error !== undefined && isDue(entry.error.times)) {
    yield refused(script, entry.error)
    return
  }
  for await (const part of spoken(entry, request, gates)) {
    if (signal.aborted) return
    yield part
  }
  if (entry.stall !== undefined && isDue(entry.stall.times)) await untilAborted(deferred().promise, signal)
  if (signal.aborted) return
  if (entry.disconnect !== undefined && isDue(entry.disconnect.times))
    yield failure('model_stream', `${script}: the stream broke off`, true)
  else
    yield {
      type: 'finish',
      finish: entry.finish ?? (callsOf(entry).length > 0 ? 'tool_calls' : 'stop'),
      usage: entry.usage ?? estimate(entry, request),
    }
}

async function* spoken(entry: Entry, { messages, signal }: ModelRequest, gates: Gates | undefined): AsyncGenerator<ModelPart> {
  const put = (text: string) => filled(text, messages)
  if (entry.reasoning !== undefined) yield { type: 'reasoning', text: put(entry.reasoning) }
  for (const piece of piecesOf(entry)) {
    if (typeof piece === 'string') yield { type: 'text', text: put(piece) }
    else await gates?.pass(piece.gate, signal)
  }
  const step = assistantCount(messages)
  for (const [index, call] of callsOf(entry).entries()) {
    const input = mapStrings(call.input ?? {}, put)
    yield { type: 'tool_input', index, text: JSON.stringify(input) }
    yield { type: 'tool_call', vendorCallId: `scripted_${step}_${index}`, name: call.name, input }
  }
}

function firstGate(entry: Entry): string | undefined {
  return entry.gate ?? piecesOf(entry).flatMap((piece) => (typeof piece === 'string' ? [] : [piece.gate]))[0]
}

function piecesOf({ text, chunks }: Entry): readonly (string | { gate: string })[] {
  return [...(text === undefined ? [] : [text]), ...(chunks ?? [])]
}

function callsOf({ tool, tools }: Entry): readonly ToolCall[] {
  return [...(tool === undefined ? [] : [tool]), ...(tools ?? [])]
}

function refused(script: string, { status, code, retryable, message, retryAfterMs }: NonNullable<Entry['error']>): ModelPart {
  const verdict = status === undefined ? { code: 'model_request' as const, retryable: false } : verdictOf(status, message)
  const text = message ?? `${script}: ${status === undefined ? 'a scripted error' : `HTTP ${status}`}`
  const error = { code: code ?? verdict.code, message: text, retryable: retryable ?? verdict.retryable }
  return { type: 'failure', error, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
}

function failure(code: FactErrorOf['code'], message: string, retryable: boolean): ModelPart {
  return { type: 'failure', error: { code, message, retryable } }
}

function filled(text: string, messages: readonly ModelMessage[]): string {
  return text.replace(/\{\{(input|last_tool_result)\}\}/g, (_, key) => (key === 'input' ? lastInput(messages) : lastToolResult(messages)))
}

/** The same value with every string in it, however deep, sent through `map`. */
function mapStrings(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, map))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapStrings(item, map)]))
}

/** Four characters a token, of what was sent and of what the entry says: the same in every run. */
function estimate(entry: Entry, { system, messages, tools }: ModelRequest): UsageOf {
  const tokens = (length: number) => Math.ceil(length / 4)
  const sent = system.length + JSON.stringify(tools).length + messages.reduce((sum, message) => sum + weight(message), 0)
  const texts = piecesOf(entry).filter((piece) => typeof piece === 'string')
  const reasoning = entry.reasoning?.length ?? 0
  const said = texts.join('').length + JSON.stringify(callsOf(entry)).length - 2 + reasoning
  const usage: UsageOf = { inputTokens: tokens(sent), outputTokens: tokens(said) }
  if (reasoning > 0) usage.reasoningTokens = tokens(reasoning)
  return usage
}

/** The characters of a message that don't differ from run to run: ids are left out. */
function weight({ content }: ModelMessage): number {
  let sum = 0
  for (const block of content) {
    if (block.type === 'text' || block.type === 'reasoning') sum += block.text.length
    else if (block.type === 'tool_use') sum += block.name.length + (JSON.stringify(block.input) ?? '').length
    else if (block.type === 'tool_result') sum += block.content.length
  }
  return sum
}
