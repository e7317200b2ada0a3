import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { ManualClock } from '../base/clock.ts'
import { deferred } from '../base/deferred.ts'
import { Refusal } from '../log/refusal.ts'
import { Frames } from './frames.fixture.ts'
import { refuseClient } from './unopened.ts'

function start(error: unknown = new Refusal('store_version', 'the store is newer', { found: 2, known: 1 })) {
  const input = new PassThrough()
  const frames = new Frames()
  const clock = new ManualClock()
  const pipe = { broken: false, held: false }
  const first = deferred<[done: () => void]>()
  const write = (text: string, done: (error?: Error) => void) => {
    if (!pipe.broken) frames.push(text)
    first.resolve([done])
    if (!pipe.held) done(pipe.broken ? new Error('EPIPE') : undefined)
  }
  return { input, frames, clock, pipe, written: first.promise, refused: refuseClient({ input, write }, error, clock) }
}

const hello = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} })}\n`

it('answers the first request with what keeps the runtime from opening, and is over', async () => {
  const { input, frames, refused } = start()
  for (const byte of Buffer.from(hello)) input.write(Buffer.from([byte]))
  await refused
  expect(await frames.answer(1)).toMatchObject({
    error: { code: -32000, message: 'the store is newer', data: { code: 'store_version', retryable: false, found: 2, known: 1 } },
  })
})

it('answers a request that the end of stdin follows, and is not over before that was written', async () => {
  const { input, pipe, refused, written } = start()
  pipe.held = true
  input.end(hello)
  const [done] = await written
  let over = false
  void refused.then(() => {
    over = true
  })
  await new Promise(setImmediate)
  expect(over).toBe(false)
  done()
  await refused
})

it('tells nothing of a fault that is no refusal', async () => {
  const { input, frames, refused } = start(new Error('a secret'))
  input.write(hello)
  await refused
  expect((await frames.answer(1)).error).toMatchObject({ data: { code: 'internal' }, message: expect.not.stringContaining('secret') })
})

it.each(['end', 'destroy'] as const)('is over where nobody asks: stdin %ss', async (how) => {
  const { input, refused } = start()
  input[how]()
  await refused
})

it('is over where nobody asks in time, and where nobody reads', async () => {
  const silent = start()
  silent.clock.advance(2000)
  await silent.refused
  const gone = start()
  gone.pipe.broken = true
  gone.input.write(hello)
  await gone.refused
})
