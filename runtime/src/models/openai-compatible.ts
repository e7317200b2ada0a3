// Owns the models behind any server of the chat-completions wire format. The only file that loads the AI SDK.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { LanguageModelV3CallOptions, LanguageModelV3StreamPart, LanguageModelV3Usage } from '@ai-sdk/provider'
import type { FinishOf, ModelOptionsOf, UsageOf } from '@quiesce/schema'
import type { Model, ModelPart, ModelRequest } from './model.ts'
import { promptOf, toolsOf, UnsupportedContent } from './openai-prompt.ts'
import { fromEvent, fromFinish, fromThrown, scrubber, type VendorFailure } from './vendor-errors.ts'

export interface OpenAICompatibleSettings {
  /** `provider/model`, as the session names it. */
  name: string
  /** What the server calls the model. */
  modelId: string
  /** Up to and without `/chat/completions`. */
  baseURL: string
  /** Sent as a bearer token; never part of a message. */
  apiKey?: string
  contextWindow?: number
  /** Unix milliseconds, for a `Retry-After` that is a date. */
  now(): number
}

/** The key under which the SDK takes what goes into the body as it is. */
const passedThrough = 'openaiCompatible'

export function openAICompatible(settings: OpenAICompatibleSettings): Model {
  const { name, modelId, baseURL, apiKey, contextWindow, now } = settings
  const scrub = scrubber(apiKey === undefined ? [] : [apiKey])
  /** Who hears the bytes of a request: fetch gets the request's own signal. */
  const ears = new WeakMap<AbortSignal, () => void>()
  // Once: it builds the schemas with which each answer is checked, and they are slow to build.
  const chatModel = createOpenAICompatible({
    name: passedThrough,
    baseURL,
    includeUsage: true,
    headers: { 'User-Agent': 'quiesce' },
    fetch: heardFetch(ears),
    ...(apiKey === undefined ? {} : { apiKey }),
  }).chatModel(modelId)
  return {
    name,
    ...(contextWindow === undefined ? {} : { contextWindow }),
    async *stream(request: ModelRequest): AsyncGenerator<ModelPart> {
      if (request.onBytes !== undefined) ears.set(request.signal, request.onBytes)
      let begun = false
      try {
        const { stream } = await chatModel.doStream(callOptions(request))
        begun = true
        yield* parts(stream, request.signal, scrub)
      } catch (thrown) {
        // An abort shows as an error of several classes: the signal tells.
        if (request.signal.aborted) return
        if (thrown instanceof UnsupportedContent)
          yield { type: 'failure', error: { code: 'model_request', message: thrown.message, retryable: false } }
        else yield failed(fromThrown(thrown, begun, now(), scrub))
      }
    },
  }
}

type Stream = ReadableStream<LanguageModelV3StreamPart>

async function* parts(stream: Stream, signal: AbortSignal, scrub: (text: string) => string): AsyncGenerator<ModelPart> {
  const indexes = new Map<string, number>()
  for await (const part of stream) {
    if (signal.aborted) return
    const mapped = mapPart(part, indexes, scrub)
    if (mapped === null) continue
    yield mapped
    if (mapped.type === 'failure') return // an error event wins over a later finish
  }
}

function callOptions({ system, messages, tools, options, signal }: ModelRequest): LanguageModelV3CallOptions {
  return {
    prompt: promptOf(system, messages),
    tools: toolsOf(tools),
    abortSignal: signal,
    ...(options.temperature === undefined ? {} : { temperature: options.temperature }),
    ...(options.maxOutputTokens === undefined ? {} : { maxOutputTokens: options.maxOutputTokens }),
    ...(options.stop === undefined ? {} : { stopSequences: options.stop }),
    ...(options.seed === undefined ? {} : { seed: options.seed }),
    providerOptions: { [passedThrough]: providerOptions(options) },
  }
}

type JSONObject = NonNullable<LanguageModelV3CallOptions['providerOptions']>[string]

/** They came as JSON over the wire; the round trip gives them that type, and drops what JSON can't say. */
function providerOptions({ providerOptions, reasoningEffort }: ModelOptionsOf): JSONObject {
  const passed: JSONObject = JSON.parse(JSON.stringify(providerOptions ?? {}))
  return reasoningEffort === undefined ? passed : { ...passed, reasoningEffort }
}

function mapPart(part: LanguageModelV3StreamPart, indexes: Map<string, number>, scrub: (text: string) => string): ModelPart | null {
  switch (part.type) {
    case 'text-delta':
      return { type: 'text', text: part.delta }
    case 'reasoning-delta':
      return { type: 'reasoning', text: part.delta }
    case 'tool-input-start':
      indexes.set(part.id, indexes.size)
      return null
    case 'tool-input-delta':
      return { type: 'tool_input', index: indexes.get(part.id) ?? 0, text: part.delta }
    case 'tool-call':
      return { type: 'tool_call', vendorCallId: part.toolCallId, name: part.toolName, ...parsedInput(part.input) }
    case 'error':
      return failed(fromEvent(part.error, scrub))
    case 'finish': {
      const finish = finishes[part.finishReason.unified]
      const usage = usageOf(part.usage)
      return finish === undefined ? { ...failed(fromFinish(part.finishReason.raw)), usage } : { type: 'finish', finish, usage }
    }
    default:
      return null
  }
}

const finishes: Readonly<Record<string, FinishOf | undefined>> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
}

function failed({ error, retryAfterMs }: VendorFailure): Extract<ModelPart, { type: 'failure' }> {
  return { type: 'failure', error, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
}

/** No arguments at all is what several servers send for a tool without parameters. */
function parsedInput(text: string): { input: unknown; invalid?: string } {
  if (text.trim() === '') return { input: {} }
  try {
    return { input: JSON.parse(text) }
  } catch {
    return { input: null, invalid: text }
  }
}

function usageOf({ inputTokens, outputTokens, raw }: LanguageModelV3Usage): UsageOf {
  const usage: UsageOf = { inputTokens: count(inputTokens.total), outputTokens: count(outputTokens.total) }
  // DeepSeek counts its cache in a field of its own.
  const cached = count(inputTokens.cacheRead) || count(raw?.prompt_cache_hit_tokens)
  if (cached > 0) usage.cachedInputTokens = cached
  if (count(outputTokens.reasoning) > 0) usage.reasoningTokens = count(outputTokens.reasoning)
  return usage
}

function count(value: unknown): number {
  return typeof value === 'number' && value > 0 ? Math.floor(value) : 0
}

/** Node's own fetch, which shares connections, with an ear on the body: keep-alive comments are bytes that no part shows. */
function heardFetch(ears: WeakMap<AbortSignal, () => void>): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await globalThis.fetch(input, init)
    const onBytes = init?.signal ? ears.get(init.signal) : undefined
    if (onBytes === undefined || response.body === null || !response.ok) return response
    const ear = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        onBytes()
        controller.enqueue(chunk)
      },
    })
    return new Response(response.body.pipeThrough(ear), response)
  }
}
