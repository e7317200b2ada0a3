// Owns what the commands print to: text on stdout, everything else on stderr (CLI-2); and that nobody may listen any more.
import type { WriteStream } from 'node:tty'

export interface Terminal {
  /** Text for stdout. */
  print(text: string): void
  /** One line for stderr. */
  say(line: string): void
  /** Whether a person looks at it. */
  stdoutIsTty: boolean
  stderrIsTty: boolean
  /** Called once where nobody reads stdout any more. */
  onBroken(listener: () => void): void
  /** Resolves once what was printed was handed to the system, or nobody reads it. */
  flush(): Promise<void>
}

type Stream = Pick<WriteStream, 'write' | 'on'> & { isTTY?: boolean | undefined }

export function openTerminal(stdout: Stream, stderr: Stream): Terminal {
  let broken = false
  const listeners: (() => void)[] = []
  stdout.on('error', () => {
    if (broken) return
    broken = true
    for (const listener of listeners) listener()
  })
  stderr.on('error', () => undefined)
  return {
    print: (text) => {
      if (!broken) stdout.write(text)
    },
    say: (line) => {
      stderr.write(`${line}\n`)
    },
    stdoutIsTty: stdout.isTTY === true,
    stderrIsTty: stderr.isTTY === true,
    onBroken: (listener) => {
      listeners.push(listener)
    },
    flush: () => {
      const written = (stream: Stream) => new Promise<void>((resolve) => stream.write('', () => resolve()))
      return Promise.all([written(stdout), written(stderr)]).then(() => undefined)
    },
  }
}
