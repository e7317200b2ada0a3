// Owns what a caller's provider options are worth to a vendor: nothing that is given is lost without a word.
import type { JSONObject, JSONValue, LanguageModelV3CallOptions } from '@ai-sdk/provider'
import { UnsupportedOption } from './vendor-model.ts'

/** By option: whether it is passed on, or why it can't be. */
export type KnownOptions<Options> = Readonly<Record<keyof Options & string, true | string>>

/** They came as JSON over the wire; the round trip gives them that type, and drops what JSON can't say. */
export function givenOptions(providerOptions: Readonly<Record<string, unknown>> | undefined): JSONObject {
  return JSON.parse(JSON.stringify(providerOptions ?? {}))
}

const samplers = ['topP', 'topK', 'presencePenalty', 'frequencyPenalty'] as const
type Samplers = Pick<LanguageModelV3CallOptions, (typeof samplers)[number]>

/** *Contract:* throws UnsupportedOption for one that the vendor's SDK would pass over, or that can't be kept. */
export function checkedOptions(
  model: string,
  known: Readonly<Record<string, true | string>>,
  providerOptions: Readonly<Record<string, unknown>> | undefined,
): { options: JSONObject; sampling: Samplers } {
  const options: JSONObject = {}
  const sampling: Samplers = {}
  for (const [name, value] of Object.entries(givenOptions(providerOptions))) {
    const sampler = samplers.find((other) => other === name)
    if (sampler !== undefined) sampling[sampler] = number(name, value)
    else options[name] = checked(model, known, name, value)
  }
  return { options, sampling }
}

function checked(model: string, known: Readonly<Record<string, true | string>>, name: string, value: JSONValue | undefined): JSONValue {
  const verdict = Object.hasOwn(known, name) ? known[name] : undefined
  if (verdict === true) return value ?? null
  const place = `modelOptions.providerOptions.${name}`
  if (verdict !== undefined) throw new UnsupportedOption(`${place}: ${verdict}`)
  const names = [...Object.keys(known).filter((other) => known[other] === true), ...samplers].sort().join(', ')
  throw new UnsupportedOption(`${place} is no option of ${model}: there are ${names}`)
}

function number(name: string, value: JSONValue | undefined): number {
  if (typeof value === 'number') return value
  throw new UnsupportedOption(`modelOptions.providerOptions.${name} must be a number, not ${JSON.stringify(value)}`)
}
