import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { quiet, Rig } from '../agent/agent-rig.fixture.ts'
import { deferred } from '../base/deferred.ts'
import { Subscriptions } from '../subscriptions/subscriptions.ts'
import { Frames } from './frames.fixture.ts'
import { serveStdio } from './stdio.ts'

function start(stop?: () => Promise<void>, maxUnsent?: number) {
  const rig = new Rig()
  const { sessions, log } = rig.runtime
  const input = new PassThrough()
  const frames = new Frames()
  const pipe: { broken: boolean; full: (() => void)[] | null } = { broken: false, full: null }
  const server = serveStdio(
    {
      input,
      ...(maxUnsent !== undefined && { maxUnsent }),
      write: (text, done) => {
        if (pipe.broken) return done(new Error('EPIPE'))
        frames.push(text)
        if (pipe.full === null) done()
        else pipe.full.push(done)
      },
    },
    {
      sessions,
      subscriptions: (sink) => new Subscriptions({ log, store: rig.store, sessions, newId: () => 'sub' }, sink),
      limits: { maxFrameBytes: 500, maxInFlight: 100, maxPendingMessages: 10 },
      models: () => [],
      tools: async () => [],
      now: () => 1,
      report: () => undefined,
      stop: stop ?? (() => sessions.shutdown()),
      clock: rig.clock,
    },
  )
  return { rig, input, pipe, server, frames }
}

const frame = (id: number, method: string, params: unknown = {}) => `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`
const hello = frame(1, 'initialize', { protocol: { min: 1, max: 1 }, client: { name: 't', version: '0' } })

/** A server with an open turn. */
async function running(stop?: () => Promise<void>) {
  const started = start(stop)
  started.input.write(hello + frame(2, 'session/create', { sessionId: 's', cwd: process.cwd() }))
  started.input.write(frame(3, 'session/prompt', { sessionId: 's', content: 'x' }))
  await started.frames.answer(3)
  await started.rig.nextAsk()
  return started
}

const interrupted = { type: 'turn/end', data: { reason: { kind: 'interrupted' } } }

describe('serve over stdin and stdout', () => {
  it('answers what is asked, however it is cut, and lives on after bad frames', async () => {
    const { input, frames } = start()
    const bytes = Buffer.from(`${hello}not json\n${'x'.repeat(501)}\n\r\n${frame(2, 'server/ping')}`)
    for (const byte of bytes) input.write(Buffer.from([byte]))
    await frames.answer(2)
    expect(frames.all.map((each) => each.id)).toEqual(expect.arrayContaining([1, 2, null, null]))
    const codes = frames.all.flatMap((each) => each.error ?? [])
    expect(codes).toMatchObject([{ code: -32700 }, { data: { code: 'frame_too_large', limit: 500 } }])
  })

  it.each([
    ['its end', (input: PassThrough) => input.end()],
    ['its end in the middle of a frame', (input: PassThrough) => input.end('{"jsonrpc":"2.0","id":9')],
    ['its loss', (input: PassThrough) => input.destroy(new Error('gone'))],
  ])("FR-5: stdin's end ends it, and the open turn as interrupted: %s", async (_, end) => {
    const { rig, input, server } = await running()
    end(input)
    expect(await server.ended).toBe('clean')
    expect((await rig.facts()).at(-1)).toMatchObject(interrupted)
  })

  it('RE-7: a signal ends it the same way', async () => {
    const { rig, server } = await running()
    server.end()
    expect(await server.ended).toBe('clean')
    expect((await rig.facts()).at(-1)).toMatchObject(interrupted)
  })

  it('so does the loss of stdout', async () => {
    const { input, pipe, server } = await running()
    pipe.broken = true
    input.write(frame(4, 'server/ping'))
    expect(await server.ended).toBe('clean')
  })

  it('shutdown is answered before it ends', async () => {
    const { input, server, frames } = await running()
    input.write(frame(4, 'shutdown'))
    expect(await server.ended).toBe('clean')
    expect(frames.all.at(-1)).toEqual({ jsonrpc: '2.0', id: 4, result: {} })
  })

  it('a client that asks and does not read is read no further, until it does', async () => {
    const { input, pipe, frames } = start(undefined, 300_000)
    input.write(hello)
    await frames.answer(1)
    pipe.full = []
    const held = pipe.full
    let id = 1
    while (!input.isPaused()) {
      input.write(frame(++id, 'session/fly'))
      await quiet(
        () => input.isPaused(),
        async () => undefined,
      )
    }
    expect(id).toBeGreaterThan(100)
    pipe.full = null
    for (const done of held) done()
    input.write(frame(9999, 'server/ping'))
    expect((await frames.answer(9999)).result).toBeDefined()
  })

  it.each([
    ['that does not read is not waited for long', (pipe: { full: ((error?: Error) => void)[] | null }) => pipe],
    [
      'whose end of stdout is gone is not waited for at all',
      (pipe: { full: ((error?: Error) => void)[] | null }) => {
        for (const done of pipe.full ?? []) done(new Error('EPIPE'))
      },
    ],
  ])('a client %s: the end is in good order, and what it asked for and had no room is refused', async (_, lose) => {
    const { rig, input, pipe, server, frames } = await running()
    pipe.full = []
    for (let id = 10; id < 5000; id += 1) input.write(frame(id, 'session/fly'))
    await frames.answer(4999)
    input.write(frame(5000, 'session/list'))
    input.write(frame(5001, 'session/events', { sessionId: 's' }))
    await quiet()
    input.end()
    lose(pipe)
    await quiet()
    rig.clock.advance(1000)
    await quiet()
    expect((await rig.facts()).at(-1)).toMatchObject(interrupted)
    rig.clock.advance(1000)
    expect(await server.ended).toBe('clean')
    expect(frames.all.filter(({ id, result }) => (id === 5000 || id === 5001) && result !== undefined)).toEqual([])
  })

  it('an end that takes too long is cut short, on the clock', async () => {
    const never = deferred()
    const { rig, input, server } = await running(() => never.promise)
    let ended: string | null = null
    server.ended.then((how) => {
      ended = how
    })
    input.end()
    await quiet()
    rig.clock.advance(4999)
    await quiet()
    expect(ended).toBeNull()
    rig.clock.advance(1)
    expect(await server.ended).toBe('late')
  })
})
