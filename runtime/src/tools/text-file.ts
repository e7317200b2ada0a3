// Owns text files as a whole, read without loss, and the beginnings of others. Refuses what isn't UTF-8, and files too large to hold.
import type { BigIntStats } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Boundary, openInside } from './paths.ts'

/** Longest file that is read or made as a whole, in bytes. */
export const MAX_WHOLE_FILE = 10 * 1024 * 1024

export interface TextFile {
  /** With its byte order mark and line endings as they are. */
  text: string
  stats: BigIntStats
}

/** Reads a file that is to be changed. *Contract:* rejects with an error for the model where it isn't text or is too large. */
export async function readTextFile(given: string, boundary: Boundary): Promise<TextFile> {
  const { handle, stats } = await openInside(given, boundary)
  try {
    if (stats.size > MAX_WHOLE_FILE)
      throw new Error(`${given} is too large to edit: ${stats.size} bytes, at most ${MAX_WHOLE_FILE}; use shell (sed, for example)`)
    return { text: decodeText(await handle.readFile(), given), stats }
  } finally {
    await handle.close()
  }
}

/**
 * The beginning of a file, so many bytes; null where there is none. *Contract:* as openInside: a checkout brings in no file from outside
 * the roots, and none that never ends.
 */
export async function readBeginning(given: string, boundary: Boundary, bytes: number): Promise<Uint8Array | null> {
  if (!(await isThere(resolve(boundary.cwd, given)))) return null
  const { handle } = await openInside(given, boundary)
  try {
    const buffer = Buffer.alloc(bytes)
    let length = 0
    for (let read = -1; read !== 0 && length < bytes; length += read)
      read = (await handle.read(buffer, length, bytes - length, null)).bytesRead
    return buffer.subarray(0, length)
  } finally {
    await handle.close()
  }
}

function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}

function decodeText(bytes: Buffer, given: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Error(`${given} is not valid UTF-8 text, so editing it here would damage it; use shell (iconv, perl or python)`)
  }
}

/** Refuses a text that can't be written as UTF-8. */
export function assertEncodable(name: string, text: string): void {
  const lone = /\p{Surrogate}/u.exec(text)
  if (lone !== null) throw new Error(`${name} has half of a surrogate pair at position ${lone.index}, which is no character`)
}
