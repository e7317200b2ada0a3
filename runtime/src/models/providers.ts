// Owns what a model's name means before its provider is loaded: the definition behind it, the server, the key, the script.
import type { ModelOptionsOf } from '@quiesce/schema'
import { Refusal } from '../log/refusal.ts'
import { type Endpoint, type Environment, endpointOf } from './endpoint.ts'
import type { RetryPolicy } from './retry.ts'
import type { VendorSettings } from './vendor-settings.ts'

export const providerKinds = ['openai-compatible', 'openai', 'anthropic', 'scripted'] as const
export const openAIApis = ['responses', 'chat'] as const

/** A provider of the user's own, used as `<its name>/<model>`. */
export interface NamedModel {
  /** What it is made of. */
  provider: (typeof providerKinds)[number]
  /** Default: the provider's variable, then the vendor's own. */
  baseURL?: string
  /** The environment variable that holds the key; without one, none is sent to `baseURL`. */
  apiKeyEnv?: string
  /** Of `openai` alone; default: `responses`. */
  api?: (typeof openAIApis)[number]
  contextWindow?: number
  /** The model that its bare name means. */
  model?: string
  /** For what a session doesn't set itself. */
  modelOptions?: ModelOptionsOf
  retry?: Partial<RetryPolicy>
}

export interface ModelsConfig {
  /** `provider/model`. */
  default?: string
  env: Environment
  named: Readonly<Record<string, NamedModel>>
  /** Names that a file defines which doesn't count, and what to do about it. */
  refused?: Readonly<Record<string, string>>
  /** Where `scripted/<file>` looks; default: the working directory. */
  scriptsDir?: string
}

export type ServerSettings = Omit<VendorSettings, 'now'>

export type ModelSettings =
  | { provider: 'scripted'; name: string; script: string }
  | { provider: 'openai-compatible' | 'anthropic'; name: string; server: ServerSettings }
  | { provider: 'openai'; name: string; server: ServerSettings; api: (typeof openAIApis)[number] }

const builtIn: Readonly<Record<string, NamedModel>> = {
  anthropic: { provider: 'anthropic' },
  openai: { provider: 'openai' },
  'openai-compatible': { provider: 'openai-compatible' },
  deepseek: { provider: 'openai-compatible', baseURL: 'https://api.deepseek.com/v1', apiKeyEnv: 'DEEPSEEK_API_KEY' },
  scripted: { provider: 'scripted' },
}

export type Providers = Pick<ModelsConfig, 'named' | 'refused'>

export function providerNames({ named }: Providers): string[] {
  return [...new Set([...Object.keys(builtIn), ...Object.keys(named)])].sort()
}

/** What the provider `name` is made of: the user's own first. */
export function definitionOf({ named }: Providers, name: string): NamedModel | undefined {
  for (const among of [named, builtIn]) if (Object.hasOwn(among, name)) return among[name]
  return undefined
}

/** `provider/model` in its parts; a model's name may hold slashes itself, and a bare provider stands for its own `model`. */
export function partsOf(providers: Providers, given: string): { provider: string; model: string | undefined } {
  const slash = given.indexOf('/')
  if (slash !== -1) return { provider: given.slice(0, slash), model: given.slice(slash + 1) }
  return { provider: given, model: definitionOf(providers, given)?.model }
}

/** What the model's name stands for. *Contract:* throws Refusal `unknown_model`. */
export function namedBy(config: Providers, given: string): { name: string; provider: string; model: string; definition: NamedModel } {
  const { provider, model } = partsOf(config, given)
  const definition = definitionOf(config, provider)
  if (definition === undefined) throw unknown(given, undefinedReason(config, provider))
  if (model === undefined || model === '') throw unknown(given, `it names no model: write ${provider}/<model>`)
  return { name: `${provider}/${model}`, provider, model, definition }
}

/** *Contract:* throws Refusal `unknown_model` or `model_auth`. */
export function settingsFor(config: ModelsConfig, given: string): ModelSettings {
  const { name, model, definition } = namedBy(config, given)
  const { provider, contextWindow, api = 'responses' } = definition
  if (provider === 'scripted') return { provider, name, script: model }
  const { baseURL, apiKey, fault, keyVariable } = endpointOf(config.env, provider, definition)
  if (fault !== null || baseURL === undefined) throw refusalOf(name, fault, keyVariable)
  const server = {
    name,
    modelId: model,
    baseURL,
    ...(apiKey !== undefined && { apiKey }),
    ...(contextWindow !== undefined && { contextWindow }),
  }
  return provider === 'openai' ? { provider, name, server, api } : { provider, name, server }
}

function refusalOf(name: string, fault: Endpoint['fault'], variable: string | undefined): Refusal {
  if (fault?.code !== 'model_auth') return unknown(name, fault?.why ?? 'it has no base URL')
  return new Refusal('model_auth', `${JSON.stringify(name)} needs a key: ${fault.why}`, { model: name, variable })
}

function undefinedReason(config: Providers, provider: string): string {
  const refused = config.refused ?? {}
  if (Object.hasOwn(refused, provider)) return `${refused[provider]}`
  return `${JSON.stringify(provider)} is no provider: known are ${providerNames(config).join(', ')}; a model is written provider/model`
}

function unknown(model: string, why: string): Refusal {
  return new Refusal('unknown_model', `unknown model ${JSON.stringify(model)}: ${why}`, { model })
}
