// Owns the TypeScript types of the SDK: protocol.ts, methods.ts, errors.ts.
import { compile, type JSONSchema } from 'json-schema-to-typescript'
import { idOfRef, type Node, type ProtocolDocument } from './document.ts'
import { isMap, isObject, type OpenUnionShape, openEnumOf, openUnionOf, pascal, sentTypes } from './shapes.ts'

export const header = '// Generated from schema/src by `make gen`: do not edit.\n'

const quoted = (value: string): string => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
const docComment = (text: string | undefined, indent = ''): string => (text === undefined ? '' : `${indent}/** ${text} */\n`)

/** The type as it is written where it is used. */
function typeText(node: Node): string {
  if (node.$ref !== undefined) return idOfRef(node.$ref)
  const known = openEnumOf(node)
  if (known !== undefined) return `${known.map(quoted).join(' | ')} | (string & {})`
  if (node.anyOf !== undefined) return node.anyOf.map(typeText).join(' | ')
  if (node.const !== undefined) return quoted(node.const)
  if (node.enum !== undefined) return node.enum.map(quoted).join(' | ')
  if (node.items !== undefined) return /^[\w]+$/.test(typeText(node.items)) ? `${typeText(node.items)}[]` : `(${typeText(node.items)})[]`
  if (isMap(node)) return `Record<string, ${typeText(node.additionalProperties ?? {})}>`
  if (node.type === 'integer') return 'number'
  return node.type ?? 'unknown'
}

/**
 * Fields as `tsType`, so that the compiler writes names and comments, and no index signature that would kill narrowing. What a
 * caller may leave out of what it sends may be given as undefined too, whatever `exactOptionalPropertyTypes` says.
 */
function compilable(id: string, node: Node, isSent: boolean): JSONSchema {
  const orUndefined = (name: string): string => (isSent && !node.required?.includes(name) ? ' | undefined' : '')
  const properties = Object.entries(node.properties ?? {}).map(([name, field]): [string, JSONSchema] => [
    name,
    { tsType: typeText(field) + orUndefined(name), ...(field.description === undefined ? {} : { description: field.description }) },
  ])
  return {
    title: id,
    type: 'object',
    description: node.description ?? '',
    properties: Object.fromEntries(properties),
    required: node.required ?? [],
    additionalProperties: false,
  }
}

export async function protocolSource(document: ProtocolDocument): Promise<string> {
  const ids = Object.keys(document.$defs).sort()
  const objects = ids.filter((id) => isObject(document.$defs[id] ?? {}))
  const sent = sentTypes(document)
  const root: JSONSchema = {
    type: 'object',
    definitions: Object.fromEntries(objects.map((id) => [id, compilable(id, document.$defs[id] ?? {}, sent.has(id))])),
  }
  const interfaces = await compile(root, 'Root', {
    additionalProperties: false,
    bannerComment: '',
    unreachableDefinitions: true,
    style: { singleQuote: true, semi: false, printWidth: 140 },
  })
  const aliases = ids.filter((id) => !objects.includes(id)).map((id) => aliasSource(document, id))
  return [header, ...aliases, withoutRoot(interfaces)].join('\n')
}

function withoutRoot(source: string): string {
  const cut = source.replace(/^export interface Root \{\}?\n?(\})?\n/m, '')
  if (cut === source) throw new Error('the compiler wrote its root in another way')
  return cut.trimStart()
}

function aliasSource(document: ProtocolDocument, id: string): string {
  const node = document.$defs[id] ?? {}
  const union = openUnionOf(document, id)
  if (union === undefined) return `${docComment(node.description)}export type ${id} = ${typeText(node)}\n`
  const names = [...union.members.map(([, member]) => member), union.unknownName]
  return `${docComment(node.description)}export type ${id} =\n${names.map((name) => `  | ${name}\n`).join('')}\n${unknownSource(id, union)}`
}

function unknownSource(id: string, { tag, shared, unknownName }: OpenUnionShape): string {
  const fields = shared.map(([name, node, required]) => `  ${name}${required ? '' : '?'}: ${typeText(node)}\n`).join('')
  return `${docComment(`One of ${id} whose \`${tag}\` this version does not know: kept as it came, and written again as it is.`)}export interface ${unknownName} {
  ${tag}: 'unknown'
  original${pascal(tag)}: string
${fields}  raw: Record<string, unknown>
}
`
}

export function methodsSource(document: ProtocolDocument): string {
  const methods = Object.entries(document['x-methods'])
  const notifications = Object.entries(document['x-notifications'])
  const names = [
    ...methods.flatMap(([, { params, result }]) => [typeText(params), typeText(result)]),
    ...notifications.map(([, { params }]) => typeText(params)),
  ]
  const rows = methods.map(
    ([name, { description, params, result }]) =>
      `${docComment(description, '  ')}  ${quoted(name)}: { params: ${typeText(params)}; result: ${typeText(result)} }\n`,
  )
  const notices = notifications.map(
    ([name, { description, params }]) => `${docComment(description, '  ')}  ${quoted(name)}: ${typeText(params)}\n`,
  )
  return `${header}
import type {
${[...new Set(names)]
  .sort()
  .map((name) => `  ${name},\n`)
  .join('')}} from './protocol.ts'

export const protocolVersion = ${document['x-protocol']}

/** Every request: its params and its result. */
export interface Methods {
${rows.join('')}}

export type MethodName = keyof Methods

/** Every notification of the server: its params. */
export interface Notifications {
${notices.join('')}}

export type NotificationName = keyof Notifications

export const notificationNames: readonly NotificationName[] = [${notifications.map(([name]) => quoted(name)).join(', ')}]
`
}

export function errorsSource(document: ProtocolDocument): string {
  const rows = Object.entries(document['x-errors']).map(
    ([code, entry]) =>
      `  ${code}: { retryable: ${entry.retryable}, className: ${quoted(entry.class)}, meaning: ${quoted(entry.meaning)} },\n`,
  )
  return `${header}
/** The codes of error responses: what each means, whether trying again can help, and the class that stands for it. */
export const errorCodes = {
${rows.join('')}} as const

export type ErrorCode = keyof typeof errorCodes
export type ErrorClassName = (typeof errorCodes)[ErrorCode]['className']
`
}
