// Owns what a model's name needs before its provider is loaded: the server, the key, the script. No secret in any message.
import { Refusal } from '../log/refusal.ts'

/** A provider of the user's own, used as `<its name>/<model>`. */
export interface NamedModel {
  /** What it is made of: `openai-compatible`, or `scripted`. */
  provider: string
  /** Default: OPENAI_COMPATIBLE_BASE_URL. */
  baseURL?: string
  /** The environment variable that holds the key; without one, none is sent to `baseURL`. */
  apiKeyEnv?: string
  contextWindow?: number
  /** The model that its bare name means. */
  model?: string
}

export interface ModelsConfig {
  /** `provider/model`. */
  default?: string
  env: Readonly<Record<string, string | undefined>>
  named: Readonly<Record<string, NamedModel>>
  /** Where `scripted/<file>` looks; default: the working directory. */
  scriptsDir?: string
}

export interface ServerSettings {
  name: string
  modelId: string
  baseURL: string
  apiKey?: string
  contextWindow?: number
}

export type ModelSettings =
  | { provider: 'scripted'; name: string; script: string }
  | { provider: 'openai-compatible'; name: string; server: ServerSettings }

const builtIn: Readonly<Record<string, NamedModel>> = {
  'openai-compatible': { provider: 'openai-compatible' },
  deepseek: { provider: 'openai-compatible', baseURL: 'https://api.deepseek.com/v1', apiKeyEnv: 'DEEPSEEK_API_KEY' },
  scripted: { provider: 'scripted' },
}

export function providerNames({ named }: ModelsConfig): string[] {
  return [...new Set([...Object.keys(builtIn), ...Object.keys(named)])].sort()
}

/** *Contract:* throws Refusal `unknown_model` or `model_auth`. */
export function settingsFor(config: ModelsConfig, given: string): ModelSettings {
  const slash = given.indexOf('/')
  const provider = slash === -1 ? given : given.slice(0, slash)
  const definition = definitionOf(config, provider, given)
  const model = slash === -1 ? definition.model : given.slice(slash + 1)
  if (model === undefined || model === '') throw unknown(given, `it names no model: write ${provider}/<model>`)
  const name = `${provider}/${model}`
  if (definition.provider === 'scripted') return { provider: 'scripted', name, script: model }
  if (definition.provider !== 'openai-compatible')
    throw unknown(given, `its provider ${JSON.stringify(definition.provider)} is not one of openai-compatible, scripted`)
  return { provider: 'openai-compatible', name, server: serverOf(config, definition, name, model) }
}

function definitionOf(config: ModelsConfig, provider: string, given: string): NamedModel {
  for (const among of [config.named, builtIn]) {
    const found = Object.hasOwn(among, provider) ? among[provider] : undefined
    if (found !== undefined) return found
  }
  throw unknown(
    given,
    `${JSON.stringify(provider)} is no provider: known are ${providerNames(config).join(', ')}; a model is written provider/model`,
  )
}

function serverOf({ env }: ModelsConfig, definition: NamedModel, name: string, modelId: string): ServerSettings {
  const { contextWindow } = definition
  const where = definition.baseURL === undefined ? 'OPENAI_COMPATIBLE_BASE_URL' : 'baseURL'
  const text = definition.baseURL ?? setting(env, 'OPENAI_COMPATIBLE_BASE_URL')
  if (text === undefined) throw unknown(name, `set ${where} to the server's base URL, for example http://127.0.0.1:8000/v1`)
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw unknown(name, `${where} must be a http or https URL, for example http://127.0.0.1:8000/v1`)
  if (url.username !== '' || url.password !== '')
    throw unknown(name, `${where} must not carry credentials: put the key in an environment variable`)
  const apiKey = keyOf(env, definition, url, name)
  return {
    name,
    modelId,
    baseURL: text,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(contextWindow === undefined ? {} : { contextWindow }),
  }
}

/** A server on this machine may do without; a key is sent only where its configuration says so. */
function keyOf(env: ModelsConfig['env'], { baseURL, apiKeyEnv }: NamedModel, url: URL, name: string): string | undefined {
  const variable = apiKeyEnv ?? (baseURL === undefined ? 'OPENAI_COMPATIBLE_API_KEY' : undefined)
  if (variable === undefined) return undefined
  const key = setting(env, variable)
  if (key !== undefined || (apiKeyEnv === undefined && isLoopback(url.hostname))) return key
  throw new Refusal('model_auth', `${JSON.stringify(name)} needs a key: set ${variable}`, { model: name, variable })
}

/** Blank counts as absent: a lost secret often leaves an empty variable. */
function setting(env: ModelsConfig['env'], variable: string): string | undefined {
  const value = env[variable]?.trim()
  return value === '' ? undefined : value
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname)
}

function unknown(model: string, why: string): Refusal {
  return new Refusal('unknown_model', `unknown model ${JSON.stringify(model)}: ${why}`, { model })
}
