import { describe, expect, it } from 'vitest'
import { FrameOutput, type Write } from './output.ts'

/** A pipe that takes a write when the test says so. */
function slowPipe() {
  const writes: string[] = []
  const waiting: ((error?: Error | null) => void)[] = []
  const write: Write = (text, done) => {
    writes.push(text)
    waiting.push(done)
  }
  let breaks = 0
  const output = new FrameOutput(write, () => {
    breaks += 1
  })
  return { output, writes, take: (error?: Error) => waiting.shift()?.(error ?? null), breaks: () => breaks }
}

const tick = () => new Promise<void>((resolve) => setImmediate(resolve))
const settled = async (promise: Promise<void>) => {
  let done = false
  promise.then(() => {
    done = true
  })
  await tick()
  return done
}

describe('the output', () => {
  it('gathers what is sent in one tick into one write, in order', async () => {
    const { output, writes } = slowPipe()
    output.send('1')
    Promise.resolve().then(() => output.send('2'))
    output.send('3')
    await tick()
    output.send('4')
    await tick()
    expect(writes).toEqual(['1\n3\n2\n', '4\n'])
  })

  it('is drained at once below its mark, and above it only when the system took enough (SUB-2)', async () => {
    const { output, take } = slowPipe()
    expect(output.ready()).toBe(true)
    expect(await settled(output.drained())).toBe(true)
    output.send('x'.repeat(200_000))
    await tick()
    output.send('x'.repeat(200_000))
    await tick()
    expect(output.ready()).toBe(false)
    const drained = output.drained()
    expect(await settled(drained)).toBe(false)
    take()
    expect(await settled(drained)).toBe(true)
    expect(output.ready()).toBe(true)
    const flushed = output.flushed()
    expect(await settled(flushed)).toBe(false)
    take()
    expect(await settled(flushed)).toBe(true)
  })

  it('drops everything once the other end is gone, says so once, and holds up nobody', async () => {
    const { output, writes, take, breaks } = slowPipe()
    output.send('x'.repeat(400_000))
    await tick()
    const drained = output.drained()
    take(new Error('EPIPE'))
    expect(await settled(drained)).toBe(true)
    expect(output.ready()).toBe(false)
    output.break()
    output.send('late')
    await tick()
    expect(writes).toHaveLength(1)
    expect(breaks()).toBe(1)
    expect(await settled(output.flushed())).toBe(true)
  })
})
