// Owns the reading of a step's arguments: what they must be, and the error that names the step where they aren't.
import { isObject, type Json, type JsonObject } from './case.ts'
import { HarnessError } from './harness-error.ts'
import { shown } from './match.ts'

export function objectOf(step: string, args: Json): JsonObject {
  if (isObject(args)) return args
  throw new HarnessError(`step ${step}: expected an object, got ${shown(args)}`)
}

export function textOf(step: string, args: Json, what = 'a text'): string {
  if (typeof args === 'string') return args
  throw new HarnessError(`step ${step}: expected ${what}, got ${shown(args)}`)
}

export const optionalText = (step: string, args: Json | undefined): string | undefined =>
  args === undefined ? undefined : textOf(step, args)

/** Bytes that a case gives: a `text`, `hex`, `base64`, or `json` with its LF; `repeat` makes them longer. */
export function bytesOf(step: string, args: Json): Buffer {
  if (typeof args === 'string') return Buffer.from(args)
  const { text, hex, base64, json, repeat } = objectOf(step, args)
  const once =
    typeof text === 'string'
      ? Buffer.from(text)
      : typeof hex === 'string'
        ? Buffer.from(hex.replaceAll(/\s/g, ''), 'hex')
        : typeof base64 === 'string'
          ? Buffer.from(base64, 'base64')
          : json !== undefined
            ? Buffer.from(`${JSON.stringify(json)}\n`)
            : null
  if (once === null) throw new HarnessError(`step ${step}: bytes are a text, or {text | hex | base64 | json}, got ${shown(args)}`)
  return typeof repeat === 'number' ? Buffer.concat(Array.from({ length: repeat }, () => once)) : once
}

/** Cut into pieces: every byte for itself, pieces of one length, or at these places. */
export function chunksOf(step: string, bytes: Buffer, how: Json | undefined): Buffer[] {
  if (how === undefined) return [bytes]
  if (how === 'bytes' || typeof how === 'number') {
    const length = how === 'bytes' ? 1 : how
    return Array.from({ length: Math.ceil(bytes.length / length) }, (_, i) => bytes.subarray(i * length, (i + 1) * length))
  }
  if (!Array.isArray(how)) throw new HarnessError(`step ${step}: chunks are "bytes", a length, or a list of places, got ${shown(how)}`)
  const places = [0, ...how.map(Number), bytes.length]
  return places.slice(1).map((end, i) => bytes.subarray(places[i], end))
}
