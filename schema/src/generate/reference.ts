// Owns docs/protocol.md: the reference of requests, notifications, facts, types and errors, for people.
import { idOfRef, type Node, type ProtocolDocument } from './document.ts'
import { fieldsOf, isMap, isObject, openEnumOf, openUnionOf } from './shapes.ts'

const anchor = (id: string): string => `#type-${id.toLowerCase()}`
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
const code = (text: string): string => `\`${text}\``
const row = (...cells: string[]): string => `| ${cells.map(cell).join(' | ')} |\n`
const table = (heads: string[], rows: string): string => `${row(...heads)}${row(...heads.map(() => '---'))}${rows}`

/** A type as a reader sees it, with links to the named ones. */
function typeText(node: Node): string {
  if (node.$ref !== undefined) return `[${idOfRef(node.$ref)}](${anchor(idOfRef(node.$ref))})`
  if (node.anyOf !== undefined) return node.anyOf.map(typeText).join(' or ')
  if (node.const !== undefined) return code(JSON.stringify(node.const))
  if (node.enum !== undefined) return node.enum.map((value) => code(JSON.stringify(value))).join(', ')
  if (node.items !== undefined) return `list of ${typeText(node.items)}`
  if (isMap(node)) return isAny(node.additionalProperties) ? 'object' : `map of ${typeText(node.additionalProperties ?? {})}`
  return node.type ?? 'any JSON'
}

const isAny = (node: Node | undefined): boolean => Object.keys(node ?? {}).length === 0

function boundsText({ minimum, maximum, minLength, maxLength, minItems, pattern }: Node): string {
  const parts = [
    minimum === undefined ? '' : `at least ${minimum}`,
    maximum === undefined ? '' : `at most ${maximum}`,
    minLength === undefined ? '' : `at least ${minLength} characters`,
    maxLength === undefined ? '' : `at most ${maxLength} characters`,
    minItems === undefined ? '' : `at least ${minItems} items`,
    pattern === undefined ? '' : `matches ${code(pattern)}`,
  ]
  return parts.filter((part) => part !== '').join(', ')
}

function fieldsText(document: ProtocolDocument, node: Node): string {
  const fields = fieldsOf(node)
  if (fields.length === 0) return 'No fields.\n'
  const rows = fields.map(([name, field, required]) => {
    const said = field.description ?? (field.$ref === undefined ? '' : (document.$defs[idOfRef(field.$ref)]?.description ?? ''))
    const about = [said, boundsText(field)].filter((part) => part !== '').join(' ')
    return row(code(required ? name : `${name}?`), typeText(field), about)
  })
  return table(['field', 'type', 'meaning'], rows.join(''))
}

function target(document: ProtocolDocument, node: Node): Node {
  return document.$defs[idOfRef(node.$ref ?? '')] ?? {}
}

function requestsText(document: ProtocolDocument): string {
  const sections = Object.entries(document['x-methods']).map(
    ([name, { description, params, result }]) => `### Request ${name}

${description}

Params:

${fieldsText(document, target(document, params))}
Result:

${fieldsText(document, target(document, result))}`,
  )
  return `## Requests\n\nFrom the client to the server; there are none the other way.\n\n${sections.join('\n')}`
}

function notificationsText(document: ProtocolDocument): string {
  const sections = Object.entries(document['x-notifications']).map(
    ([name, { description, params }]) => `### Notification ${name}\n\n${description}\n\n${fieldsText(document, target(document, params))}`,
  )
  return `## Notifications\n\nFrom the server to a client that subscribed.\n\n${sections.join('\n')}`
}

function factsText(document: ProtocolDocument): string {
  const members = openUnionOf(document, 'Fact')?.members ?? []
  const sections = members.map(([kind, id]) => {
    const node = document.$defs[id] ?? {}
    const data = target(document, node.properties?.data ?? {})
    return `### Fact ${kind}\n\n<a id="type-${id.toLowerCase()}"></a>${node.description ?? ''} In the SDKs: ${code(id)}.\n\n${fieldsText(document, data)}`
  })
  return `## Facts

A fact is one committed entry of a session's log: ${code('{sessionId, seq, type, time, data}')}. ${code('seq')} starts at 1 and has
no gaps; ${code('time')} is in Unix milliseconds. The tables show ${code('data')}. A reader keeps a fact of a type that it doesn't know.

${sections.join('\n')}`
}

/** Types that no request, notification or fact section has shown. */
function typesText(document: ProtocolDocument): string {
  const facts = openUnionOf(document, 'Fact')?.members.map(([, id]) => id) ?? []
  const shown = new Set([
    ...facts,
    ...facts.map((id) => `${id}Data`),
    ...Object.values(document['x-methods']).flatMap(({ params, result }) => [idOfRef(params.$ref ?? ''), idOfRef(result.$ref ?? '')]),
    ...Object.values(document['x-notifications']).map(({ params }) => idOfRef(params.$ref ?? '')),
  ])
  const ids = Object.keys(document.$defs).filter((id) => !shown.has(id))
  return `## Types\n\n${ids.map((id) => typeSection(document, id)).join('\n')}`
}

function typeSection(document: ProtocolDocument, id: string): string {
  const node = document.$defs[id] ?? {}
  return `### Type ${id}\n\n${node.description ?? ''}\n\n${typeBody(document, id, node)}`
}

function typeBody(document: ProtocolDocument, id: string, node: Node): string {
  const union = openUnionOf(document, id)
  if (union !== undefined) {
    const rows = union.members.map(([kind, member]) =>
      row(code(kind), typeText({ $ref: `#/$defs/${member}` }), document.$defs[member]?.description ?? ''),
    )
    return table([code(union.tag), 'type', 'meaning'], rows.join(''))
  }
  const known = openEnumOf(node)
  if (known !== undefined) return `A string; known values: ${known.map(code).join(', ')}. A reader keeps a value that it doesn't know.\n`
  if (isObject(node)) return fieldsText(document, node)
  return `${[typeText(node), boundsText(node)].filter((part) => part !== '').join(', ')}\n`
}

function errorsText(document: ProtocolDocument): string {
  const rows = Object.entries(document['x-errors']).map(([name, entry]) =>
    row(code(name), entry.retryable ? 'yes' : 'no', code(entry.class), entry.meaning),
  )
  return `## Errors

JSON-RPC's own codes serve framing and params: -32700 bad JSON, -32600 not a request, -32601 unknown method, -32602 bad params (with
${code('data.faults')}, a list of ${typeText({ $ref: '#/$defs/ParamFault' })}). Everything else is -32000 with
${code('data: {code, retryable, …details}')}:

${table(['code', 'retryable', 'class in the SDKs', 'meaning'], rows.join(''))}`
}

export function referenceSource(document: ProtocolDocument): string {
  return `<!-- Generated from schema/src by \`make gen\`: do not edit. -->
# The protocol, version ${document['x-protocol']}

JSON-RPC 2.0 in UTF-8, one object per line (only LF ends a line). ${code('initialize')} comes first. A field with ${code('?')} may be
absent; none is null unless its type says so. Readers keep fields that they don't know. Times are integer milliseconds. The same as a
JSON Schema: ${code('schema/protocol.schema.json')}.

[Requests](#requests) · [Notifications](#notifications) · [Facts](#facts) · [Types](#types) · [Errors](#errors)

${requestsText(document)}
${notificationsText(document)}
${factsText(document)}
${typesText(document)}
${errorsText(document)}`
}
