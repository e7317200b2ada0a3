// Owns a case's script as a vendor of chat completions says it: which entry answers a conversation, and what goes over the wire for it.
// The runtime plays the same script by itself; what comes of both must be the same.
import type { ModelAnswer } from '../fixtures/model-server.mjs'
import { isObject, type Json, type JsonObject } from './case.ts'

interface Placed {
  place: string
  entry: JsonObject
}

/** A conversation as chat completions has it. */
interface Message {
  role: string
  text: string
  calls: number
}

/** What an entry that says nothing of its usage costs, so that both ways of playing it cost the same. */
const usage = { inputTokens: 11, outputTokens: 7 }

/** The script with a usage for each entry that has none. */
export function withUsage(script: Json): Json {
  const entries = (steps: Json | undefined): Json[] =>
    listOf(steps).map((entry) => (isObject(entry) ? { usage: { ...usage }, ...entry } : entry))
  if (!isObject(script)) return entries(script)
  if (script.cases === undefined) return { ...script, steps: entries(script.steps) }
  return { ...script, cases: listOf(script.cases).map((each) => (isObject(each) ? { ...each, steps: entries(each.steps) } : each)) }
}

/** What in a script can't be said in chat completions; empty where all can. */
export function unsayable(script: Json): string[] {
  return entriesOf(script).flatMap(({ place, entry }) => {
    const { error } = entry
    const codes = isObject(error) && typeof error.status !== 'number' ? [`${place}: an error without an HTTP status`] : []
    const changed = isObject(error) && (error.code !== undefined || error.retryable !== undefined)
    return [...codes, ...(changed ? [`${place}: an error of another code than its status means`] : [])]
  })
}

/** Plays a script, request after request: counts the failures that are to come so many times. */
export function player(script: Json): (body: unknown) => ModelAnswer | undefined {
  const failed = new Map<string, number>()
  return (body) => {
    const messages = messagesOf(body)
    const found = entryFor(script, messages)
    if (found === undefined) return undefined
    const { entry, place } = found
    const key = `${place} ${JSON.stringify(messages)}`
    const before = failed.get(key) ?? 0
    const isDue = (failure: Json | undefined) => isObject(failure) && before < Number(failure.times ?? Number.POSITIVE_INFINITY)
    const fails = [entry.error, entry.disconnect, entry.stall].some(isDue)
    if (fails) failed.set(key, before + 1)
    else failed.delete(key)
    const due: JsonObject = {
      ...entry,
      error: isDue(entry.error) ? (entry.error ?? null) : null,
      disconnect: isDue(entry.disconnect),
      stall: isDue(entry.stall),
    }
    return said(due, messages)
  }
}

function said(entry: JsonObject, messages: readonly Message[]): ModelAnswer {
  const { gate, error, reasoning, text, chunks, tool, tools, finish, stall, disconnect } = entry
  const filled = (value: Json): Json => fill(value, messages)
  const held = typeof gate === 'string' ? { gate } : {}
  if (isObject(error)) return { ...held, ...refusal(error) }
  const pieces = [...(text === undefined ? [] : [text]), ...listOf(chunks)].map(filled) as (string | { gate: string })[]
  const calls = [...(tool === undefined ? [] : [tool]), ...listOf(tools)].filter(isObject)
  const isSilent = stall === true && pieces.length === 0 && calls.length === 0 && reasoning === undefined
  return {
    ...held,
    ...(isSilent && { silent: true }),
    ...(typeof reasoning === 'string' && { reasoning: String(filled(reasoning)) }),
    chunks: pieces,
    toolCalls: calls.map(({ name, input }, index) => ({
      id: `call_${assistants(messages)}_${index}`,
      name: String(name),
      arguments: filled(input ?? {}),
    })),
    usage: usageOf(entry.usage),
    ...(typeof finish === 'string' && { finish }),
    ...(disconnect === true && { end: 'drop' as const }),
    ...(stall === true && { end: 'stall' as const }),
  }
}

function refusal({ status, message, retryAfterMs }: JsonObject): ModelAnswer {
  const headers: Record<string, string> = typeof retryAfterMs === 'number' ? { 'retry-after-ms': String(retryAfterMs) } : {}
  return { status: Number(status), headers, error: { message: typeof message === 'string' ? message : `a scripted ${status}` } }
}

function usageOf(given: Json | undefined): Record<string, unknown> {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = { ...usage, ...(isObject(given) ? given : {}) } as JsonObject
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: Number(inputTokens) + Number(outputTokens),
    ...(cachedInputTokens !== undefined && { prompt_tokens_details: { cached_tokens: cachedInputTokens } }),
    ...(reasoningTokens !== undefined && { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
  }
}

/** As the runtime chooses: by the number of answers so far, in all or since the latest message that opens an exchange. */
function entryFor(script: Json, messages: readonly Message[]): Placed | undefined {
  if (!isObject(script) || script.cases === undefined) {
    const steps = isObject(script) ? listOf(script.steps) : listOf(script)
    return placed('steps', steps, assistants(messages))
  }
  const cases = listOf(script.cases).filter(isObject)
  const fits = ({ when }: JsonObject, text: string) => when === undefined || matcher(String(when))(text)
  const lastEnd = messages.findLastIndex(({ role, calls }) => role === 'assistant' && calls === 0)
  const since = messages.slice(lastEnd + 1)
  const named = since.findLastIndex(
    ({ role, text }) => role === 'user' && cases.some((each) => each.when !== undefined && fits(each, text)),
  )
  const first = since.findIndex(({ role }) => role === 'user')
  const start = named === -1 ? Math.max(first, 0) : named
  const index = cases.findIndex((each) => fits(each, since[start]?.text ?? ''))
  return placed(`cases-${index}`, listOf(cases[index]?.steps), assistants(since.slice(start + 1)))
}

function placed(place: string, steps: readonly Json[], index: number): Placed | undefined {
  const entry = steps[index]
  return isObject(entry) ? { place: `${place}-${index}`, entry } : undefined
}

const assistants = (messages: readonly Message[]): number => messages.filter(({ role }) => role === 'assistant').length

function matcher(when: string): (text: string) => boolean {
  const [, pattern, flags] = /^\/(.+)\/([imsu]*)$/s.exec(when) ?? []
  return pattern === undefined ? (text) => text.includes(when) : (text) => new RegExp(pattern, flags).test(text)
}

function messagesOf(body: unknown): Message[] {
  return listOf(isObject(body) ? body.messages : undefined)
    .filter(isObject)
    .map(({ role, content, tool_calls: calls }) => ({ role: String(role), text: textOf(content), calls: listOf(calls).length }))
}

function textOf(content: Json | undefined): string {
  if (typeof content === 'string') return content
  return listOf(content)
    .flatMap((part) => (isObject(part) && typeof part.text === 'string' ? [part.text] : []))
    .join('\n')
}

function fill(value: Json, messages: readonly Message[]): Json {
  const last = (role: string) => messages.findLast((message) => message.role === role)?.text ?? ''
  if (typeof value === 'string')
    return value.replace(/\{\{(input|last_tool_result)\}\}/g, (_, key) => last(key === 'input' ? 'user' : 'tool'))
  if (Array.isArray(value)) return value.map((each) => fill(each, messages))
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fill(each, messages)])) : value
}

function entriesOf(script: Json): Placed[] {
  const entries = (place: string, steps: Json | undefined): Placed[] =>
    listOf(steps).flatMap((entry, index) => (isObject(entry) ? [{ place: `${place}[${index}]`, entry }] : []))
  if (!isObject(script)) return entries('model', script)
  if (script.cases === undefined) return entries('model.steps', script.steps)
  return listOf(script.cases).flatMap((each, index) => (isObject(each) ? entries(`model.cases[${index}].steps`, each.steps) : []))
}

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])
