// Owns the check of every frame against the protocol's JSON Schema, by ajv: independent of what the SDKs and the runtime use.
import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { isObject, type JsonObject } from './case.ts'
import { HarnessError } from './harness-error.ts'
import { SubscriptionCheck } from './subscription-check.ts'

interface Ref {
  $ref: string
}
interface Schema {
  $id?: string
  'x-methods': Record<string, { params: Ref; result: Ref }>
  'x-notifications': Record<string, { params: Ref }>
}

interface Asked {
  method: string
  params: JsonObject
}

export class FrameSchema {
  readonly #ajv: Ajv2020
  readonly #schema: Schema
  readonly #compiled = new Map<string, ValidateFunction>()

  constructor(path: string) {
    this.#schema = JSON.parse(readFileSync(path, 'utf8'))
    this.#ajv = new Ajv2020({ strict: false, allErrors: false, logger: false })
    this.#ajv.addSchema({ ...this.#schema, $id: 'protocol' })
  }

  get methods(): readonly string[] {
    return Object.keys(this.#schema['x-methods'])
  }

  params(method: string, value: unknown): string | null {
    const found = this.#schema['x-methods'][method]
    return found === undefined ? `there is no method ${method}` : this.#fault(found.params, value)
  }

  result(method: string, value: unknown): string | null {
    const found = this.#schema['x-methods'][method]
    return found === undefined ? null : this.#fault(found.result, value)
  }

  notification(method: string, params: unknown): string | null {
    const found = this.#schema['x-notifications'][method]
    return found === undefined ? `there is no notification ${method}` : this.#fault(found.params, params)
  }

  error(value: unknown): string | null {
    return this.#fault({ $ref: '#/$defs/RpcErrorObject' }, value)
  }

  #fault({ $ref }: Ref, value: unknown): string | null {
    let validate = this.#compiled.get($ref)
    if (validate === undefined) {
      validate = this.#ajv.getSchema(`protocol${$ref}`)
      if (validate === undefined) throw new HarnessError(`the protocol's schema has no ${$ref}`)
      this.#compiled.set($ref, validate)
    }
    if (validate(value)) return null
    const [first] = validate.errors ?? []
    return `${first?.instancePath || 'the whole'} ${first?.message ?? 'is not valid'}`
  }
}

/** Checks the frames of one connection, both ways: each for itself, and what each subscription gets. */
export class FrameCheck {
  readonly #schema: FrameSchema
  /** By their ids: the same id may be in flight twice, where a case means it. */
  readonly #asked = new Map<string, Asked[]>()
  readonly #subscriptions = new SubscriptionCheck()

  constructor(schema: FrameSchema) {
    this.#schema = schema
  }

  /** A client's faulty request is its own business: only what a server says is judged. */
  toServer(frame: unknown): void {
    if (!isObject(frame) || typeof frame.method !== 'string' || frame.id === undefined) return
    const id = JSON.stringify(frame.id)
    const asked = { method: frame.method, params: isObject(frame.params) ? frame.params : {} }
    this.#asked.set(id, [...(this.#asked.get(id) ?? []), asked])
  }

  /** What is wrong with this frame, or null. */
  toClient(frame: unknown): string | null {
    if (!isObject(frame) || frame.jsonrpc !== '2.0') return 'it is no JSON-RPC 2.0 object'
    if (typeof frame.method === 'string') {
      if (frame.id !== undefined) return 'a server sends no requests (CB-1)'
      const fault = this.#schema.notification(frame.method, frame.params)
      return fault ?? this.#subscriptions.told(frame.method, isObject(frame.params) ? frame.params : {})
    }
    if ('result' in frame === 'error' in frame) return 'an answer has either a result or an error'
    const asked = this.#asked.get(JSON.stringify(frame.id))?.shift()
    // Bytes that are no request have an error too: with the id that could be read, or with null.
    if ('error' in frame) return this.#schema.error(frame.error)
    if (asked === undefined) return `nobody waits for an answer with the id ${JSON.stringify(frame.id)}`
    const fault = this.#schema.result(asked.method, frame.result)
    if (fault === null) this.#subscriptions.answered(asked.method, asked.params, frame.result ?? null)
    return fault
  }
}
