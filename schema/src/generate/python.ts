// Owns the Python models of the SDK: objects by datamodel-code-generator; open unions, enums and scalars as aliases beside
// them; and the tables of methods and errors.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { idOfRef, type Node, type ProtocolDocument } from './document.ts'
import { isMap, isObject, type OpenUnionShape, openEnumOf, openUnionOf } from './shapes.ts'

const header = '# Generated from schema/src by `make gen`: do not edit.\n'
const module = 'quiesce._generated.models'

const quoted = (text: string): string => JSON.stringify(text)
const doc = (text: string | undefined): string =>
  text === undefined ? '' : `"""${text.replaceAll('\\', '\\\\').replaceAll('"""', '\\"\\"\\"')}"""`
const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const plainTypes = new Map([
  ['number', 'float'],
  ['boolean', 'bool'],
  ['null', 'None'],
])

/** The type as it is written where it is used. */
function typeText(node: Node): string {
  if (node.$ref !== undefined) return idOfRef(node.$ref)
  const known = openEnumOf(node)
  if (known !== undefined) return `${labelled(literal(known), 'known')} | ${labelled('str', 'other')}`
  if (node.anyOf !== undefined) return node.anyOf.map((branch) => labelled(typeText(branch), branchName(branch))).join(' | ')
  if (node.const !== undefined) return literal([node.const])
  if (node.enum !== undefined) return literal(node.enum)
  if (node.items !== undefined) return bounded(`list[${typeText(node.items)}]`, { min_length: node.minItems })
  if (isMap(node)) return `dict[str, ${typeText(node.additionalProperties ?? {})}]`
  if (node.type === 'string') return bounded('str', { min_length: node.minLength, max_length: node.maxLength, pattern: node.pattern })
  if (node.type === 'integer') return bounded('int', { ge: node.minimum, le: node.maximum })
  return plainType(node.type)
}

function plainType(type: string | undefined): string {
  if (type === undefined) return 'Any'
  const plain = plainTypes.get(type)
  if (plain === undefined) throw new Error(`no Python type for ${type}`)
  return plain
}

const literal = (values: readonly string[]): string => `Literal[${values.map(quoted).join(', ')}]`
/** The label is what a fault's location shows of a union's branch; quiesce._wire takes it out again. */
const labelled = (type: string, label: string): string => `Annotated[${type}, Tag("<${label}>")]`
const branchName = (node: Node): string => (node.$ref === undefined ? (node.const ?? node.type ?? 'any') : idOfRef(node.$ref))

function bounded(type: string, bounds: Record<string, number | string | undefined>): string {
  const given = Object.entries(bounds).flatMap(([name, bound]) => (bound === undefined ? [] : [`${name}=${pythonValue(bound)}`]))
  return given.length === 0 ? type : `Annotated[${type}, Field(${given.join(', ')})]`
}

const pythonValue = (value: number | string): string => (typeof value === 'string' ? `r${quoted(value)}` : String(value))

/** What datamodel-code-generator gets: the objects alone; what they use of the aliases, it imports. */
function objectsOnly(document: ProtocolDocument): unknown {
  const rewrite = (node: Node): unknown => {
    const { $ref, properties, items, additionalProperties, anyOf, ...rest } = node
    if ($ref !== undefined && !isObject(document.$defs[idOfRef($ref)] ?? {}))
      return { ...rest, customTypePath: `${module}.${idOfRef($ref)}` }
    const nullable = anyOf?.length === 2 && anyOf.some((branch) => branch.type === 'null')
    if (anyOf !== undefined && !nullable) throw new Error(`give the union of ${JSON.stringify(node).slice(0, 80)} a name`)
    return {
      ...rest,
      ...($ref === undefined ? {} : { $ref }),
      ...(properties === undefined ? {} : { properties: mapped(properties, rewrite) }),
      ...(items === undefined ? {} : { items: rewrite(items) }),
      ...(additionalProperties === undefined ? {} : { additionalProperties: rewrite(additionalProperties) }),
      ...(anyOf === undefined ? {} : { anyOf: anyOf.map(rewrite) }),
    }
  }
  const objects = Object.entries(document.$defs).filter(([, node]) => isObject(node))
  return { $schema: document.$schema, title: 'Root', type: 'object', $defs: mapped(Object.fromEntries(objects), rewrite) }
}

const mapped = <A, B>(record: Record<string, A>, change: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))

function runGenerator(command: string, input: unknown): string {
  if (!existsSync(command)) throw new Error(`${command} is missing: run make setup`)
  const folder = mkdtempSync(join(tmpdir(), 'quiesce-models-'))
  try {
    const [from, to] = [join(folder, 'protocol.json'), join(folder, 'models.py')]
    writeFileSync(from, JSON.stringify(input))
    const options = [
      '--input-file-type=jsonschema',
      '--output-model-type=pydantic_v2.BaseModel',
      '--base-class=quiesce._wire.WireModel',
      '--target-python-version=3.11',
      '--target-pydantic-version=2.11',
      '--snake-case-field',
      '--use-annotated',
      '--field-constraints',
      '--use-union-operator',
      '--use-standard-collections',
      '--enum-field-as-literal=all',
      '--use-schema-description',
      '--use-field-description',
      '--use-attribute-docstrings',
      '--use-single-line-docstring',
      '--skip-root-model',
      '--use-double-quotes',
      '--disable-timestamp',
      '--formatters=builtin',
      '--ignore-pyproject',
    ]
    const run = spawnSync(command, ['--input', from, '--output', to, ...options], { encoding: 'utf8' })
    if (run.status !== 0) throw new Error(`datamodel-codegen failed (${run.error?.message ?? `exit ${run.status}`}):\n${run.stderr}`)
    return readFileSync(to, 'utf8')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export function modelsSource(document: ProtocolDocument, command: string): string {
  const classes = classSources(runGenerator(command, objectsOnly(document)))
  const ids = Object.keys(document.$defs).sort()
  const aliases = ids.filter((id) => !isObject(document.$defs[id] ?? {})).map((id) => aliasSource(document, id))
  const facts = openUnionOf(document, 'Fact')
  if (facts === undefined) throw new Error('the document has no union of facts')
  return `${header}"""Every type on the wire, by its name in the schema."""

from typing import Annotated, Any, ClassVar, Literal, TypeAlias, cast

from pydantic import Discriminator, Field, Tag

from quiesce._wire import UNKNOWN, UnknownKind, WireModel, by_tag, decode


${ordered([...classes, ...aliases]).join('\n\n')}

_FACTS: dict[str, type[Any]] = {
${facts.members.map(([kind, id]) => `    ${quoted(kind)}: ${id},\n`).join('')}}


def decode_fact(value: object) -> Fact:
    """The fact; raises MalformedValueError. Builds the model of this kind alone."""
    return decode(_FACTS.get(_kind_of(value), ${facts.unknownName}), value)


def _kind_of(value: object) -> str:
    kind = cast("dict[object, object]", value).get(${quoted(facts.tag)}) if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else ""
`
}

interface Definition {
  id: string
  source: string
}

function classSources(made: string): Definition[] {
  // The base class carries the configuration of all; a type of the wire needs none of its own.
  const bare = made.replace(/ {4}model_config = ConfigDict\(\n(?: {8}.*\n)+ {4}\)\n/g, '')
  const blocks = bare.split(/^(?=class )/m).slice(1)
  if (blocks.length === 0) throw new Error('datamodel-codegen made no class')
  return blocks.map((block) => ({ id: /^class (\w+)/.exec(block)?.[1] ?? '', source: `${block.trimEnd()}\n` }))
}

function aliasSource(document: ProtocolDocument, id: string): Definition {
  const node = document.$defs[id] ?? {}
  const union = openUnionOf(document, id)
  const described = node.description === undefined ? '' : `\n${doc(node.description)}`
  if (union === undefined) return { id, source: `${id}: TypeAlias = ${typeText(node)}${described}\n` }
  const members = union.members.map(([kind, member]) => `Annotated[${member}, Tag(${quoted(`<${kind}>`)})]\n    | `)
  const source = `${unknownSource(id, union)}

${id}: TypeAlias = Annotated[
    ${members.join('')}Annotated[${union.unknownName}, Tag(UNKNOWN)],
    Discriminator(by_tag(${quoted(union.tag)}, frozenset({${union.members.map(([kind]) => quoted(kind)).join(', ')}}))),
]${described}
`
  return { id, source }
}

function unknownSource(id: string, { tag, shared, unknownName }: OpenUnionShape): string {
  const fields = shared.map(([name, node, required]) => {
    const type = required ? typeText(node) : `${typeText(node)} | None`
    const written = snake(name) === name ? type : `Annotated[${type}, Field(alias=${quoted(name)})]`
    return `    ${snake(name)}: ${written}${required ? '' : ' = None'}\n`
  })
  return `class ${unknownName}(UnknownKind):
    """One of ${id} whose \`${tag}\` this version does not know: kept as it came, and written again as it is."""

    ${tag}: ClassVar[Literal["unknown"]] = "unknown"
    original_${tag}: Annotated[str, Field(alias=${quoted(tag)})]
${fields.join('')}`
}

/** Definitions are evaluated when the module loads: what one names stands above it. */
function ordered(definitions: readonly Definition[]): string[] {
  const waiting = new Map(definitions.map(({ id, source }) => [id, { source, needs: namesIn(source) }]))
  const sources: string[] = []
  while (waiting.size > 0) {
    const ready = [...waiting].filter(([id, { needs }]) => !needs.some((name) => name !== id && waiting.has(name)))
    if (ready.length === 0) throw new Error(`these types name each other: ${[...waiting.keys()].join(', ')}`)
    for (const [id, { source }] of ready) {
      sources.push(source)
      waiting.delete(id)
    }
  }
  return sources
}

const namesIn = (source: string): string[] => source.replace(/"""[\s\S]*?"""|"[^"\n]*"/g, '').match(/\b[A-Z]\w*/g) ?? []

export function methodsSource(document: ProtocolDocument): string {
  const methods = Object.entries(document['x-methods'])
  const notifications = Object.entries(document['x-notifications'])
  const names = [
    ...methods.flatMap(([, { params, result }]) => [typeText(params), typeText(result)]),
    ...notifications.map(([, { params }]) => typeText(params)),
  ]
  return `${header}"""The tables of requests and notifications."""

from __future__ import annotations

from typing import Final, NamedTuple

from quiesce._wire import WireModel

from .models import (
${[...new Set(names)]
  .sort()
  .map((name) => `    ${name},\n`)
  .join('')})


class Method(NamedTuple):
    """A request: the models of its params and of its result."""

    params: type[WireModel]
    result: type[WireModel]


PROTOCOL_VERSION: Final = ${document['x-protocol']}

METHODS: Final[dict[str, Method]] = {
${methods.map(([name, { params, result }]) => `    ${quoted(name)}: Method(${typeText(params)}, ${typeText(result)}),\n`).join('')}}

NOTIFICATIONS: Final[dict[str, type[WireModel]]] = {
${notifications.map(([name, { params }]) => `    ${quoted(name)}: ${typeText(params)},\n`).join('')}}
`
}

export function errorsSource(document: ProtocolDocument): string {
  const rows = Object.entries(document['x-errors']).map(
    ([code, { meaning, retryable, class: name }]) =>
      `    ${quoted(code)}: ErrorCode(${quoted(meaning)}, ${retryable ? 'True' : 'False'}, ${quoted(name)}),\n`,
  )
  return `${header}"""The codes of error responses."""

from __future__ import annotations

from typing import Final, NamedTuple


class ErrorCode(NamedTuple):
    """What a code means, whether trying again can help, and the exception class that stands for it."""

    meaning: str
    retryable: bool
    class_name: str


ERROR_CODES: Final[dict[str, ErrorCode]] = {
${rows.join('')}}
`
}

export const packageSource = `${header}"""Types and tables of the protocol, generated from its schema."""\n`
