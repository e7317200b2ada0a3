// The generated decoder against the shared vectors: verdicts, places, and the way back.
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  decode,
  decodeEventFrame,
  decodeEventsPage,
  decodeFact,
  decodeNotification,
  decodeParams,
  decodeResult,
  encode,
  encodeFact,
  encodeParams,
  encodeResult,
  isNotification,
  type WireTypes,
} from './generated/guards.ts'

interface Vector {
  file: string
  name: string
  type: keyof WireTypes
  verdict: 'valid' | 'invalid' | 'unknown'
  path?: string
  value: unknown
}

const folder = new URL('../../conformance/cases/wire/', import.meta.url)
const vectors = readdirSync(folder)
  .sort()
  .flatMap((file): Vector[] => {
    const read: Omit<Vector, 'file'>[] = JSON.parse(readFileSync(new URL(file, folder), 'utf8'))
    return read.map((vector) => ({ file, ...vector }))
  })
const vector = (name: string): unknown => vectors.find((candidate) => candidate.name === name)?.value

/** Whether the two differ anywhere: an unknown kind is the only thing that decoding changes. */
const differ = (a: unknown, b: unknown): boolean => JSON.stringify(a) !== JSON.stringify(b)

describe.each(vectors)('$file: $name', ({ type, verdict, path, value }) => {
  test('decodes with the same verdict, and is written again as it was', () => {
    const before = JSON.stringify(value)
    const decoded = decode(type, value)
    expect(decoded.ok).toBe(verdict !== 'invalid')
    if (!decoded.ok) {
      expect(decoded.path).toBe(path)
      expect(decoded.message).toMatch(/^(required|expected .+, got .+)$/s)
      return
    }
    expect(differ(decoded.value, value)).toBe(verdict === 'unknown')
    expect(JSON.stringify(encode(type, decoded.value))).toBe(before)
    expect(JSON.stringify(value)).toBe(before)
  })
})

test('a value without unknown kinds is handed on, not copied', () => {
  const value = vector('turn/end')
  const decoded = decodeFact(value)
  expect(decoded.ok && decoded.value).toBe(value)
  if (decoded.ok) expect(encodeFact(decoded.value)).toBe(value)
})

test('an unknown fact keeps its raw data beside what every fact has', () => {
  const value = vector('an unknown fact type')
  const decoded = decodeFact(value)
  expect(decoded).toEqual({
    ok: true,
    value: { type: 'unknown', originalType: 'sandbox/snapshot', sessionId: 's-1', seq: 7, time: 1796000000000, raw: value },
  })
  if (decoded.ok && decoded.value.type === 'unknown') expect(decoded.value.raw).toBe(value)
})

test('an unknown block is decoded where it is, and its neighbours stay', () => {
  const value = vector('an unknown block in a receipt')
  const decoded = decodeFact(value)
  if (!decoded.ok || decoded.value.type !== 'inbox/receipt') throw new Error('expected a receipt')
  const { content } = decoded.value.data.message
  expect(content.map(({ type }) => type)).toEqual(['text', 'unknown', 'text'])
  expect(content[1]).toEqual({ type: 'unknown', originalType: 'video', raw: { type: 'video', raw: 1, type_: 'x' } })
})

test('a malformed fact is a fault of that fact alone: its frame can be routed', () => {
  const params = vector('session.event with a malformed fact')
  expect(decodeNotification('session.event', params)).toMatchObject({ ok: false, path: 'event.data.reason.kind' })
  const frame = decodeEventFrame(params)
  if (!frame.ok) throw new Error(frame.message)
  expect(frame.value.subscriptionId).toBe('u-1')
  expect(decodeFact(frame.value.event)).toMatchObject({ ok: false, path: 'data.reason.kind', message: 'required' })
})

test('a page with a malformed fact still gives the others', () => {
  const page = decodeEventsPage(vector('session/events with a malformed fact on the page'))
  if (!page.ok) throw new Error(page.message)
  expect(page.value.events.map((event) => decodeFact(event).ok)).toEqual([true, false])
  expect(page.value.nextAfter).toBe(7)
})

test('methods and notifications have their types by name', () => {
  expect(decodeResult('session/prompt', { messageId: 'm' })).toEqual({ ok: true, value: { messageId: 'm' } })
  expect(decodeParams('session/prompt', { sessionId: 's' })).toMatchObject({ ok: false, path: 'content', message: 'required' })
  const unknown = { type: 'unknown', originalType: 'audio', raw: { type: 'audio' } } as const
  expect(encodeParams('session/prompt', { sessionId: 's', content: [unknown] })).toEqual({ sessionId: 's', content: [{ type: 'audio' }] })
  expect(encodeResult('session/messages', { messages: [{ role: 'user', seq: 1, content: [unknown] }] })).toEqual({
    messages: [{ role: 'user', seq: 1, content: [{ type: 'audio' }] }],
  })
  expect(isNotification('session.event')).toBe(true)
  expect(isNotification('session.finished')).toBe(false)
  expect(isNotification('constructor')).toBe(false)
})

test('of two alternatives that refuse, the one that got furthest speaks', () => {
  const judged = (content: unknown) => decodeParams('session/prompt', { sessionId: 's', content })
  expect(judged([{ type: 'text' }])).toMatchObject({ path: 'content[0].text' })
  expect(judged(5)).toMatchObject({ path: 'content', message: 'expected string, got 5; or expected array, got 5' })
})
