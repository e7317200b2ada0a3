// Owns named pipes of the workspace: by what is said into one, and by its end, a case knows what a tool's process does, and that it is gone.
import { spawnSync } from 'node:child_process'
import { constants, openSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { objectOf, textOf } from './args.ts'
import type { Json } from './case.ts'
import { type Deferred, deferred } from './deferred.ts'
import { HarnessError } from './harness-error.ts'
import type { World } from './world.ts'

class Pipe {
  readonly #socket: Socket
  /** Once everybody who had it open for writing is gone. */
  readonly ended: Promise<void>
  readonly #waiting: { text: string; found: Deferred }[] = []
  #said = ''

  /** Open for reading from here on: nobody who writes to it waits. */
  constructor(path: string) {
    const made = spawnSync('mkfifo', [path])
    if (made.status !== 0) throw new HarnessError(`mkfifo ${path}: ${made.error?.message ?? String(made.stderr)}`)
    this.#socket = new Socket({ fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), readable: true, writable: false })
    this.#socket.on('data', (chunk: Buffer) => this.#hear(chunk.toString()))
    this.ended = new Promise((resolve) => this.#socket.once('end', () => resolve()))
  }

  async heard(text: string): Promise<void> {
    const found = deferred()
    this.#waiting.push({ text, found })
    this.#hear('')
    await found.promise
  }

  close(): void {
    this.#socket.destroy()
  }

  #hear(more: string): void {
    this.#said += more
    for (const { text, found } of this.#waiting) if (this.#said.includes(text)) found.resolve()
  }
}

const pipes = new WeakMap<World, Map<string, Pipe>>()

function pipeOf(world: World, step: string, name: string): Pipe {
  const found = pipes.get(world)?.get(name)
  if (found === undefined) throw new HarnessError(`step ${step}: no pipe ${name} was made`)
  return found
}

export const pipeSteps = {
  /** `pipe: name`: makes a named pipe in the workspace, and reads it. */
  pipe: async (world: World, args: Json): Promise<void> => {
    const name = textOf('pipe', args, 'a name')
    const made = new Pipe(join(world.cwd, name))
    world.onCleanup(() => made.close())
    pipes.set(world, (pipes.get(world) ?? new Map<string, Pipe>()).set(name, made))
  },
  /** `heard: {pipe, text}`: somebody has said it into the pipe. */
  heard: async (world: World, args: Json): Promise<void> => {
    const { pipe = null, text = null } = objectOf('heard', args)
    await pipeOf(world, 'heard', textOf('heard', pipe, '`pipe`')).heard(textOf('heard', text, '`text`'))
  },
  /** `silent: pipe`: everybody who had the pipe open for writing is gone. */
  silent: (world: World, args: Json): Promise<void> => pipeOf(world, 'silent', textOf('silent', args, "a pipe's name")).ended,
}
