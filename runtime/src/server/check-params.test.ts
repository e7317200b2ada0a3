import { methods } from '@quiesce/schema'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvalidParams } from '../log/refusal.ts'
import { checkParams } from './check-params.ts'
import { MAX_VALUES } from './keepable.ts'

const create = methods['session/create'].params
const prompt = methods['session/prompt'].params
const parsed = (text: string): unknown => JSON.parse(text)

function faultsOf(check: () => unknown) {
  try {
    check()
  } catch (error) {
    if (error instanceof InvalidParams) return error.faults
    throw error
  }
  throw new Error('nothing was refused')
}

describe('FR-2: params', () => {
  it('keep whatever JSON can say in the data of a user, `__proto__` and what looks like its stand-in included', () => {
    const key = fc.constantFrom('__proto__', '~__proto__', '~~__proto__', 'constructor', 'a')
    const data = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, fc.jsonValue({ maxDepth: 1 }), tie('object'), fc.array(tie('value'), { maxLength: 3 })),
      object: fc
        .array(fc.tuple(key, tie('value')), { maxLength: 4 })
        .map((entries) => `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`)
        .map(parsed),
    })).object
    fc.assert(
      fc.property(data, (metadata) => {
        const kept = checkParams(prompt, { sessionId: 's', content: 'x', metadata })
        expect(JSON.stringify(kept.metadata)).toBe(JSON.stringify(metadata))
      }),
    )
    expect(Object.hasOwn({}, 'polluted')).toBe(false)
  })

  it('keep a field `__proto__` of a block that nobody knows', () => {
    const kept = checkParams(prompt, parsed('{"sessionId":"s","content":[{"type":"hologram","__proto__":{"a":1}}]}'))
    expect(JSON.stringify(kept.content)).toBe('[{"type":"hologram","__proto__":{"a":1}}]')
  })

  it('refuse what is wrong behind a key `__proto__`, with its place', () => {
    const faults = faultsOf(() => checkParams(create, parsed('{"cwd":"/","env":{"__proto__":{"~__proto__":1}}}')))
    expect(faults).toEqual([{ path: 'env.__proto__', message: 'expected string, got {"~__proto__":1}' }])
  })

  it('refuse more values than can be looked at in good time, in words', () => {
    const many = (count: number) => ({ sessionId: 's', content: Array(count).fill(1) })
    // Itself, two fields, and the items.
    expect(faultsOf(() => checkParams(prompt, many(MAX_VALUES - 3)))).toHaveLength(MAX_VALUES - 3)
    expect(faultsOf(() => checkParams(prompt, many(MAX_VALUES - 2)))).toEqual([{ path: '', message: `more than ${MAX_VALUES} values` }])
  })

  it('tell a very long key in short', () => {
    const [fault] = faultsOf(() => checkParams(create, { cwd: '/', env: { ['k'.repeat(1_000_000)]: 1 } }))
    expect(fault?.path).toBe(`env.${'k'.repeat(200)}...`)
  })
})
