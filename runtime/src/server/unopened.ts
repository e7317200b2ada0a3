// Owns the last word of a runtime that could not be opened: its client learns from the answer to its first request why, with a code,
// and not just from an exit status. Serves nothing.
import type { Clock } from '../base/clock.ts'
import { FrameReader } from './framing.ts'
import { FrameOutput } from './output.ts'
import { Peer } from './peer.ts'
import type { StdioStreams } from './stdio.ts'

/** A client says its first word at once; who says nothing is no client. */
const ASKED_WITHIN_MS = 2000

/** Resolves once a request was answered with the error, or none came in time. *Contract:* never rejects. */
export async function refuseClient({ input, write }: StdioStreams, error: unknown, clock: Pick<Clock, 'after'>): Promise<void> {
  let end = () => {}
  const over = new Promise<void>((resolve) => {
    end = resolve
  })
  const output = new FrameOutput(write, () => end())
  const peer = new Peer({
    send: (frame) => {
      output.send(frame)
      end()
    },
    dispatch: () => Promise.reject(error),
    report: () => undefined,
  })
  const reader = new FrameReader(peer)
  input.on('data', (chunk: Buffer) => reader.push(chunk))
  for (const event of ['end', 'close', 'error'] as const) input.once(event, () => end())
  const cancel = clock.after(ASKED_WITHIN_MS, () => end())
  await over
  cancel()
  input.pause()
  await output.flushed()
}
