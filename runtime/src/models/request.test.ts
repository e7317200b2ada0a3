import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import type { FactErrorOf, UsageOf } from '@quiesce/schema'
import { describe, expect, it } from 'vitest'
import { ManualClock } from '../base/clock.ts'
import { deferred } from '../base/deferred.ts'
import { countedIds } from '../base/ids.ts'
import type { Model, ModelPart, ModelRequest, Outcome } from './model.ts'
import { type RequestOptions, requestAnswer } from './request.ts'
import { defaultRetry } from './retry.ts'

type Stream = (request: ModelRequest) => AsyncIterable<ModelPart>

const usage: UsageOf = { inputTokens: 10, outputTokens: 5 }
const finish = (kind: 'stop' | 'length' | 'tool_calls' | 'content_filter' = 'stop'): ModelPart => ({ type: 'finish', finish: kind, usage })
const text = (piece: string): ModelPart => ({ type: 'text', text: piece })
const call = (name: string, input: unknown = {}): ModelPart => ({ type: 'tool_call', vendorCallId: `v-${name}`, name, input })
const error = (code: FactErrorOf['code'], retryable: boolean): FactErrorOf => ({ code, message: `it is ${code}`, retryable })
const failing = (code: FactErrorOf['code'], retryable: boolean, retryAfterMs?: number): Extract<ModelPart, { type: 'failure' }> => ({
  type: 'failure',
  error: error(code, retryable),
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
})

const playing = (...parts: ModelPart[]): Stream =>
  async function* () {
    yield* parts
  }

/** Says the parts, then never anything again, whatever the signal says. */
const hanging = (...parts: ModelPart[]): Stream =>
  async function* () {
    yield* parts
    await deferred().promise
  }

/** Plays one stream per attempt, the last one again and again. */
class FakeModel implements Model {
  readonly name = 'fake/model'
  readonly requests: ModelRequest[] = []
  readonly #streams: readonly Stream[]

  constructor(...streams: Stream[]) {
    this.#streams = streams
  }

  stream(request: ModelRequest): AsyncIterable<ModelPart> {
    const stream = this.#streams[Math.min(this.requests.length, this.#streams.length - 1)]!
    this.requests.push(request)
    return stream(request)
  }
}

/** Lets every wait of a retry pass at once, and leaves time limits to the test. */
class ImpatientClock extends ManualClock {
  readonly waits: number[] = []

  override after(ms: number, callback: () => void): () => void {
    const cancel = super.after(ms, callback)
    if (ms < defaultRetry.betweenBytesMs) {
      this.waits.push(ms)
      queueMicrotask(() => this.advance(ms))
    }
    return cancel
  }
}

interface Asked {
  outcome: Promise<Outcome>
  clock: ImpatientClock
  abort: AbortController
  parts: ModelPart[]
  retries: { attempt: number; delayMs: number; error: FactErrorOf }[]
}

function ask(model: Model, over: Partial<RequestOptions> = {}): Asked {
  const clock = new ImpatientClock()
  const abort = new AbortController()
  const parts: ModelPart[] = []
  const retries: Asked['retries'] = []
  const ids = countedIds()
  const outcome = requestAnswer(
    model,
    { system: '', messages: [], tools: [], options: {}, signal: abort.signal },
    {
      clock,
      retry: defaultRetry,
      random: () => 1,
      newCallId: () => ids('call'),
      onPart: (part) => parts.push(part),
      onRetry: async (retry) => {
        retries.push(retry)
      },
      ...over,
    },
  )
  return { outcome, clock, abort, parts, retries }
}

const sum = (times: number): UsageOf => ({ inputTokens: 10 * times, outputTokens: 5 * times })

describe('an answer', () => {
  it('merges adjacent pieces and keeps the order of blocks', async () => {
    const model = new FakeModel(
      playing(
        { type: 'reasoning', text: 'h' },
        { type: 'reasoning', text: 'm', signature: 's1' },
        { type: 'reasoning', text: '', signature: 's2' },
        text('a'),
        text(''),
        text('b'),
        { type: 'tool_input', index: 0, text: '{}' },
        call('read', { path: 'x' }),
        { type: 'tool_call', vendorCallId: 'v-bad', name: 'shell', input: null, invalid: '{"command":' },
        text('c'),
        finish('tool_calls'),
      ),
    )
    const { outcome, parts } = ask(model)
    expect(await outcome).toEqual({
      kind: 'answer',
      content: [
        { type: 'reasoning', text: 'hm', signature: 's1' },
        { type: 'reasoning', text: '', signature: 's2' },
        { type: 'text', text: 'ab' },
        { type: 'tool_use', callId: 'call_1', vendorCallId: 'v-read', name: 'read', input: { path: 'x' } },
        { type: 'tool_use', callId: 'call_2', vendorCallId: 'v-bad', name: 'shell', input: '{"command":' },
        { type: 'text', text: 'c' },
      ],
      finish: 'tool_calls',
      usage,
    })
    expect(parts).toHaveLength(11)
  })

  // `stop` and `tool_calls` go by the calls; with any other finish they may be cut (TU-5).
  const shell = { type: 'tool_use', callId: 'call_1', vendorCallId: 'v-shell', name: 'shell', input: {} } as const
  it.each([
    ['length', [text('so far'), call('shell')], [{ type: 'text', text: 'so far' }, shell], 'length'],
    ['length', [{ type: 'reasoning', text: 'long' }], [{ type: 'reasoning', text: 'long' }], 'length'],
    ['content_filter', [text('I'), call('shell')], [{ type: 'text', text: 'I' }, shell], 'content_filter'],
    ['content_filter', [], [], 'content_filter'],
    ['tool_calls', [text('done')], [{ type: 'text', text: 'done' }], 'stop'],
    ['stop', [call('shell')], [shell], 'tool_calls'],
  ] as const)('with finish %s after %j', async (kind, parts, content, finished) => {
    const { outcome } = ask(new FakeModel(playing(...parts, finish(kind))))
    expect(await outcome).toEqual({ kind: 'answer', content, finish: finished, usage })
  })
})

describe('a failure', () => {
  it.each([
    ['a final error', playing(text('a'), failing('model_request', false)), error('model_request', false)],
    ['a throw of the model', throwing(new Error('bug')), { code: 'model_internal', message: 'fake/model: bug', retryable: false }],
  ] as const)('%s ends it at the first attempt', async (_, stream, wanted) => {
    const model = new FakeModel(stream)
    const { outcome, retries } = ask(model)
    expect(await outcome).toEqual({ kind: 'failure', error: wanted, usage: { inputTokens: 0, outputTokens: 0 } })
    expect([model.requests.length, retries]).toEqual([1, []])
  })

  it.each([
    ['a transient error', playing(failing('model_overloaded', true)), 'model_overloaded'],
    ['a stream without a finish', playing(text('half')), 'model_stream'],
    ['nothing at all', playing(), 'model_stream'],
  ] as const)('%s is tried four times, then it is the error', async (_, stream, code) => {
    const model = new FakeModel(stream)
    const { outcome, clock, retries } = ask(model)
    expect(await outcome).toMatchObject({ kind: 'failure', error: { code, retryable: true } })
    expect(model.requests).toHaveLength(4)
    expect(clock.waits).toEqual([500, 1000, 2000])
    expect(retries.map(({ attempt, delayMs, error }) => [attempt, delayMs, error.code])).toEqual([
      [1, 500, code],
      [2, 1000, code],
      [3, 2000, code],
    ])
  })

  it('waits as long as the vendor wishes, within reason', async () => {
    const streams = [700, 100, 3_600_000].map((ms) => playing(failing('model_rate_limit', true, ms)))
    const { outcome, clock, retries } = ask(new FakeModel(...streams, playing(text('ok'), finish())), {
      retry: { ...defaultRetry, maxRetryAfterMs: 30_000 },
    })
    expect(await outcome).toMatchObject({ kind: 'answer' })
    expect(retries.map(({ delayMs }) => delayMs)).toEqual([700, 1000, 30_000])
    expect(clock.waits).toEqual([700, 1000, 30_000])
  })

  it('leaves nothing of a failed attempt in the answer, and adds its usage', async () => {
    const streams = [playing(text('lost'), { ...failing('model_stream', true), usage }), playing(text('kept'), finish())]
    const { outcome } = ask(new FakeModel(...streams))
    expect(await outcome).toEqual({ kind: 'answer', content: [{ type: 'text', text: 'kept' }], finish: 'stop', usage: sum(2) })
  })

  it('ignores what follows the end of a stream', async () => {
    const { outcome, parts } = ask(new FakeModel(playing(text('a'), finish(), failing('model_stream', true))))
    expect(await outcome).toMatchObject({ kind: 'answer', content: [{ type: 'text', text: 'a' }] })
    expect(parts).toHaveLength(2)
  })

  it('is told as such where the retry could not be recorded', async () => {
    const { outcome } = ask(new FakeModel(playing(failing('model_overloaded', true))), {
      onRetry: () => Promise.reject(new Error('fenced')),
    })
    expect(await outcome).toMatchObject({
      kind: 'failure',
      error: { code: 'internal', message: 'the retry could not be recorded: fenced' },
    })
  })
})

describe('an empty answer', () => {
  const empty = playing(finish())

  it.each([
    ['nothing', [finish()]],
    ['empty pieces', [text(''), finish('tool_calls')]],
    ['no content before the length limit', [finish('length')]],
    ['reasoning that leads to nothing', [{ type: 'reasoning', text: 'hm' }, finish()]],
  ] as const)('%s is asked for once more, then it is the error', async (_, parts) => {
    const model = new FakeModel(playing(...parts))
    const { outcome, retries } = ask(model)
    expect(await outcome).toMatchObject({ kind: 'failure', error: { code: 'model_empty' }, usage: sum(2) })
    expect([model.requests.length, retries.length]).toEqual([2, 1])
  })

  it('counts as one of the attempts, and the second one ends it wherever it comes', async () => {
    const model = new FakeModel(empty, playing(failing('model_network', true)), empty)
    expect(await ask(model).outcome).toMatchObject({ kind: 'failure', error: { code: 'model_empty' } })
    expect(model.requests).toHaveLength(3)
  })

  it('is answered by the next attempt', async () => {
    expect(await ask(new FakeModel(empty, playing(text('x'), finish()))).outcome).toMatchObject({ kind: 'answer', usage: sum(2) })
  })
})

describe('a stall', () => {
  const once = { retry: { ...defaultRetry, attempts: 1 } }

  it('is no first byte in 120 s, and stops the stream of a model that hangs', async () => {
    const model = new FakeModel(hanging())
    const { outcome, clock } = ask(model, once)
    clock.advance(119_999)
    await turnOfTheLoop()
    expect(model.requests[0]?.signal.aborted).toBe(false)
    clock.advance(1)
    expect(await outcome).toMatchObject({
      kind: 'failure',
      error: { code: 'model_stalled', message: 'no first byte in 120000 ms', retryable: true },
    })
    expect(model.requests[0]?.signal.aborted).toBe(true)
  })

  it('is 60 s without a byte after the first, counted from the last', async () => {
    const clock = new ManualClock()
    const model = new FakeModel(hanging(text('a')))
    const said = deferred()
    const { outcome } = ask(model, { ...once, clock, onPart: () => said.resolve() })
    await said.promise
    clock.advance(40_000)
    model.requests[0]?.onBytes?.() // a keep-alive comment: no part, and yet life
    clock.advance(59_999)
    await turnOfTheLoop()
    expect(model.requests[0]?.signal.aborted).toBe(false)
    clock.advance(1)
    expect(await outcome).toMatchObject({ kind: 'failure', error: { code: 'model_stalled', message: 'nothing more in 60000 ms' } })
  })

  it('is transient, and its late parts are dropped', async () => {
    const clock = new ImpatientClock()
    const gate = deferred()
    const late: Stream = async function* () {
      await gate.promise
      yield text('late')
      yield finish()
    }
    const { outcome, parts } = ask(new FakeModel(late, playing(text('ok'), finish())), {
      clock,
      onRetry: async () => gate.resolve(),
    })
    clock.advance(defaultRetry.firstByteMs)
    expect(await outcome).toMatchObject({ kind: 'answer', content: [{ type: 'text', text: 'ok' }] })
    expect(parts).not.toContainEqual(text('late'))
  })

  it('leaves no timer and no listener behind', async () => {
    const { outcome, clock, abort } = ask(new FakeModel(playing(failing('model_network', true)), playing(text('ok'), finish())))
    await outcome
    expect(clock.waiting).toBe(0)
    abort.abort() // nothing listens any more: nothing happens
    expect((await outcome).kind).toBe('answer')
  })
})

describe('an abort', () => {
  it('before the request asks nobody', async () => {
    const model = new FakeModel(playing(text('a'), finish()))
    const signal = AbortSignal.abort()
    const options: RequestOptions = {
      clock: new ManualClock(),
      retry: defaultRetry,
      random: () => 1,
      newCallId: () => 'call_1',
      onPart: () => undefined,
      onRetry: async () => undefined,
    }
    expect(await requestAnswer(model, { system: '', messages: [], tools: [], options: {}, signal }, options)).toEqual({
      kind: 'aborted',
      content: [],
      usage: { inputTokens: 0, outputTokens: 0 },
    })
    expect(model.requests).toEqual([])
  })

  // TU-8, at every part of a stream that then hangs and never looks at its signal.
  const spoken: ModelPart[] = [
    { type: 'reasoning', text: 'hm' },
    text('a'),
    text('b'),
    { type: 'tool_input', index: 0, text: '{' },
    call('x'),
  ]
  const block = { reasoning: { type: 'reasoning', text: 'hm' }, a: { type: 'text', text: 'a' }, ab: { type: 'text', text: 'ab' } }
  it.each([
    [1, [block.reasoning]],
    [2, [block.reasoning, block.a]],
    [3, [block.reasoning, block.ab]],
    [4, [block.reasoning, block.ab]],
    [5, [block.reasoning, block.ab]],
  ])('after part %i keeps the text that had arrived, and no call', async (count, content) => {
    const abort = new AbortController()
    const model = new FakeModel(hanging(...spoken.slice(0, count)))
    let heard = 0
    const outcome = requestAnswer(
      model,
      { system: '', messages: [], tools: [], options: {}, signal: abort.signal },
      {
        clock: new ManualClock(),
        retry: defaultRetry,
        random: () => 1,
        newCallId: () => 'call_1',
        onPart: () => {
          heard += 1
          if (heard === count) queueMicrotask(() => abort.abort())
        },
        onRetry: async () => undefined,
      },
    )
    expect(await outcome).toEqual({ kind: 'aborted', content, usage: { inputTokens: 0, outputTokens: 0 } })
    expect(model.requests[0]?.signal.aborted).toBe(true)
  })

  it('while nothing has come', async () => {
    const { outcome, abort, clock } = ask(new FakeModel(hanging()))
    abort.abort()
    expect(await outcome).toMatchObject({ kind: 'aborted', content: [] })
    expect(clock.waiting).toBe(0)
  })

  it('while a retry is recorded', async () => {
    const clock = new ManualClock()
    const model = new FakeModel(playing({ ...failing('model_network', true), usage }))
    const asked = ask(model, { clock, onRetry: async () => asked.abort.abort() })
    expect(await asked.outcome).toEqual({ kind: 'aborted', content: [], usage })
    expect([model.requests.length, clock.waiting]).toEqual([1, 0])
  })

  it('during the wait of a retry', async () => {
    class AbortingClock extends ManualClock {
      override after(ms: number, callback: () => void): () => void {
        if (ms === 500) queueMicrotask(() => asked.abort.abort())
        return super.after(ms, callback)
      }
    }
    const clock = new AbortingClock()
    const model = new FakeModel(playing({ ...failing('model_network', true), usage }))
    const asked = ask(model, { clock })
    expect(await asked.outcome).toEqual({ kind: 'aborted', content: [], usage })
    expect([model.requests.length, asked.retries.length, clock.waiting]).toEqual([1, 1, 0])
  })

  it('wins over the failure that it causes', async () => {
    const abortive: Stream = async function* ({ signal }) {
      yield text('a')
      const aborted = deferred()
      signal.addEventListener('abort', () => aborted.resolve())
      await aborted.promise
      yield failing('model_network', true)
    }
    const asked = ask(new FakeModel(abortive), { onPart: () => queueMicrotask(() => asked.abort.abort()) })
    expect(await asked.outcome).toMatchObject({ kind: 'aborted', content: [{ type: 'text', text: 'a' }] })
    expect(asked.retries).toEqual([])
  })
})

function throwing(fault: Error): Stream {
  return () => {
    throw fault
  }
}
