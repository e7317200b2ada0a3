import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { type Node, protocolDocument } from './generate/document.ts'
import { methods, notifications, openEnums, openUnions, PROTOCOL_VERSION, registry, wireTypes } from './index.ts'
import { field, idOf, named } from './registry.ts'

const document = protocolDocument(PROTOCOL_VERSION)

test('every registered type is described, in a sentence', () => {
  for (const [id, schema] of wireTypes) expect(`${id}: ${registry.get(schema)?.description}`).toMatch(/: [A-Z`].*\.( .*\.)?$/s)
})

test('every registered type is published under its name, and nothing else is', () => {
  expect(Object.keys(document.$defs)).toEqual([...wireTypes.keys()].sort())
})

test('a type without a description, or with a name that is taken, is refused', () => {
  expect(() => named('Nameless', '', z.string())).toThrow('wire type Nameless has no description')
  expect(() => named('Usage', 'Again.', z.string())).toThrow('wire type Usage is registered twice')
})

test('describing a field leaves the type that it has alone', () => {
  const type = named('RegistryTestType', 'The type.', z.string())
  const described = field('The field.', type)
  expect(registry.get(described)?.description).toBe('The field.')
  expect(registry.get(type)).toEqual({ id: 'RegistryTestType', description: 'The type.' })
})

/** Every node below `node`, with the path to it. */
function* nodes(node: Node, at: string): Generator<[at: string, node: Node]> {
  yield [at, node]
  for (const [key, child] of Object.entries(node.properties ?? {})) yield* nodes(child, `${at}.${key}`)
  for (const [index, child] of (node.anyOf ?? []).entries()) yield* nodes(child, `${at}|${index}`)
  for (const child of [node.items, node.additionalProperties]) if (child !== undefined) yield* nodes(child, `${at}[]`)
}

const all = Object.entries(document.$defs).flatMap(([id, node]) => [...nodes(node, id)])

describe('the published schema', () => {
  test('every reference leads somewhere', () => {
    const ids = all.flatMap(([, { $ref }]) => ($ref === undefined ? [] : [$ref.replace('#/$defs/', '')]))
    expect(ids.filter((id) => document.$defs[id] === undefined)).toEqual([])
  })

  test('every object has a name, but for the unknown members of open unions', () => {
    const nameless = all.filter(([at, { properties }]) => properties !== undefined && document.$defs[at] === undefined)
    expect(nameless.map(([at]) => at.replace(/\|\d+$/, '')).sort()).toEqual([...openUnions.keys()].map(idOf).sort())
  })

  test('an open enum takes every string, and says which it knows', () => {
    for (const [schema, known] of openEnums)
      expect(document.$defs[idOf(schema)]?.anyOf).toEqual([{ type: 'string', enum: known }, { type: 'string' }])
  })

  test('an open union takes each known kind by its type alone', () => {
    for (const [schema, { tag, members }] of openUnions) {
      const branches = document.$defs[idOf(schema)]?.anyOf ?? []
      expect(branches.slice(0, -1)).toEqual([...members.values()].map((id) => ({ $ref: `#/$defs/${id}` })))
      expect(branches.at(-1)?.properties?.[tag]).toEqual({ type: 'string', not: { enum: [...members.keys()] } })
    }
  })

  test('no bound is only that of a double', () => {
    for (const [, { minimum = 0, maximum = 0 }] of all) expect([-minimum, maximum]).not.toContain(Number.MAX_SAFE_INTEGER)
  })
})

describe('nothing settles one message (ST-8, IN-2)', () => {
  test('no method, notification, fact or type speaks of a message that finished', () => {
    const results = new Set(Object.values(methods).map(({ result }) => idOf(result)))
    const types = Object.keys(document.$defs).filter((id) => !results.has(id))
    const names = [...Object.keys(document['x-methods']), ...Object.keys(document['x-notifications']), ...types]
    const kinds = all.flatMap(([, node]) => (node.const === undefined ? [] : [node.const]))
    for (const name of [...names, ...kinds]) {
      expect(name).not.toMatch(/finished|(message|prompt|receipt)[/._]?(status|result|outcome|reason|completed|done|end|settled)$/i)
    }
    expect(Object.keys(notifications)).not.toContain('session.finished')
  })

  test('the answer to a prompt is a messageId and nothing else', () => {
    expect(Object.keys(document.$defs.SessionPromptResult?.properties ?? {})).toEqual(['messageId'])
    expect(Object.keys(methods)).not.toContain('session/result')
  })

  test('what names a message says no more of it than that it is pending, admitted or cancelled', () => {
    const telling = /^(status|result|outcome|finish|finishReason|completed|usage|response|turnEnd)$/i
    const about = all.filter(([, { properties }]) => properties?.messageId !== undefined || properties?.delivery !== undefined)
    expect(about.length).toBeGreaterThan(5)
    for (const [at, { properties }] of about)
      expect(
        Object.keys(properties ?? {}).filter((name) => telling.test(name)),
        at,
      ).toEqual([])
    expect(Object.keys(document.$defs.InboxAdmittedData?.properties ?? {})).toEqual(['messageId', 'turnId', 'stepId'])
    expect(Object.keys(document.$defs.InboxMessage?.properties ?? {})).toEqual(['id', 'delivery', 'origin', 'content', 'metadata'])
  })
})
