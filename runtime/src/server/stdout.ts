// Owns stdout where it carries frames: whatever else is printed there, by whatever way Node has, goes to stderr (FR-5).
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import type { Writable } from 'node:stream'
import type { Write } from './output.ts'

const STDOUT = 1
const STDERR = 2

type Stream = Pick<Writable, 'write' | 'on'>

export interface TakenStdout {
  write: Write
  /** Gives stdout back; for tests. */
  restore(): void
}

/** Takes stdout for frames alone. That nobody reads any more is told to who writes, in its callback. */
export function takeStdout(out: Stream = process.stdout, err: Stream = process.stderr): TakenStdout {
  const original = out.write
  const write = original.bind(out)
  for (const stream of [out, err]) stream.on('error', () => undefined)
  out.write = (...args: unknown[]) => Reflect.apply(err.write, err, args)
  const restoreFiles = redirectFiles()
  return {
    write: (text, done) => {
      write(text, 'utf8', done)
    },
    restore: () => {
      out.write = original
      restoreFiles()
    },
  }
}

/** A logger that writes to the descriptor itself goes to stderr, too. */
function redirectFiles(): () => void {
  const { write, writeSync, writev, writevSync } = fs
  const originals = { write, writeSync, writev, writevSync }
  const redirected = Object.entries(originals).map(([name, original]) => [
    name,
    (fd: unknown, ...rest: unknown[]) => Reflect.apply(original, fs, [fd === STDOUT ? STDERR : fd, ...rest]),
  ])
  Object.assign(fs, Object.fromEntries(redirected))
  syncBuiltinESMExports()
  return () => {
    Object.assign(fs, originals)
    syncBuiltinESMExports()
  }
}
