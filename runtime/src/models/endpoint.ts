// Owns where a provider's server is and which key it gets (and no other): from its definition, the environment, or the vendor's own
// address. No secret in any message.
import type { NamedModel } from './providers.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface Endpoint {
  baseURL?: string
  /** Where the base URL comes from: `baseURL`, the variable, or `default`. */
  from: string
  /** The variable that holds the key; absent where none is sent. */
  keyVariable?: string
  apiKey?: string
  /** What stands in the way of a request. */
  fault: { code: 'unknown_model' | 'model_auth'; why: string } | null
}

interface Vendor {
  keyVariable: string
  urlVariable: string
  /** The vendor's own. */
  baseURL?: string
}

const vendors: Readonly<Record<Exclude<NamedModel['provider'], 'scripted'>, Vendor>> = {
  'openai-compatible': { keyVariable: 'OPENAI_COMPATIBLE_API_KEY', urlVariable: 'OPENAI_COMPATIBLE_BASE_URL' },
  openai: { keyVariable: 'OPENAI_API_KEY', urlVariable: 'OPENAI_BASE_URL', baseURL: 'https://api.openai.com/v1' },
  anthropic: { keyVariable: 'ANTHROPIC_API_KEY', urlVariable: 'ANTHROPIC_BASE_URL', baseURL: 'https://api.anthropic.com/v1' },
}

/**
 * A key is sent where it belongs, and nowhere else: the vendor's own variable to the address that the environment or the vendor
 * gives, and to a `baseURL` of a definition only the key that the definition names. A server on this machine may do without.
 */
export function endpointOf(env: Environment, provider: keyof typeof vendors, definition: NamedModel): Endpoint {
  const vendor = vendors[provider]
  const { text, from } = addressOf(env, vendor, definition)
  const keyVariable = definition.apiKeyEnv ?? (definition.baseURL === undefined ? vendor.keyVariable : undefined)
  const known = { from, ...(keyVariable !== undefined && { keyVariable }) }
  if (text === undefined) {
    const why = `set ${vendor.urlVariable} to the server's base URL, for example http://127.0.0.1:8000/v1`
    return { ...known, fault: { code: 'unknown_model', why } }
  }
  const wrong = addressFault(text)
  if (wrong !== null) return { ...known, fault: { code: 'unknown_model', why: `${from === 'default' ? 'baseURL' : from} ${wrong}` } }
  const baseURL = from === 'ANTHROPIC_BASE_URL' ? withVersion(text) : text
  if (keyVariable === undefined) return { ...known, baseURL, fault: null }
  const apiKey = settingOf(env, keyVariable)
  if (apiKey === undefined) {
    const isNeeded = definition.apiKeyEnv !== undefined || !isLoopback(text)
    return { ...known, baseURL, fault: isNeeded ? { code: 'model_auth', why: `set ${keyVariable}` } : null }
  }
  if (!/^[\x20-\x7e]+$/.test(apiKey)) {
    const why = `${keyVariable} holds a character that no key has: a line break, or one that is not ASCII`
    return { ...known, baseURL, fault: { code: 'model_auth', why } }
  }
  return { ...known, baseURL, apiKey, fault: null }
}

/** Blank counts as absent: a lost secret often leaves an empty variable. */
export function settingOf(env: Environment, variable: string): string | undefined {
  const value = env[variable]?.trim()
  return value === '' ? undefined : value
}

/** What is wrong with a base URL, as the end of a sentence that begins with its name; it may hold a secret, and is never repeated. */
export function addressFault(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) return 'must be a http or https URL, for example http://127.0.0.1:8000/v1'
  if (url.username !== '' || url.password !== '') return 'must not carry credentials: put the key in an environment variable'
  if (/[?#]/.test(text)) return 'must end with its path: the rest of the address is put behind it'
  return null
}

export function isLoopback(address: string): boolean {
  const { hostname } = new URL(address)
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname)
}

function addressOf(env: Environment, vendor: Vendor, { baseURL }: NamedModel): { text: string | undefined; from: string } {
  if (baseURL !== undefined) return { text: baseURL, from: 'baseURL' }
  const set = settingOf(env, vendor.urlVariable)
  return set === undefined && vendor.baseURL !== undefined
    ? { text: vendor.baseURL, from: 'default' }
    : { text: set, from: vendor.urlVariable }
}

/** The vendor's own programs take this variable without the version; others with it. Both are meant. */
function withVersion(text: string): string {
  const bare = text.replace(/\/+$/, '')
  return /\/v\d+$/.test(bare) ? bare : `${bare}/v1`
}
