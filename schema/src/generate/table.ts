// Owns guards.ts of the TypeScript SDK: the table that its decoder reads, and one typed door per kind of frame.
import { idOfRef, type Node, type ProtocolDocument } from './document.ts'
import { fieldsOf, framesOfFacts, isMap, isObject, openEnumOf, openUnionOf } from './shapes.ts'
import { header } from './typescript.ts'

/** A shape as ts-sdk/src/wire.ts reads it. */
type Shape = string | Record<string, unknown>

function shapeOf(node: Node): Shape {
  if (node.$ref !== undefined) return idOfRef(node.$ref)
  if (openEnumOf(node) !== undefined) return { is: 'string' }
  if (node.anyOf !== undefined) return { is: 'either', of: node.anyOf.map(shapeOf) }
  if (node.const !== undefined) return { is: 'one', of: [node.const] }
  if (node.enum !== undefined) return { is: 'one', of: node.enum }
  if (node.items !== undefined) return { is: 'list', of: shapeOf(node.items), ...bounds({ min: node.minItems }) }
  if (isObject(node)) return { is: 'object', ...fieldShapes(fieldsOf(node)) }
  if (isMap(node)) return { is: 'map', of: shapeOf(node.additionalProperties ?? {}) }
  if (node.type === 'string') return { is: 'string', ...bounds({ min: node.minLength, max: node.maxLength, pattern: node.pattern }) }
  if (node.type === 'integer') return { is: 'integer', ...bounds({ min: node.minimum, max: node.maximum }) }
  return { is: node.type ?? 'any' }
}

function fieldShapes(fields: ReturnType<typeof fieldsOf>): { must: Record<string, Shape>; may: Record<string, Shape> } {
  const some = (wanted: boolean) =>
    Object.fromEntries(fields.flatMap(([name, node, must]) => (must === wanted ? [[name, shapeOf(node)]] : [])))
  return { must: some(true), may: some(false) }
}

function bounds(given: Record<string, number | string | undefined>): Record<string, number | string> {
  return Object.fromEntries(Object.entries(given).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])))
}

function rowOf(document: ProtocolDocument, id: string): Shape {
  const union = openUnionOf(document, id)
  if (union === undefined) return shapeOf(document.$defs[id] ?? {})
  return { is: 'open', tag: union.tag, kinds: Object.fromEntries(union.members), shared: fieldShapes(union.shared) }
}

/** JSON, but with bare keys where they can be and single quotes: as the rest of the project is written. */
function literal(value: unknown): string {
  if (typeof value === 'string') return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).map(([key, inner]) => `${/^[A-Za-z_]\w*$/.test(key) ? key : literal(key)}: ${literal(inner)}`)
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`
}

export function guardsSource(document: ProtocolDocument): string {
  const ids = Object.keys(document.$defs).sort()
  const rows = ids.map((id) => `  ${id}: ${literal(rowOf(document, id))},\n`).join('')
  const idsBy = (entries: [string, Node][]) =>
    entries.map(([name, node]) => `  ${literal(name)}: '${idOfRef(node.$ref ?? '')}',\n`).join('')
  const methods = Object.entries(document['x-methods'])
  const params = methods.map(([name, entry]): [string, Node] => [name, entry.params])
  const results = methods.map(([name, entry]): [string, Node] => [name, entry.result])
  const notices = Object.entries(document['x-notifications']).map(([name, entry]): [string, Node] => [name, entry.params])
  return `${header}
import { type Decoded, type WireTable, wireTypes } from '../wire.ts'
import { type MethodName, type Methods, type NotificationName, type Notifications, notificationNames } from './methods.ts'
import type {
${ids.map((id) => `  ${id},\n`).join('')}} from './protocol.ts'

/** Every type on the wire, by its name in the schema. */
export interface WireTypes {
${ids.map((id) => `  ${id}: ${id}\n`).join('')}}

const table: WireTable<keyof WireTypes> = {
${rows}}

const paramsIds: Record<MethodName, keyof WireTypes> = {
${idsBy(params)}}

const resultIds: Record<MethodName, keyof WireTypes> = {
${idsBy(results)}}

const noticeIds: Record<NotificationName, keyof WireTypes> = {
${idsBy(notices)}}

const wire = wireTypes(table)

/** Checks \`value\` against the type \`id\`; unknown kinds of an open union become \`Unknown…\` with their raw data. */
export const decode = <K extends keyof WireTypes>(id: K, value: unknown): Decoded<WireTypes[K]> => wire.decode(id, value)

/** The value as it goes over the wire: unknown kinds are written as they came. */
export const encode = <K extends keyof WireTypes>(id: K, value: WireTypes[K]): unknown => wire.encode(id, value)

export const decodeFact = (value: unknown): Decoded<Fact> => wire.decode('Fact', value)
export const encodeFact = (fact: Fact): unknown => wire.encode('Fact', fact)

/** A \`session.event\` whose fact is left as it came: a malformed fact is a fault of that fact alone. */
export const decodeEventFrame = (params: unknown): Decoded<${framesOfFacts.SessionEventParams}> => wire.decode('${framesOfFacts.SessionEventParams}', params)

/** A result of \`session/events\` whose facts are left as they came. */
export const decodeEventsPage = (result: unknown): Decoded<${framesOfFacts.SessionEventsResult}> => wire.decode('${framesOfFacts.SessionEventsResult}', result)

export const decodeParams = <M extends MethodName>(method: M, params: unknown): Decoded<Methods[M]['params']> =>
  wire.decode(paramsIds[method], params)
export const encodeParams = <M extends MethodName>(method: M, params: Methods[M]['params']): unknown =>
  wire.encode(paramsIds[method], params)
export const decodeResult = <M extends MethodName>(method: M, result: unknown): Decoded<Methods[M]['result']> =>
  wire.decode(resultIds[method], result)
export const encodeResult = <M extends MethodName>(method: M, result: Methods[M]['result']): unknown =>
  wire.encode(resultIds[method], result)

/** Whether this version knows the notification \`name\`; others are ignored (FR-2). */
export const isNotification = (name: string): name is NotificationName => notificationNames.some((known) => known === name)

export const decodeNotification = <N extends NotificationName>(name: N, params: unknown): Decoded<Notifications[N]> =>
  wire.decode(noticeIds[name], params)
`
}
