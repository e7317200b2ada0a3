import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MAX_DEPTH, unkeepable } from './keepable.ts'
import { Peer } from './peer.ts'

const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)

test('FR-2: what nests too deeply is a fault with its place, at any depth, in any field', () => {
  expect(unkeepable({ metadata: nested(MAX_DEPTH - 1) })).toEqual([])
  for (const depth of [MAX_DEPTH, 8_000, 100_000])
    expect(unkeepable({ metadata: { a: nested(depth) } })).toEqual([
      { path: 'metadata.a[0]', message: `nested deeper than ${MAX_DEPTH} levels` },
    ])
})

test('FR-2: a number that JSON can not write again is a fault with its place', () => {
  expect(unkeepable(JSON.parse('{"metadata":{"a":[1,1e999]}}'))).toEqual([
    { path: 'metadata.a[1]', message: 'a number that is out of range' },
  ])
})

test('whatever JSON can say is kept', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(unkeepable(value)).toEqual([])
    }),
  )
})

test('FR-2: no field of a frame is too deep or too strange to be refused in words', () => {
  const sent: string[] = []
  const peer = new Peer({ send: (frame) => sent.push(frame), dispatch: async () => ({ result: {} }), report: () => undefined })
  const deep = `${'['.repeat(8000)}${']'.repeat(8000)}`
  for (const field of ['id', 'jsonrpc', 'method']) peer.frame(`{"jsonrpc":"2.0","id":1,"method":"x",${`"${field}":${deep}`}}`)
  peer.frame('{"jsonrpc":"2.0","id":1e999,"method":"x"}')
  const messages = sent.map((frame): unknown => JSON.parse(frame).error.message)
  expect(messages).toEqual([
    expect.stringContaining('id: expected a string or an integer, got an array'),
    expect.stringContaining('jsonrpc: expected "2.0", got an array'),
    expect.stringContaining('method: expected a string, got an array'),
    expect.stringContaining('got Infinity'),
  ])
})
