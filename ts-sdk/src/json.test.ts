import fc from 'fast-check'
import { expect, it } from 'vitest'
import { linked } from '../test/linked.ts'
import { checkJson } from './json.ts'

it.each([
  [() => {}, 'a function'],
  [Symbol('s'), 'Symbol(s)'],
  [10n, '10n'],
  [NaN, 'NaN'],
  [-Infinity, '-Infinity'],
  [new Map([['mode', 'read-only']]), 'a Map'],
  [new Set([1]), 'a Set'],
  [Promise.resolve(1), 'a Promise'],
  [/x/, 'a RegExp'],
  [new Error('x'), 'an Error'],
])('refuses, wherever it is, %o', (value, told) => {
  const refusal = (place: string) => new TypeError(`session/create: ${place} is ${told}, which JSON cannot carry`)
  expect(() => checkJson('session/create', { permissions: value })).toThrow(refusal('permissions'))
  expect(() => checkJson('session/create', { limits: { perTurn: { maxCost: value } } })).toThrow(refusal('limits.perTurn.maxCost'))
  expect(() => checkJson('session/create', { tools: ['read', value] })).toThrow(refusal('tools[1]'))
  expect(() => checkJson('session/create', { metadata: { a: { toJSON: () => value } } })).toThrow(refusal('metadata.a'))
  expect(() => checkJson('session/create', value)).toThrow(refusal('params'))
})

it('refuses what holds itself, and takes what is held twice', () => {
  const knot: Record<string, unknown> = { other: {} }
  expect(() => checkJson('m', { metadata: { a: knot, b: [knot, knot] } })).not.toThrow()
  knot.self = [knot]
  expect(() => checkJson('m', { metadata: knot })).toThrow(new TypeError('m: metadata.self[0] holds itself, which JSON cannot carry'))
})

it('takes whatever JSON carries as it is, and what says itself what it is', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => checkJson('m', value)))
  class Point {
    x = 1
  }
  const carried = {
    at: new Date(0),
    url: new URL('http://x/'),
    none: undefined,
    point: new Point(),
    bare: Object.create(null),
    bytes: Buffer.from('a'),
  }
  expect(() => checkJson('m', carried)).not.toThrow()
})

it('guards every request: nothing of it is sent', async () => {
  const { session, runtime } = await linked()
  const loose: Record<string, unknown> = { permissions: () => 'read-only' }
  const sent = runtime.requests.length
  await expect(session.update(loose)).rejects.toThrow(new TypeError('session/update: permissions is a function, which JSON cannot carry'))
  await expect(session.prompt('x', { metadata: { n: 10n } })).rejects.toThrow('session/prompt: metadata.n is 10n')
  expect(runtime.requests).toHaveLength(sent)
  await expect(session.run('x', { metadata: { n: [NaN] } })).rejects.toThrow('session/prompt: metadata.n[0] is NaN')
})
