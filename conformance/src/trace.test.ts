import { describe, expect, it } from 'vitest'
import type { Case, Json } from './case.ts'
import { traceOf } from './trace.ts'
import { Values } from './values.ts'

const steps = [{ name: 'run', args: { as: 'a' } }]
function trace(a: Json, log: Json = [], { cwd = '/tmp/one/work', model = 'scripted/case' } = {}) {
  const values = new Values()
  for (const [name, value] of Object.entries({ cwd, model, a, log })) values.set(name, value)
  return traceOf({ steps } as unknown as Case, values)
}
const fact = (seq: number, type: string, data: Json): Json => ({ sessionId: 's-1', seq, type, time: 1, data })

describe('a trace', () => {
  it('knows no ids, moments and places, but which are the same', () => {
    const of = (id: string, time: number, cwd: string) =>
      trace({ result: { messageId: id, time, where: `${cwd}/x of ${id}` } }, [fact(1, 'inbox/cancelled', { messageId: id })], { cwd }).whole
    expect(of('message-number-one', 1, '/tmp/one/work')).toBe(of('message-number-two', 2, '/tmp/two/work'))
    const others = trace({ result: { messageId: 'm-1' } }, [fact(1, 'inbox/cancelled', { messageId: 'm-2' })]).whole
    expect(others).not.toBe(trace({ result: { messageId: 'm-1' } }, [fact(1, 'inbox/cancelled', { messageId: 'm-1' })]).whole)
  })

  it('knows who cancelled by the first appearance, but the runtime by name', () => {
    const by = (name: string) => trace({}, [fact(1, 'agent/cancel', { by: name })]).whole
    expect(by('@quiesce/sdk')).toBe(by('quiesce-python'))
    expect(by('@quiesce/sdk')).not.toBe(by('runtime'))
  })

  it('keeps the values', () => {
    const of = (text: string, seq: number) => trace({ result: { finalResponse: text } }, [fact(seq, 'x', {})]).whole
    expect(of('one', 1)).not.toBe(of('two', 1))
    expect(of('one', 1)).not.toBe(of('one', 2))
  })

  it('leaves out what one language has on purpose, the words of its errors, and how a text was cut', () => {
    expect(trace({ result: { finish_reason: 'completed' } }).whole).toBe(trace({ result: {} }).whole)
    const error = (message: string, of: string) => trace({ error: { class: of, message, partial: { events: [] } } }).whole
    expect(error('it was aborted', 'RunAbortedError')).toBe(error('aborted', 'RunAbortedError'))
    expect(error('it was aborted', 'RunAbortedError')).not.toBe(error('aborted', 'RunTimeoutError'))
    const items = (...texts: string[]) => trace({ result: {}, items: texts.map((text) => ({ kind: 'delta', text })) }).whole
    expect(items('one')).toBe(items('o', 'ne'))
    const given = (...items: Json[]) => trace({ error: { class: 'RunAbortedError' }, items }).whole
    expect(given(fact(1, 'agent/cancel', {}))).toBe(given())
  })

  it('has the results of one step in the order of its calls', () => {
    const calls = ['c-1', 'c-2'].map((callId, i) => fact(i + 1, 'tool/call', { callId }))
    const results = (...order: string[]) => order.map((callId, i) => fact(i + 3, 'tool/result', { callId, content: callId }))
    const log = (...order: string[]) => trace({}, [...calls, ...results(...order)]).whole
    expect(log('c-2', 'c-1')).toBe(log('c-1', 'c-2'))
    const stream = (...order: string[]) =>
      trace({ items: [...calls, ...results(...order)].map((event) => ({ kind: 'event', event })) }).whole
    expect(stream('c-2', 'c-1')).toBe(stream('c-1', 'c-2'))
    const apart = trace({}, [
      ...calls,
      fact(3, 'tool/result', { callId: 'c-2' }),
      fact(4, 'x', {}),
      fact(5, 'tool/result', { callId: 'c-1' }),
    ])
    expect(apart.whole).not.toBe(log('c-1', 'c-2'))
  })

  it('has no model and none of its words in what two ways to it have in common', () => {
    const of = (model: string, message: string) =>
      trace({ result: { model, error: { code: 'model_internal', message, retryable: true } } }, [], { model })
    const [scripted, http] = [of('scripted/case', 'a scripted error'), of('openai-compatible/case', 'HTTP 500')]
    expect(scripted.common).toBe(http.common)
    expect(scripted.whole).not.toBe(http.whole)
    expect(trace({ result: { code: 'tool_input', message: 'one' } }).common).not.toBe(
      trace({ result: { code: 'tool_input', message: 'two' } }).common,
    )
  })
})
