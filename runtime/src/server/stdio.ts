// Owns the one connection of `serve --stdio`: frames in on stdin, frames out on stdout, and every way in which it ends.
import type { Readable } from 'node:stream'
import type { Clock } from '../base/clock.ts'
import { Connection, type ConnectionPorts } from './connection.ts'
import { FrameReader } from './framing.ts'
import { FrameOutput, type Write } from './output.ts'

/** No end takes longer than this. */
const STOP_WITHIN_MS = 5000
const FLUSH_WITHIN_MS = 1000
/** A client that asks and doesn't read is read no further above this. Far above the mark of subscriptions: a cancel must get through. */
const MAX_UNSENT = 64 * 1024 * 1024

export interface StdioPorts extends ConnectionPorts {
  clock: Clock
}

export interface StdioStreams {
  input: Readable
  /** Calls back with an error where nobody reads any more. */
  write: Write
  /** Characters; for tests. */
  maxUnsent?: number
}

export interface StdioServer {
  /** Ends it from outside, as a signal does. */
  end(): void
  /** Resolves once the runtime is stopped: `clean`, or `late` where that took too long. */
  ended: Promise<'clean' | 'late'>
}

export function serveStdio(streams: StdioStreams, ports: StdioPorts): StdioServer {
  const { input, maxUnsent = MAX_UNSENT } = streams
  let end = () => {}
  const asked = new Promise<void>((resolve) => {
    end = resolve
  })
  const output = new FrameOutput(streams.write, () => {
    connection.hurry()
    end()
  })
  const connection = new Connection(ports, output, end)
  const reader = new FrameReader(connection.peer, ports.limits.maxFrameBytes)
  input.on('data', (chunk: Buffer) => {
    reader.push(chunk)
    if (output.unsent <= maxUnsent) return
    input.pause()
    void output.drained().then(() => input.resume())
  })
  for (const event of ['end', 'close', 'error'] as const) input.once(event, end)

  const stop = async (): Promise<'clean' | 'late'> => {
    await asked
    input.pause()
    const stayed = ports.clock.after(FLUSH_WITHIN_MS, () => connection.hurry())
    const stopped = connection.settled().then(() => ports.stop())
    const inTime = await within(ports.clock, STOP_WITHIN_MS, stopped)
    stayed()
    connection.close()
    await within(ports.clock, FLUSH_WITHIN_MS, output.flushed())
    return inTime ? 'clean' : 'late'
  }
  return { end: () => end(), ended: stop() }
}

/** Whether `work` settled in time. */
function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, () => resolve(false))
    const done = () => {
      cancel()
      resolve(true)
    }
    work.then(done, done)
  })
}
