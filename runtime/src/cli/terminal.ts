// Owns what the commands print to: text on stdout, everything else on stderr (CLI-2); and what became of it, so that no answer is
// lost in silence.
import { fstatSync, writeSync } from 'node:fs'
import type { Writable } from 'node:stream'

/** Why stdout takes no more: its reader left, as `head` does, or the system refused a write (a full disk). */
export type Loss = { kind: 'unread' } | { kind: 'refused'; why: string }

export interface Terminal {
  /** Text for stdout; dropped once stdout takes no more. */
  print(text: string): void
  /** One line for stderr. */
  say(line: string): void
  /** Whether a person looks at it. */
  stdoutIsTty: boolean
  stderrIsTty: boolean
  /** Called once, as soon as stdout takes no more. */
  onLost(listener: () => void): void
  /** Resolves once what was printed was handed to the system: null, or what happened where some of it was not. */
  flush(): Promise<Loss | null>
}

type Stream = Pick<Writable, 'write' | 'on'> & { isTTY?: boolean | undefined; fd?: number }

export function openTerminal(stdout: Stream, stderr: Stream): Terminal {
  let loss: Loss | null = null
  const listeners: (() => void)[] = []
  const lose = (error: Error) => {
    if (loss !== null) return
    loss = lossOf(error)
    for (const listener of listeners) listener()
  }
  const file = fileOf(stdout)
  // Unheard, they would end the process; each write tells its own.
  for (const stream of [stdout, stderr]) stream.on('error', () => undefined)
  return {
    print: (text) => {
      if (loss !== null) return
      if (file === null) stdout.write(text, heard(lose))
      else writeWhole(file, text, lose)
    },
    say: (line) => {
      stderr.write(`${line}\n`)
    },
    stdoutIsTty: stdout.isTTY === true,
    stderrIsTty: stderr.isTTY === true,
    onLost: (listener) => {
      listeners.push(listener)
    },
    flush: async () => {
      await Promise.all([written(stderr), file === null ? written(stdout) : null])
      return loss
    },
  }
}

const gone = new Set(['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED'])

function lossOf(error: Error & { code?: unknown }): Loss {
  if (typeof error.code === 'string' && gone.has(error.code)) return { kind: 'unread' }
  return { kind: 'refused', why: `stdout could not be written, and what was printed is not whole: ${error.message}` }
}

const heard = (lose: (error: Error) => void) => (error?: Error | null) => {
  if (error) lose(error)
}

const written = (stream: Stream) => new Promise<void>((resolve) => stream.write('', () => resolve()))

/** The descriptor where stdout is a file or a device: Node's stream for those loses what a write didn't take, and says nothing. */
function fileOf({ fd, isTTY }: Stream): number | null {
  if (fd === undefined || isTTY === true) return null
  const stat = fstatSync(fd)
  return stat.isFile() || stat.isCharacterDevice() || stat.isBlockDevice() ? fd : null
}

function writeWhole(fd: number, text: string, lose: (error: Error) => void): void {
  const bytes = Buffer.from(text)
  try {
    for (let from = 0; from < bytes.length; ) from += writeSync(fd, bytes, from)
  } catch (error) {
    lose(error instanceof Error ? error : new Error(String(error)))
  }
}
