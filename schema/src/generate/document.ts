// Owns the published JSON Schema: every registered type in one `$defs`, and the tables of methods, notifications and errors.
// Refuses a JSON Schema keyword that the generators don't know.
import * as z from 'zod/mini'
import { errorCodes } from '../errors.ts'
import { type MethodName, methods } from '../methods.ts'
import { notifications } from '../notifications.ts'
import { openEnums, openUnions } from '../open.ts'
import { idOf, registry } from '../registry.ts'

/** JSON Schema as far as the wire types use it. An object type has `properties`, a map has `additionalProperties` alone. */
export interface Node {
  description?: string
  $ref?: string
  type?: string
  const?: string
  enum?: string[]
  not?: Node
  properties?: Record<string, Node>
  required?: string[]
  additionalProperties?: Node
  items?: Node
  anyOf?: Node[]
  minLength?: number
  maxLength?: number
  pattern?: string
  minimum?: number
  maximum?: number
  minItems?: number
  /** On an open union: the field that tells its members apart. */
  'x-tag'?: string
}

export interface MethodEntry {
  description: string
  params: Node
  result: Node
}

export interface ProtocolDocument {
  $schema: string
  title: string
  description: string
  'x-protocol': number
  'x-methods': Record<string, MethodEntry>
  'x-notifications': Record<string, { description: string; params: Node }>
  'x-errors': Record<string, { meaning: string; retryable: boolean; class: string }>
  $defs: Record<string, Node>
}

export const refTo = (id: string): Node => ({ $ref: `#/$defs/${id}` })

/** The id that a `$ref` of this document points to. */
export function idOfRef(ref: string): string {
  const id = /^#\/\$defs\/(\w+)$/.exec(ref)?.[1]
  if (id === undefined) throw new Error(`the reference ${ref} does not point into $defs`)
  return id
}

export function protocolDocument(version: number): ProtocolDocument {
  const { schemas } = z.toJSONSchema(registry, { metadata: registry, io: 'input', uri: (id) => `#/$defs/${id}` })
  const ids = Object.keys(schemas).sort()
  const $defs = Object.fromEntries(ids.map((id) => [id, clean(schemas[id], id)]))
  for (const [schema, union] of openUnions) {
    const id = idOf(schema)
    $defs[id] = openUnionNode($defs[id] ?? {}, union.tag, union.members)
  }
  for (const [schema, known] of openEnums) {
    const id = idOf(schema)
    $defs[id] = { ...$defs[id], anyOf: [{ type: 'string', enum: [...known] }, { type: 'string' }] }
    delete $defs[id].type
  }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Quiesce protocol',
    description: 'Every type on the wire, and the tables of methods, notifications and errors. Generated from schema/src.',
    'x-protocol': version,
    'x-methods': Object.fromEntries(Object.keys(methods).map((name) => [name, methodEntry(name as MethodName)])),
    'x-notifications': Object.fromEntries(
      Object.entries(notifications).map(([name, params]) => [name, { description: describe(params), params: refTo(idOf(params)) }]),
    ),
    'x-errors': Object.fromEntries(
      errorCodes.map(({ code, meaning, retryable, className }) => [code, { meaning, retryable, class: className }]),
    ),
    $defs,
  }
}

function methodEntry(name: MethodName): MethodEntry {
  const { description, params, result } = methods[name]
  return { description, params: refTo(idOf(params)), result: refTo(idOf(result)) }
}

const describe = (schema: z.ZodMiniType): string => registry.get(schema)?.description ?? ''

/** Known members by reference, and one branch that takes every other tag. */
function openUnionNode(base: Node, tag: string, members: ReadonlyMap<string, string>): Node {
  const { description = '', properties = {}, required = [] } = base
  const unknown: Node = {
    description: 'Any other kind, kept as it is.',
    type: 'object',
    properties: { ...properties, [tag]: { type: 'string', not: { enum: [...members.keys()] } } },
    required,
  }
  return { description, anyOf: [...[...members.values()].map(refTo), unknown], 'x-tag': tag }
}

const kept = new Set([
  'description',
  '$ref',
  'type',
  'const',
  'enum',
  'required',
  'minLength',
  'maxLength',
  'pattern',
  'minimum',
  'maximum',
  'minItems',
])
const dropped = new Set(['$schema', '$id', 'propertyNames', 'id'])

/** One node as this project publishes it: without ids, the bounds of a double's integers, and `additionalProperties: {}`. */
function clean(raw: unknown, at: string): Node {
  const source = raw as Record<string, unknown>
  const node: Record<string, unknown> = source.description === undefined ? {} : { description: source.description }
  const child = (value: unknown, key: string): Node => clean(value, `${at}.${key}`)
  for (const [key, value] of Object.entries(source)) {
    if (dropped.has(key) || Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER) continue
    if (kept.has(key)) node[key] = value
    else if (key === 'items') node[key] = child(value, key)
    else if (key === 'anyOf') node[key] = (value as unknown[]).map((branch, index) => child(branch, `${key}[${index}]`))
    else if (key === 'properties') node[key] = mapValues(value as Record<string, unknown>, child)
    else if (key === 'additionalProperties') {
      if (source.properties === undefined) node[key] = child(value, key)
      else if (Object.keys(value as object).length > 0) throw new Error(`${at}: an object of the wire is open: use looseObject`)
    } else throw new Error(`${at}: no generator knows the keyword ${key}`)
  }
  return node
}

function mapValues<A, B>(record: Record<string, A>, change: (value: A, key: string) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]))
}
