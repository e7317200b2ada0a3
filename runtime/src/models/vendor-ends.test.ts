// TU-5, for every vendor over its own wire format: each way in which an answer can end.
import type { FactErrorOf } from '@quiesce/schema'
import { afterEach, describe, expect, it } from 'vitest'
import { ManualClock } from '../base/clock.ts'
import { deferred } from '../base/deferred.ts'
import { anthropicWire } from './anthropic-wire.fixture.ts'
import type { Model, ModelPart } from './model.ts'
import { openAIChatWire, responsesWire } from './openai-wire.fixture.ts'
import { defaultRetry } from './retry.ts'
import { answer, apiKey, partsOf, request, settingsAt, spoken } from './vendor-request.fixture.ts'
import { type Reply, VendorServer } from './vendor-server.fixture.ts'
import { compatibleWire, event, type Said, type Trouble, type Wire } from './wire.fixture.ts'

const wires: Wire[] = [anthropicWire, responsesWire, openAIChatWire, compatibleWire]
const call = { id: 'call_1', name: 'shell', arguments: '{"command":"ls"}' }
const half: Said = { text: ['half'] }

let server: VendorServer | undefined
afterEach(() => server?.close())

async function serve(wire: Wire, ...replies: Reply[]): Promise<Model> {
  server = await VendorServer.start(...replies)
  return wire.make(settingsAt(server))
}

const ends = (parts: readonly ModelPart[]) => parts.filter(({ type }) => type === 'failure' || type === 'finish')
const textOf = (parts: readonly ModelPart[]) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')

describe.each(wires.map((wire) => [wire.name, wire] as const))('%s', (_, wire) => {
  const failing = async (reply: Reply, code: FactErrorOf['code'], retryable: boolean, message: unknown = expect.any(String)) => {
    const parts = await partsOf(await serve(wire, reply))
    expect(parts.at(-1)).toMatchObject({ type: 'failure', error: { code, retryable, message } })
    expect(ends(parts)).toHaveLength(1)
    expect(JSON.stringify(parts)).not.toContain('very')
    return parts
  }

  describe('an answer that ends well', () => {
    it('gives text, the input of a call and the call, then the finish with the usage', async () => {
      const usage = { input: 100, cached: 64, output: 20, reasoning: 7 }
      const body = wire.answer({ text: ['one ', 'two'], calls: [call], finish: wire.finishes.tool_calls[0]!, usage })
      const parts = spoken(await partsOf(await serve(wire, { body })))
      expect(parts.filter(({ type }) => type !== 'tool_input')).toMatchObject([
        { type: 'text', text: 'one ' },
        { type: 'text', text: 'two' },
        { type: 'tool_call', vendorCallId: 'call_1', name: 'shell', input: { command: 'ls' } },
        { type: 'finish', finish: 'tool_calls', usage: { inputTokens: 100, outputTokens: 20, cachedInputTokens: 64, reasoningTokens: 7 } },
      ])
      const inputs = parts.flatMap((part) => (part.type === 'tool_input' && part.index === 0 ? [part.text] : []))
      expect(inputs.length).toBeGreaterThan(1)
      expect(inputs.join('')).toBe(call.arguments)
      expect(server?.asked[0]?.path).toBe(wire.path)
      const [header, value] = wire.keyHeader(apiKey)
      expect(server?.asked[0]?.headers).toMatchObject({ [header]: value, 'user-agent': expect.stringMatching(/^quiesce/) })
    })

    const named = Object.entries(wire.finishes).flatMap(([finish, words]) => words.map((word) => [finish, word] as const))
    it.each(named)('%s, as %s', async (finish, word) => {
      const calls = finish === 'tool_calls' ? [call] : []
      const parts = await partsOf(await serve(wire, { body: wire.answer({ text: ['x'], calls, finish: word }) }))
      expect(ends(parts)).toMatchObject([{ type: 'finish', finish, usage: { inputTokens: 0, outputTokens: 0 } }])
    })

    it('the same however its bytes are cut, down to single ones', async () => {
      const body = wire.answer({ text: ['grüß ', 'dich 🙂'], calls: [call], finish: wire.finishes.tool_calls[0]! })
      const bytes = Buffer.from(body.join(''))
      const single = Array.from(bytes, (_byte, at) => bytes.subarray(at, at + 1))
      const model = await serve(wire, { body }, { body: [bytes] }, { body: single })
      const [plain, whole, cut] = [await partsOf(model), await partsOf(model), await partsOf(model)]
      expect(textOf(plain)).toBe('grüß dich 🙂')
      expect([whole, cut]).toEqual([plain, plain])
    })

    it('a call with no input at all', async () => {
      const body = wire.answer({ calls: [{ ...call, arguments: '' }], finish: wire.finishes.tool_calls[0]! })
      expect(await partsOf(await serve(wire, { body }))).toContainEqual(expect.objectContaining({ type: 'tool_call', input: {} }))
    })
  })

  it.each(wire.finishes.length)('a call that %s cut is kept as it was written, and asks for nothing', async (word) => {
    const body = wire.answer({ calls: [{ ...call, arguments: '{"command":"rm -r' }], finish: word })
    expect(await answer(await serve(wire, { body }))).toMatchObject({
      kind: 'answer',
      finish: 'length',
      content: [{ type: 'tool_use', name: 'shell', input: '{"command":"rm -r' }],
    })
  })

  it.each([
    ['stop', {}],
    ['length', {}],
    ['stop, after blanks that are no word', { text: ['', ''] }],
  ])('an empty answer that ends with %s is a failure', async (finish, said) => {
    const [word] = finish === 'length' ? wire.finishes.length : wire.finishes.stop
    const outcome = await answer(await serve(wire, { body: wire.answer({ ...said, finish: word! }) }))
    expect(outcome).toMatchObject({ kind: 'failure', error: { code: 'model_empty', retryable: true } })
  })

  describe('an answer without an end', () => {
    it.each(wire.noFinishes)('with the finish %s, which ends none, though a call was whole', async (finish) => {
      const parts = await partsOf(
        await serve(wire, { body: wire.answer({ ...half, calls: [call], finish, usage: { input: 9, output: 3 } }) }),
      )
      expect(ends(parts)).toMatchObject([{ type: 'failure', error: { code: 'model_stream' }, usage: { inputTokens: 9, outputTokens: 3 } }])
      expect(textOf(parts)).toBe('half')
    })

    it.each([
      ['after words', wire.answer(half)],
      ['after a call', wire.answer({ calls: [call] })],
      ['before any word', wire.answer({})],
      ['before any event', []],
    ])('%s', async (__, body) => {
      await failing({ body }, 'model_stream', true)
    })

    it.each(['drop', 'reset'] as const)('by a %s after words', async (end) => {
      const parts = await failing({ body: [...wire.answer(half), end] }, 'model_stream', true)
      expect(textOf(parts)).toBe('half')
    })

    it.each(['drop', 'reset'] as const)('by a %s before any word', async (end) => {
      await failing({ body: [...wire.answer({}), end] }, 'model_stream', true)
    })

    it.each(['drop', 'reset'] as const)('by a %s in place of an answer', async (instead) => {
      await failing({ instead }, 'model_network', true)
    })

    it('where nobody listens', async () => {
      const model = await serve(wire)
      await server?.close()
      expect(await partsOf(model)).toMatchObject([{ type: 'failure', error: { code: 'model_network', retryable: true } }])
    })
  })

  const troubles: [Trouble, FactErrorOf['code'], boolean][] = [
    ['overloaded', 'model_overloaded', true],
    ['rate limit', 'model_rate_limit', true],
    ['internal', 'model_internal', true],
    ['request', 'model_request', false],
    ['auth', 'model_auth', false],
    ['context', 'model_context_length', false],
  ]

  describe.each(troubles)('an error event: %s', (trouble, code, retryable) => {
    const told = wire.trouble(trouble, `no: ${apiKey}`)
    const message = expect.stringContaining('no: [secret]')

    it('amid the answer', async () => {
      const parts = await failing({ body: [...wire.answer(half), told] }, code, retryable, message)
      expect(textOf(parts)).toBe('half')
    })

    it('before all else', () => failing({ body: [told] }, code, retryable, message))

    it('before any word', () => failing({ body: [...wire.answer({}), told] }, code, retryable, message))

    it('then a finish, which counts for nothing', () => {
      const [stop] = wire.finishes.stop
      const body = wire.answer({ ...half, finish: stop! })
      return failing({ body: [...body.slice(0, -2), told, ...body.slice(-2)] }, code, retryable, message)
    })

    it('and no end of the connection', async () => {
      await failing({ body: [...wire.answer(half), told, 'stall'] }, code, retryable, message)
      await server?.left(0)
    })
  })

  describe('what is no event of this format', () => {
    it.each([
      ['no JSON', [event('{"type":')]],
      ['no JSON amid the answer', [...wire.answer(half), event('{"choices"')]],
      ['an error that is a text', [...wire.answer(half), event({ error: 'overheated' })]],
      ['no event at all', ['%PDF-1.7 nonsense\n\n\0\0']],
    ])('%s', async (__, body) => {
      await failing({ body }, 'model_stream', true)
    })

    it('an answer in JSON', async () => {
      const reply = { headers: { 'content-type': 'application/json' }, body: ['{"id":1,"text":"whole"}'] }
      await failing(reply, 'model_stream', true, expect.stringMatching(/application\/json and no event stream: .*whole/))
    })

    it('an error in JSON, whose own words count', async () => {
      const reply = { headers: { 'content-type': 'application/json' }, body: [wire.refusal('auth', `no such key: ${apiKey}`)] }
      await failing(reply, 'model_auth', false, 'no such key: [secret]')
    })

    it("keeps a vendor's own words where it calls its stream something else", async () => {
      const trouble = wire.trouble('internal', 'no: out of order').replace(/server_error|api_error/, 'gremlins')
      const reply = { headers: { 'content-type': 'text/plain' }, body: [...wire.answer(half), trouble] }
      await failing(reply, 'model_stream', true, 'no: out of order')
    })

    it('a page', async () => {
      const reply = { headers: { 'content-type': 'text/html' }, body: ['<html>Log in\n first</html>'] }
      await failing(reply, 'model_stream', true, expect.stringContaining('<html>Log in first</html>'))
    })

    it('nothing', () => failing({ headers: {}, body: [] }, 'model_stream', true))
  })

  const statuses: [number, FactErrorOf['code'], boolean][] = [
    [400, 'model_request', false],
    [401, 'model_auth', false],
    [403, 'model_auth', false],
    [404, 'model_request', false],
    [408, 'model_overloaded', true],
    [409, 'model_overloaded', true],
    [413, 'model_request', false],
    [422, 'model_request', false],
    [429, 'model_rate_limit', true],
    [500, 'model_internal', true],
    [502, 'model_internal', true],
    [503, 'model_overloaded', true],
    [504, 'model_internal', true],
    [529, 'model_overloaded', true],
  ]

  it.each(statuses)('HTTP %i, whatever its body is', async (status, code, retryable) => {
    const bodies: [body: string, words: string][] = [
      [wire.refusal('internal', `no: ${apiKey}`), 'no: [secret]'],
      [JSON.stringify({ detail: `no: ${apiKey}` }), 'no: [secret]'],
      [`no: ${apiKey}`, 'no: [secret]'],
      [`<html>${apiKey}</html>`, `HTTP ${status}`],
      ['', `HTTP ${status}`],
    ]
    const model = await serve(wire, ...bodies.map(([body]) => ({ status, headers: {}, body: [body] })))
    for (const [, words] of bodies) {
      const parts = await partsOf(model)
      expect(parts).toMatchObject([{ type: 'failure', error: { code, retryable, message: expect.stringContaining(words) } }])
      expect(JSON.stringify(parts)).not.toContain('very')
    }
  })

  it('HTTP 400 for a prompt that is too long is told from others', () =>
    failing({ status: 400, headers: {}, body: [wire.refusal('context', 'far')] }, 'model_context_length', false))

  it('a redirect is not followed: the key goes nowhere else', async () => {
    await failing({ status: 307, headers: { location: 'http://127.0.0.1:1/v2' } }, 'model_request', false, expect.stringContaining(':1/v2'))
  })

  it.each([
    [{ 'retry-after': '2' }, 2000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after-ms': '120', 'retry-after': '2' }, 120],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:07 GMT' }, 7000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
  ])('honours %j', async (headers, retryAfterMs) => {
    const [failure] = await failing({ status: 429, headers, body: [wire.refusal('rate limit', 'slow')] }, 'model_rate_limit', true)
    expect(failure).toHaveProperty('type', 'failure')
    expect(failure && 'retryAfterMs' in failure ? failure.retryAfterMs : undefined).toBe(retryAfterMs)
  })

  describe('an abort', () => {
    const stalled = (said: Said): Reply => ({ body: [...wire.answer(said), 'stall'] })
    it.each([
      ['before any answer', { instead: 'silence' as const }, ''],
      ['before any word', stalled({}), ''],
      ['amid the words', stalled(half), 'half'],
      ['amid a call', stalled({ ...half, calls: [call] }), 'half'],
    ])('%s ends the stream without a word more, and the connection', async (__, reply, text) => {
      const model = await serve(wire, reply)
      const abort = new AbortController()
      const parts: ModelPart[] = []
      if (text === '') void server?.arrived(0).then(() => abort.abort())
      const last = 'calls' in reply ? 'tool_call' : 'text'
      for await (const part of model.stream(request({ signal: abort.signal }))) {
        parts.push(part)
        if (part.type === last) abort.abort()
      }
      await server?.left(0)
      expect(textOf(parts)).toBe(text)
      expect(ends(parts)).toEqual([])
    })
  })

  describe('bytes that are no part', () => {
    it.each([
      ['comments', ': still there\n\n'],
      ['events that say nothing', wire.ping],
    ])('%s are heard, before the first word and after it', async (__, ping) => {
      const [first, second] = [deferred(), deferred()]
      const [told, ...rest] = wire.answer({ text: ['x'], finish: wire.finishes.stop[0]! })
      const body = [ping, { until: first.promise }, told!, ping, { until: second.promise }, ...rest]
      const model = await serve(wire, { body })
      let heard = 0
      const onBytes = () => {
        heard += 1
        if (heard === 1) first.resolve(undefined)
        if (heard > 1) second.resolve(undefined)
      }
      expect(textOf(await partsOf(model, request({ onBytes })))).toBe('x') // the server waits to be heard
      expect(heard).toBeGreaterThan(2)
    })

    it.each([
      ['before', { instead: 'silence' as const }, defaultRetry.firstByteMs],
      ['amid', { body: [...wire.answer(half), 'stall' as const] }, defaultRetry.betweenBytesMs],
    ])('none at all %s the answer is a stall', async (when, reply, ms) => {
      const clock = new ManualClock()
      const model = await serve(wire, reply)
      const heard = deferred<void>()
      const outcome = answer(
        { ...model, stream: (asked) => model.stream({ ...asked, onBytes: listener(asked.onBytes, heard) }) },
        {},
        clock,
      )
      await (when === 'before' ? server?.arrived(0) : heard.promise)
      clock.advance(ms)
      expect(await outcome).toMatchObject({ kind: 'failure', error: { code: 'model_stalled', retryable: true } })
      await server?.left(0)
    })
  })

  it('shares connections', async () => {
    const body = wire.answer({ text: ['x'], finish: wire.finishes.stop[0]! })
    const model = await serve(wire, ...Array.from({ length: 12 }, () => ({ body })))
    for (let count = 0; count < 12; count += 1) expect((await answer(model)).kind).toBe('answer')
    expect(server?.connections).toBeLessThanOrEqual(2) // the second where a request comes before the last connection is free
  })

  it('asks without a key where there is none, whatever the environment holds', async () => {
    const before = { ...process.env }
    Object.assign(process.env, { ANTHROPIC_API_KEY: 'sk-env', OPENAI_API_KEY: 'sk-env', OPENAI_BASE_URL: 'http://127.0.0.1:1' })
    try {
      server = await VendorServer.start({ body: wire.answer({ text: ['x'], finish: wire.finishes.stop[0]! }) })
      const { apiKey: ___, ...keyless } = settingsAt(server)
      expect(textOf(await partsOf(wire.make(keyless)))).toBe('x')
      const { headers } = server.asked[0]!
      expect(headers).not.toHaveProperty('authorization')
      expect(headers).not.toHaveProperty('x-api-key')
      expect(JSON.stringify(headers)).not.toContain('sk-env')
    } finally {
      process.env = before
    }
  })

  it('says no key where the key itself makes the request impossible', async () => {
    server = await VendorServer.start()
    const [failure] = await partsOf(wire.make(settingsAt(server, { apiKey: 'sk-hidden\nkey' })))
    expect(failure).toMatchObject({ error: { code: 'model_request', retryable: false } })
    expect(JSON.stringify(failure)).not.toContain('hidden')
    expect(server.asked).toEqual([])
  })
})

function listener(onBytes: (() => void) | undefined, heard: { resolve(): void }): () => void {
  return () => {
    onBytes?.()
    heard.resolve()
  }
}
