import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { ManualClock } from '../base/clock.ts'
import { Refusal } from '../log/refusal.ts'
import { Frames } from './frames.fixture.ts'
import { refuseClient } from './unopened.ts'

function start(error: unknown = new Refusal('store_version', 'the store is newer', { found: 2, known: 1 })) {
  const input = new PassThrough()
  const frames = new Frames()
  const clock = new ManualClock()
  const pipe = { broken: false }
  const write = (text: string, done: (error?: Error) => void) => {
    if (!pipe.broken) frames.push(text)
    done(pipe.broken ? new Error('EPIPE') : undefined)
  }
  return { input, frames, clock, pipe, refused: refuseClient({ input, write }, error, clock) }
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

it('answers a request that the end of stdin follows', async () => {
  const { input, frames, refused } = start()
  input.end(hello)
  await refused
  expect((await frames.answer(1)).error).toMatchObject({ data: { code: 'store_version' } })
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
