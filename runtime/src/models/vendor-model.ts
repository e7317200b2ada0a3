// Owns a model over a vendor's SDK at the provider interface: the request, the stream, its failures. Knows no vendor but by its rules.
import type {
  JSONObject,
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3Prompt,
  LanguageModelV3StreamPart,
} from '@ai-sdk/provider'
import type { ModelOptionsOf } from '@quiesce/schema'
import type { Ears, Heard } from './heard-fetch.ts'
import type { Model, ModelPart, ModelRequest } from './model.ts'
import { marked, type PromptRules, promptOf, toolsOf, UnsupportedContent } from './prompt.ts'
import { scrubber } from './scrubber.ts'
import { failed, StreamParts, type StreamRules } from './stream-parts.ts'
import { fromThrown, refused } from './vendor-errors.ts'
import type { VendorSettings } from './vendor-settings.ts'

/** An option that this model can't be given; its message is for the failure of the step. */
export class UnsupportedOption extends Error {}

export interface VendorRules {
  prompt: Omit<PromptRules, 'model'>
  stream: Pick<StreamRules, 'unsigned' | 'endings' | 'isNews' | 'isEnd'>
  /** The model options that the vendor has nothing for. */
  untaken: readonly (keyof ModelOptionsOf)[]
  /** What the request's options come to. *Contract:* throws UnsupportedOption. */
  settings(request: ModelRequest, prompt: LanguageModelV3Prompt): VendorCall
}

export interface VendorCall extends Omit<LanguageModelV3CallOptions, 'prompt' | 'tools' | 'abortSignal' | 'providerOptions'> {
  /** Of the vendor, without its key. */
  options: JSONObject
  /** The options of a message, and of the last tool, that mark a place of the vendor's cache. */
  cacheMark?: JSONObject
}

/** `sdk` asks by the fetch of these ears. */
export function vendorModel(settings: VendorSettings, sdk: LanguageModelV3, ears: Ears, rules: VendorRules): Model {
  const { name, apiKey, contextWindow, now } = settings
  const scrub = scrubber(apiKey === undefined ? [] : [apiKey])
  const failureOf = (thrown: unknown, begun: boolean, heard: Heard): ModelPart => {
    if (thrown instanceof UnsupportedContent || thrown instanceof UnsupportedOption) return failed({ error: refused(thrown.message) })
    return failed(fromThrown(thrown, { begun, heard, now: now(), scrub }))
  }
  return {
    name,
    ...(contextWindow === undefined ? {} : { contextWindow }),
    async *stream(request: ModelRequest): AsyncGenerator<ModelPart> {
      const heard = ears.listen(request.signal, request.onBytes)
      const parts = new StreamParts({ model: name, vendor: rules.prompt.vendor, scrub, ...rules.stream }, heard)
      let reader: Reader | undefined
      let isFinished = false
      try {
        reader = (await sdk.doStream(callOf(request, name, rules))).stream.getReader()
        for (let read = await reader.read(); !read.done; read = await reader.read()) {
          if (request.signal.aborted) return
          const part = parts.map(read.value)
          if (part === null) continue
          isFinished = part.type === 'finish'
          yield part
          if (isFinished || part.type === 'failure') return // an error event wins over a later finish
        }
        if (!request.signal.aborted) yield parts.broken()
      } catch (thrown) {
        // An abort shows as an error of several classes: the signal tells.
        if (!request.signal.aborted) yield failureOf(thrown, reader !== undefined, heard)
      } finally {
        if (reader !== undefined) leave(reader, isFinished)
      }
    },
  }
}

type Reader = ReadableStreamDefaultReader<LanguageModelV3StreamPart>

/** How long a vendor has to end a stream that is finished. */
const lingerMs = 500

/** A connection whose stream is read to its end can be used again, so a finished one gets a moment to end; any other is given up. */
function leave(reader: Reader, isFinished: boolean): void {
  const giveUp = () => {
    reader.cancel().catch(() => undefined)
  }
  if (!isFinished) {
    giveUp()
    return
  }
  const limit = AbortSignal.timeout(lingerMs)
  limit.addEventListener('abort', giveUp)
  const readOn = (): Promise<void> => reader.read().then(({ done }) => (done ? undefined : readOn()))
  readOn()
    .catch(() => undefined)
    .finally(() => limit.removeEventListener('abort', giveUp))
}

function callOf(request: ModelRequest, model: string, { prompt: promptRules, untaken, settings }: VendorRules): LanguageModelV3CallOptions {
  const { system, messages, options, signal } = request
  for (const option of untaken)
    if (options[option] !== undefined) throw new UnsupportedOption(`${model} doesn't take modelOptions.${option}: leave it out`)
  const prompt = promptOf(system, messages, { model, ...promptRules })
  const { options: vendorOptions, cacheMark, ...call } = settings(request, prompt)
  const underKey = (given: JSONObject) => ({ [promptRules.vendor]: given })
  const tools = toolsOf(request.tools)
  const last = tools.at(-1)
  if (cacheMark !== undefined && last !== undefined) last.providerOptions = underKey(cacheMark)
  return {
    prompt: cacheMark === undefined ? prompt : marked(prompt, underKey(cacheMark)),
    tools,
    abortSignal: signal,
    ...(options.temperature === undefined ? {} : { temperature: options.temperature }),
    ...(options.maxOutputTokens === undefined ? {} : { maxOutputTokens: options.maxOutputTokens }),
    ...(options.stop === undefined ? {} : { stopSequences: options.stop }),
    ...(options.seed === undefined ? {} : { seed: options.seed }),
    ...call,
    providerOptions: underKey(vendorOptions),
  }
}
