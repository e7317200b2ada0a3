// Owns how large what a client gives may be, so that every fact and every description fits into a frame with room to spare.
import type { Fault } from '@quiesce/schema'
import { Refusal } from '../log/refusal.ts'
import { sizeOf } from '../log/size.ts'

/** Of one message, and of one session's configuration: as JSON, in bytes. A frame of 32 MiB holds it and what goes around it. */
export const MAX_GIVEN_BYTES = 31 * 1024 * 1024
/** Of what a listing shows of each session. */
export const MAX_SHOWN_BYTES = 16 * 1024

/** *Contract:* throws Refusal `frame_too_large`. */
export function checkSize(what: string, value: unknown): void {
  const bytes = bytesOf(value, MAX_GIVEN_BYTES)
  if (bytes <= MAX_GIVEN_BYTES) return
  throw new Refusal(
    'frame_too_large',
    `${what} is ${bytes} bytes of JSON; at most ${MAX_GIVEN_BYTES} fit into a frame with what goes around it`,
    {
      limit: MAX_GIVEN_BYTES,
    },
  )
}

/** A session list of a thousand has to fit into a frame too. */
export function shownFaults(shown: Readonly<Record<string, unknown>>): Fault[] {
  return Object.entries(shown).flatMap(([path, value]) => {
    const bytes = bytesOf(value, MAX_SHOWN_BYTES)
    return bytes <= MAX_SHOWN_BYTES ? [] : [{ path, message: `too big: ${bytes} bytes of JSON, at most ${MAX_SHOWN_BYTES}` }]
  })
}

/** Exact where it might be over the limit; a JSON character takes at most six bytes. */
function bytesOf(value: unknown, limit: number): number {
  const rough = sizeOf(value) * 6
  return rough <= limit ? rough : Buffer.byteLength(JSON.stringify(value) ?? '')
}
