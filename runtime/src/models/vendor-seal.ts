// Owns the text in which a block keeps what its vendor wants back verbatim, and the model that alone may have it back.
import type { JSONObject, JSONValue } from '@ai-sdk/provider'

/** A vendor's key in the SDK's options and metadata. */
export type VendorKey = 'anthropic' | 'openai' | 'openaiCompatible'

/**
 * The `signature` of a block, JSON text: `{"model": "provider/model", "<vendor>": {...}}`, the inner object being the vendor's own.
 * A vendor refuses what another one signed, and some refuse what another model of theirs signed.
 */
export function sealed(model: string, vendor: VendorKey, metadata: JSONObject): string {
  return JSON.stringify({ model, [vendor]: metadata })
}

/** What was sealed, if it was for this model of this vendor. */
export function unsealed(signature: unknown, model: string, vendor: VendorKey): JSONObject | undefined {
  if (typeof signature !== 'string') return undefined
  const seal = parsed(signature)
  if (!isObject(seal) || seal.model !== model) return undefined
  const metadata = seal[vendor]
  return isObject(metadata) ? metadata : undefined
}

function parsed(text: string): JSONValue {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function isObject(value: JSONValue | undefined): value is JSONObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
