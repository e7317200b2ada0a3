// Owns what every language's generator asks of the document: which types are objects, open unions, open enums.
import { idOfRef, type Node, type ProtocolDocument } from './document.ts'

export interface OpenUnionShape {
  tag: string
  /** Tag value and type name of each known member, in the order of the source. */
  members: (readonly [kind: string, id: string])[]
  /** What an unknown member has as well as its tag. */
  shared: [name: string, node: Node, required: boolean][]
  /** Name of the type that stands for an unknown member. */
  unknownName: string
}

const unknownNames = new Map([
  ['Fact', 'UnknownEvent'],
  ['ContentBlock', 'UnknownBlock'],
])

export const isObject = (node: Node): boolean => node.properties !== undefined
export const isMap = (node: Node): boolean => node.type === 'object' && node.properties === undefined

/** The fields of an object type, in the order of the source. */
export function fieldsOf(node: Node): [name: string, node: Node, required: boolean][] {
  const required = new Set(node.required)
  return Object.entries(node.properties ?? {}).map(([name, field]) => [name, field, required.has(name)])
}

/** The types that a client sends: the params of the requests, and whatever is in them. */
export function sentTypes(document: ProtocolDocument): ReadonlySet<string> {
  const found = new Set<string>()
  const visit = (node: Node): void => {
    const id = node.$ref === undefined ? undefined : idOfRef(node.$ref)
    if (id !== undefined && !found.has(id)) {
      found.add(id)
      visit(document.$defs[id] ?? {})
    }
    const { items, additionalProperties, anyOf = [], properties = {} } = node
    for (const inner of [items, additionalProperties, ...anyOf, ...Object.values(properties)]) if (inner !== undefined) visit(inner)
  }
  for (const { params } of Object.values(document['x-methods'])) visit(params)
  return found
}

export function openUnionOf(document: ProtocolDocument, id: string): OpenUnionShape | undefined {
  const { 'x-tag': tag, anyOf = [] } = document.$defs[id] ?? {}
  if (tag === undefined) return undefined
  const members = anyOf.flatMap(({ $ref }) => ($ref === undefined ? [] : [idOfRef($ref)]))
  const unknown = anyOf.find(({ $ref }) => $ref === undefined) ?? {}
  return {
    tag,
    members: members.map((member) => [kindOf(document, member, tag), member]),
    shared: fieldsOf(unknown).filter(([name]) => name !== tag),
    unknownName: unknownNames.get(id) ?? `Unknown${id}`,
  }
}

function kindOf(document: ProtocolDocument, member: string, tag: string): string {
  const kind = document.$defs[member]?.properties?.[tag]?.const
  if (kind === undefined) throw new Error(`${member} has no constant ${tag}`)
  return kind
}

/** The known values of an open enum. */
export function openEnumOf(node: Node): readonly string[] | undefined {
  const [known, rest] = node.anyOf ?? []
  return node.anyOf?.length === 2 && known?.enum !== undefined && rest?.type === 'string' ? known.enum : undefined
}

export const pascal = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

/**
 * The frames that carry facts, with the facts left as they came: so one malformed fact is a fault of that fact alone, and
 * its frame can still be routed (FR-4).
 */
export const framesOfFacts = { SessionEventParams: 'SessionEventFrame', SessionEventsResult: 'SessionEventsPage' } as const

export function withFramesOfFacts(document: ProtocolDocument): ProtocolDocument {
  const $defs = { ...document.$defs }
  for (const [id, name] of Object.entries(framesOfFacts)) {
    const { description = '', ...node } = document.$defs[id] ?? {}
    $defs[name] = { description: `${description} Facts are left as they came: decode each by itself.`, ...withoutFacts(node) }
  }
  return { ...document, $defs }
}

function withoutFacts(node: Node): Node {
  if (node.$ref === '#/$defs/Fact') return {}
  const copy: Node = { ...node }
  if (node.items !== undefined) copy.items = withoutFacts(node.items)
  if (node.properties !== undefined)
    copy.properties = Object.fromEntries(Object.entries(node.properties).map(([name, field]) => [name, withoutFacts(field)]))
  return copy
}
