// Owns the way from the SDK's stream to the model's parts: what a finish is worth, what seals a block, what is refused (TU-5).
import {
  InvalidResponseDataError,
  type JSONObject,
  type LanguageModelV3StreamPart,
  type SharedV3ProviderMetadata,
  type SharedV3Warning,
  TypeValidationError,
} from '@ai-sdk/provider'
import type { FinishOf } from '@quiesce/schema'
import type { Heard } from './heard-fetch.ts'
import type { ModelPart } from './model.ts'
import { fromEvent, fromFinish, refused, type VendorFailure, withoutFinish } from './vendor-errors.ts'
import { sealed, type VendorKey } from './vendor-seal.ts'
import { usageOf } from './vendor-usage.ts'

export interface StreamRules {
  /** `provider/model`. */
  model: string
  vendor: VendorKey
  scrub(text: string): string
  /** What seals reasoning of which the vendor said nothing; none: it isn't sealed. */
  unsigned?: JSONObject
  /** The kinds of a vendor's events of which the last tells how the answer ended; the SDK's finish doesn't. */
  endings?: ReadonlySet<string>
  /** Whether an event that the SDK doesn't know may be passed over. */
  isNews?(event: unknown): boolean
  /** Whether what the SDK takes for the end of an answer is one. */
  isEnd?(reason: string | undefined, ending: string | undefined): boolean
}

type SDKPart<Type> = Extract<LanguageModelV3StreamPart, { type: Type }>
type Part = ModelPart | null
type Failure = Extract<ModelPart, { type: 'failure' }>

const finishes: Readonly<Record<string, FinishOf | undefined>> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
}

/** Of one stream. */
export class StreamParts {
  readonly #rules: StreamRules
  readonly #heard: Heard
  readonly #indexes = new Map<string, number>()
  /** What the vendor said of the open blocks, by their ids; the last word counts. */
  readonly #said = new Map<string, JSONObject>()
  #ending: string | undefined

  constructor(rules: StreamRules, heard: Heard) {
    this.#rules = rules
    this.#heard = heard
  }

  /** The end of a stream that had no finish. */
  broken(): Failure {
    return failed(withoutFinish(this.#heard, this.#rules.scrub))
  }

  map(part: LanguageModelV3StreamPart): Part {
    switch (part.type) {
      case 'stream-start':
        return this.#start(part.warnings)
      case 'raw':
        return this.#event(part.rawValue)
      case 'text-start':
      case 'reasoning-start':
        return this.#note(part.id, part.providerMetadata)
      case 'text-delta':
      case 'reasoning-delta':
        this.#note(part.id, part.providerMetadata)
        return part.delta === '' ? null : { type: part.type === 'text-delta' ? 'text' : 'reasoning', text: part.delta }
      case 'text-end':
        return this.#end('text', part)
      case 'reasoning-end':
        return this.#end('reasoning', part)
      case 'tool-input-start':
        this.#indexes.set(part.id, this.#indexes.size)
        return null
      case 'tool-input-delta':
        return { type: 'tool_input', index: this.#indexes.get(part.id) ?? 0, text: part.delta }
      case 'tool-call':
        return this.#call(part)
      case 'error':
        return this.#error(part.error)
      case 'finish':
        return this.#finish(part)
      default:
        return null
    }
  }

  /** The SDK says what it left out of the request, and asks all the same. Only what was asked for is worth a failure. */
  #start(warnings: readonly SharedV3Warning[]): Part {
    for (const warning of warnings)
      if (warning.type === 'unsupported' && !warning.feature.startsWith('cache'))
        return failed({ error: refused(`${this.#rules.model} doesn't take ${warning.feature}${because(warning.details)}`) })
    return null
  }

  #event(raw: unknown): null {
    const { endings } = this.#rules
    if (endings === undefined || typeof raw !== 'object' || raw === null || !('type' in raw)) return null
    if (typeof raw.type === 'string' && endings.has(raw.type)) this.#ending = raw.type
    return null
  }

  #error(error: unknown): Part {
    if (TypeValidationError.isInstance(error) && this.#rules.isNews?.(error.value) === true) return null
    const isNoEvent = InvalidResponseDataError.isInstance(error) && error.data === undefined
    return isNoEvent ? this.broken() : failed(fromEvent(error, this.#rules.scrub))
  }

  #note(id: string, metadata: SharedV3ProviderMetadata | undefined): null {
    const said = metadata?.[this.#rules.vendor]
    if (said !== undefined && Object.keys(said).length > 0) this.#said.set(id, said)
    return null
  }

  #end(type: 'text' | 'reasoning', { id, providerMetadata }: SDKPart<'text-end' | 'reasoning-end'>): Part {
    this.#note(id, providerMetadata)
    const said = this.#said.get(id) ?? (type === 'reasoning' ? this.#rules.unsigned : undefined)
    this.#said.delete(id)
    return said === undefined ? null : { type, text: '', signature: this.#seal(said) }
  }

  #call({ toolCallId, toolName, input, providerExecuted, providerMetadata }: SDKPart<'tool-call'>): Part {
    if (providerExecuted === true)
      return failed({ error: refused(`${this.#rules.model} ran the tool ${JSON.stringify(toolName)} itself, which no log can hold`) })
    const said = providerMetadata?.[this.#rules.vendor]
    const signature = said === undefined ? {} : { signature: this.#seal(said) }
    return { type: 'tool_call', vendorCallId: toolCallId, name: toolName, ...parsedInput(input), ...signature }
  }

  #finish({ finishReason: { unified, raw }, usage: counts }: SDKPart<'finish'>): Part {
    const usage = usageOf(counts)
    const isEnd = this.#rules.isEnd?.(raw, this.#ending) ?? true
    const finish = isEnd ? finishes[unified] : undefined
    if (finish !== undefined) return { type: 'finish', finish, usage }
    const reason = raw ?? this.#ending
    return { ...(reason === undefined ? this.broken() : failed(fromFinish(reason))), usage }
  }

  #seal(said: JSONObject): string {
    return sealed(this.#rules.model, this.#rules.vendor, said)
  }
}

export function failed({ error, retryAfterMs }: VendorFailure): Failure {
  return { type: 'failure', error, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
}

function because(details: string | undefined): string {
  return details === undefined ? ': leave it out' : `: ${details}`
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
