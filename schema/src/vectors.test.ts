// The shared vectors against the source: zod and the published schema give the same verdict, at the same place.
import { readdirSync, readFileSync } from 'node:fs'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import type { Node } from './generate/document.ts'
import { protocolDocument } from './generate/document.ts'
import { openUnionOf } from './generate/shapes.ts'
import { check, PROTOCOL_VERSION, pathText, wireTypes } from './index.ts'

interface Vector {
  name: string
  type: string
  verdict: 'valid' | 'invalid' | 'unknown'
  path?: string
  value: unknown
}

const folder = new URL('../../conformance/cases/wire/', import.meta.url)
const files = readdirSync(folder).sort()
const vectorsOf = (file: string): Vector[] => JSON.parse(readFileSync(new URL(file, folder), 'utf8'))
const document = protocolDocument(PROTOCOL_VERSION)

const published = new Ajv2020({ allErrors: true })
published.addVocabulary(['x-tag', 'x-protocol', 'x-methods', 'x-notifications', 'x-errors'])
published.addSchema(document, 'published')

/** The published unions again, each as one dispatch by its tag: so a fault is that of the member meant, and no other's. */
function dispatching(id: string, node: Node, isClosed: boolean): object {
  const union = openUnionOf(document, id)
  if (union === undefined) return node
  const { tag, members, shared } = union
  const tagged = { type: 'string', ...(isClosed ? { enum: members.map(([kind]) => kind) } : {}) }
  const required = [tag, ...shared.flatMap(([name, , isRequired]) => (isRequired ? [name] : []))]
  return {
    type: 'object',
    properties: { ...Object.fromEntries(shared.map(([name, field]) => [name, field])), [tag]: tagged },
    required,
    allOf: members.map(([kind, member]) => ({
      if: { type: 'object', required: [tag], properties: { [tag]: { const: kind } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { $ref: `#/$defs/${member}` },
    })),
  }
}

function compiled(isClosed: boolean): (id: string) => ValidateFunction {
  const $defs = Object.fromEntries(Object.entries(document.$defs).map(([id, node]) => [id, dispatching(id, node, isClosed)]))
  const ajv = new Ajv2020({ allErrors: true }).addVocabulary(['x-tag']).addSchema({ $defs }, 'wire')
  return (id) => found(ajv.getSchema(`wire#/$defs/${id}`), id)
}

function found(validate: ValidateFunction | undefined, id: string): ValidateFunction {
  if (validate === undefined) throw new Error(`the schema has no type ${id}`)
  return validate
}

const [open, closed] = [compiled(false), compiled(true)]

function furthest(errors: readonly ErrorObject[], value: unknown): string {
  const paths = errors.map(({ instancePath, params }) => {
    const parts = instancePath.split('/').slice(1)
    return typeof params.missingProperty === 'string' ? [...parts, params.missingProperty] : parts
  })
  const longest = paths.reduce((a, b) => (b.length > a.length ? b : a), [])
  let at: unknown = value
  const keys = longest.map((part) => {
    const key = Array.isArray(at) ? Number(part) : part
    at = (at as Record<string | number, unknown> | undefined)?.[key]
    return key
  })
  return pathText(keys)
}

const cases = files.flatMap((file) => vectorsOf(file).map((vector) => ({ file, ...vector })))

test('there are enough vectors, and each has a name of its own', () => {
  expect(cases.length).toBeGreaterThan(80)
  expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length)
})

describe.each(cases)('$file: $name', ({ type, verdict, path, value }) => {
  test('zod', () => {
    const schema = wireTypes.get(type)
    if (schema === undefined) throw new Error(`no wire type is called ${type}`)
    const judged = check(schema, value)
    expect(judged.ok).toBe(verdict !== 'invalid')
    if (!judged.ok) expect(judged.faults.map((fault) => fault.path)).toEqual([path])
  })

  test('the published schema', () => {
    expect(found(published.getSchema(`published#/$defs/${type}`), type)(value)).toBe(verdict !== 'invalid')
    const validate = open(type)
    expect(validate(value)).toBe(verdict !== 'invalid')
    if (verdict === 'invalid') expect(furthest(validate.errors ?? [], value)).toBe(path)
    else expect(closed(type)(value)).toBe(verdict === 'valid')
  })
})
