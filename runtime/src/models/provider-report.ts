// Owns what can be told of each provider without asking its server: whether it is configured, and what it lacks. Holds no secret.
import type { ModelOptionsOf } from '@quiesce/schema'
import { endpointOf, isLoopback, settingOf } from './endpoint.ts'
import { definitionOf, type ModelsConfig, type NamedModel, providerNames } from './providers.ts'
import type { RetryPolicy } from './retry.ts'

export interface ProviderReport {
  /** As a model's name begins. */
  name: string
  /** What it is made of. */
  provider: NamedModel['provider']
  /** The wire format that it speaks; null where it asks no server. */
  api: 'messages' | 'responses' | 'chat' | null
  /** Without credentials and query; null where there is none, or none that can be used. */
  baseURL: string | null
  /** `baseURL`, a variable, or `default`; null where it asks no server. */
  baseURLFrom: string | null
  /** The variable of its key, never what it holds; null where none is sent. */
  key: { variable: string; set: boolean } | null
  contextWindow: number | null
  /** The model that the bare name means. */
  model: string | null
  modelOptions?: ModelOptionsOf
  retry?: Partial<RetryPolicy>
  configured: boolean
  /** Why it is not. */
  reason?: string
  warning?: string
}

export function reportProviders(config: ModelsConfig): ProviderReport[] {
  return providerNames(config).flatMap((name) => {
    const definition = definitionOf(config, name)
    return definition === undefined ? [] : [report(config, name, definition)]
  })
}

function report(config: ModelsConfig, name: string, definition: NamedModel): ProviderReport {
  const { provider, model = null, contextWindow = null, modelOptions, retry } = definition
  const common = {
    name,
    provider,
    contextWindow,
    model,
    ...(modelOptions !== undefined && { modelOptions }),
    ...(retry !== undefined && { retry }),
  }
  if (provider === 'scripted') return { ...common, api: null, baseURL: null, baseURLFrom: null, key: null, configured: true }
  const { baseURL, from, keyVariable, apiKey, fault } = endpointOf(config.env, provider, definition)
  const isOpen = apiKey !== undefined && baseURL?.startsWith('http:') === true && !isLoopback(baseURL)
  return {
    ...common,
    api: apiOf(provider, definition),
    baseURL: baseURL ?? null,
    baseURLFrom: from,
    key: keyVariable === undefined ? null : { variable: keyVariable, set: settingOf(config.env, keyVariable) !== undefined },
    configured: fault === null,
    ...(fault !== null && { reason: fault.why }),
    ...(isOpen && { warning: 'it goes there unencrypted: use https' }),
  }
}

function apiOf(provider: NamedModel['provider'], { api = 'responses' }: NamedModel): ProviderReport['api'] {
  if (provider === 'anthropic') return 'messages'
  return provider === 'openai' ? api : 'chat'
}
