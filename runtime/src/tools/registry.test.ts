import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { ManualClock } from '../base/clock.ts'
import { builtInTools } from './built-in.ts'
import { catalogueMarkdown } from './catalogue.ts'
import { ToolRegistry, validateInput } from './registry.ts'
import type { Tool } from './tool.ts'

const tools = builtInTools(new ManualClock())
const registry = new ToolRegistry(tools)
const names = (patterns?: readonly string[]) => registry.enabled(patterns).map(({ name }) => name)

function tool(name: string): Tool {
  const found = registry.get(name)
  if (found === undefined) throw new Error(`no tool ${name}`)
  return found
}

describe('which tools are on', () => {
  test('all by default, in a fixed order, each once', () => {
    expect(names()).toEqual(['read_file', 'write_file', 'edit_file', 'glob', 'grep', 'shell'])
    expect(names(['shell', '*_file', 'read_file'])).toEqual(['read_file', 'write_file', 'edit_file', 'shell'])
    expect(names([])).toEqual([])
    expect(names(['gone', 'edit*'])).toEqual(['edit_file'])
    expect(registry.get('gone')).toBeUndefined()
  })

  test('an entry that fits none is a fault with its place, the value and the tools', () => {
    expect(registry.faults(['read_file', 'grpe', '*'])).toEqual([
      { path: 'tools[1]', message: '"grpe" fits no tool; there are read_file, write_file, edit_file, glob, grep, shell' },
    ])
  })

  test('two tools of one name are refused', () => {
    expect(() => new ToolRegistry([...tools, ...tools])).toThrow('two tools have the name read_file')
  })
})

describe('what a model is told', () => {
  test('parameters are plain JSON Schema', () => {
    const [spec] = registry.specs(['read_file'])
    expect(spec?.parameters).toEqual({
      type: 'object',
      properties: {
        path: { type: 'string', minLength: 1, description: expect.any(String) },
        offset: { type: 'integer', minimum: 1, description: expect.any(String) },
        limit: { type: 'integer', minimum: 1, description: expect.any(String) },
      },
      required: ['path'],
      additionalProperties: false,
    })
  })

  test('the same in every call and every registry (TU-9)', () => {
    expect(JSON.stringify(registry.specs())).toBe(JSON.stringify(new ToolRegistry(builtInTools(new ManualClock())).specs(['*'])))
    expect(registry.specs()[0]).toBe(registry.specs()[0])
  })

  test('every tool and every parameter is described', () => {
    for (const { description, parameters } of registry.specs()) {
      expect(description.length).toBeGreaterThan(40)
      for (const schema of Object.values(z.record(z.string(), z.looseObject({ description: z.string() })).parse(parameters.properties)))
        expect(schema.description).toMatch(/^[A-Z].*\.$/)
    }
  })
})

describe('the inputs (TU-6)', () => {
  test.each([
    ['read_file', { path: 'a', offset: 1, limit: 2 }],
    ['write_file', { path: 'a', content: '' }],
    ['edit_file', { path: 'a', oldText: 'a', newText: '', all: true }],
    ['glob', { pattern: '**/*.ts', path: 'a', limit: 2_000 }],
    ['grep', { pattern: 'a', path: 'b', glob: '*', ignoreCase: true, literal: true, context: 20, filesOnly: false, limit: 1_000 }],
    ['shell', { command: 'ls', cwd: 'a', timeoutMs: 600_000 }],
  ])('%s takes what the protocol says', (name, input) => {
    expect(validateInput(tool(name), input)).toEqual({ ok: true, value: input })
  })

  test.each([
    ['read_file', { offset: 0 }, ['- path: required: string', '- offset: too small: at least 1, got 0']],
    ['read_file', { path: 'a', limit: '10' }, ['- limit: expected']],
    ['read_file', { path: 'a', start: 2 }, ['- start: unknown; the parameters are path, offset, limit']],
    ['shell', { command: 'ls', timeoutMs: 600_001 }, ['- timeoutMs: too big: at most 600000']],
    ['glob', { pattern: '' }, ['- pattern: too small']],
    ['glob', { pattern: 'x'.repeat(2_001) }, ['- pattern: too big']],
    ['grep', { pattern: 'a', limit: 0, context: 21 }, ['- limit: too small: at least 1, got 0', '- context: too big: at most 20, got 21']],
    ['grep', { regex: 'a' }, ['- pattern: required: string', '- regex: unknown; the parameters are pattern, path, glob']],
    ['shell', 'ls', ['- the input: expected object, got "ls"']],
    ['shell', null, ['- the input: expected object, got null']],
    ['shell', undefined, ['- the input: required: object']],
  ])('%s refuses %j', (name, input, lines) => {
    const verdict = validateInput(tool(name), input)
    if (verdict.ok) throw new Error('was taken')
    expect(verdict.message).toContain(`The input of ${name} doesn't fit its parameters, and it was not run:\n`)
    for (const line of lines) expect(verdict.message).toContain(line)
  })
})

describe('the catalogue (AG-7)', () => {
  const sample: Tool<{ a: string }> = {
    name: 'sample',
    description: 'Does a thing.',
    access: 'read',
    parallel: true,
    input: z.strictObject({
      a: z.string().check(z.describe('One | two.')),
      b: z.optional(z.int().check(z.minimum(1), z.maximum(9))),
      c: z.optional(z.enum(['x'])),
      d: z.optional(z.string().check(z.minLength(2), z.maxLength(9))),
    }),
    summary: () => 'a summary',
    execute: () => Promise.reject(new Error('not called')),
  }

  test('each tool: name, description, parameters, and nothing else', () => {
    const none: Tool = { ...sample, name: 'none', input: z.strictObject({}), summary: () => '' }
    expect(catalogueMarkdown([sample, none])).toBe(
      [
        '# Tools\n\n## `sample`\n\nDoes a thing.\n',
        '| parameter | type | required | what it is |',
        '| --- | --- | --- | --- |',
        '| `a` | string | yes | One \\| two. |',
        '| `b` | integer, from 1 to 9 | no |  |',
        '| `c` | `{"type":"string","enum":["x"]}` | no |  |',
        '| `d` | string, at least 2 characters, at most 9 characters | no |  |',
        '\n## `none`\n\nDoes a thing.\n\nNo parameters.\n',
      ].join('\n'),
    )
  })

  test('of the built-in tools', () => {
    const document = catalogueMarkdown(tools)
    expect(document.match(/^## /gm)).toHaveLength(6)
    expect(document).toContain(
      '| `timeoutMs` | integer, from 1 to 600000 | no | Time limit in milliseconds. Default: 120000, at most 600000. |',
    )
  })
})
