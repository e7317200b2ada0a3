import { expect, it } from 'vitest'
import { ManualClock } from '../base/clock.ts'
import { SilenceWatch } from './silence-watch.ts'

class CountingClock extends ManualClock {
  timers = 0

  override after(ms: number, callback: () => void): () => void {
    this.timers += 1
    return super.after(ms, callback)
  }
}

it('watches a stream of many bytes with few timers, and stalls from the last byte on (TU-5)', () => {
  const clock = new CountingClock()
  const stalls: string[] = []
  const watch = new SilenceWatch(clock, { firstByteMs: 100, betweenBytesMs: 10 }, (message) => stalls.push(message))
  clock.advance(99)
  for (let count = 0; count < 1_000; count += 1) {
    watch.touch()
    if (count % 100 === 0) clock.advance(9)
  }
  expect(clock.timers).toBeLessThan(20)
  expect(stalls).toEqual([])
  clock.advance(10)
  expect(stalls).toEqual(['nothing more in 10 ms'])
  expect(clock.waiting).toBe(0)
})

it('stops', () => {
  const clock = new ManualClock()
  const stalls: string[] = []
  new SilenceWatch(clock, { firstByteMs: 100, betweenBytesMs: 10 }, (message) => stalls.push(message)).stop()
  clock.advance(1_000)
  expect([stalls, clock.waiting]).toEqual([[], 0])
})
