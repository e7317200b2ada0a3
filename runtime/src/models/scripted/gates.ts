// Owns the named gates that hold a scripted model: in process, or as files of a directory for any other process.
import { existsSync, mkdirSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Deferred, deferred } from '../../base/deferred.ts'

export interface Gates {
  /** Announces that the model stands before the gate, and resolves once it is open or the signal aborts. An open gate stays open. */
  pass(name: string, signal: AbortSignal): Promise<void>
  /** Announces that an entry of a script was played to its end. */
  played(entry: string): void
}

/** What a gate may be called: it becomes a file's name. */
export const gateName = /^[A-Za-z0-9_-]{1,64}$/

/** Gates of one process, for tests. */
export class MemoryGates implements Gates {
  readonly #open = new Map<string, Deferred>()
  readonly #reached = new Map<string, Deferred>()
  readonly entries: string[] = []

  async pass(name: string, signal: AbortSignal): Promise<void> {
    place(this.#reached, name).resolve(undefined)
    await untilAborted(place(this.#open, name).promise, signal)
  }

  played(entry: string): void {
    this.entries.push(entry)
  }

  release(name: string): void {
    place(this.#open, name).resolve(undefined)
  }

  /** Resolves once a model stands, or stood, before the gate. */
  reached(name: string): Promise<void> {
    return place(this.#reached, name).promise
  }
}

/**
 * Gates across processes: a gate is open once a file of its name is in the directory. The model announces itself by
 * creating `<gate>.reached`, and each entry that it played to its end by `<entry>.played`.
 */
export class DirectoryGates implements Gates {
  readonly #directory: string

  /** Makes the directory where there is none. *Contract:* throws as mkdir does. */
  constructor(directory: string) {
    mkdirSync(directory, { recursive: true })
    this.#directory = directory
  }

  async pass(name: string, signal: AbortSignal): Promise<void> {
    const file = join(this.#directory, name)
    const open = deferred()
    // Watched before the look, so that no release falls between the two.
    const watcher = watch(this.#directory, () => {
      if (existsSync(file)) open.resolve(undefined)
    })
    watcher.on('error', (error) => open.reject(error))
    try {
      this.#announce(`${name}.reached`)
      if (!existsSync(file)) await untilAborted(open.promise, signal)
    } finally {
      watcher.close()
    }
  }

  played(entry: string): void {
    this.#announce(`${entry}.played`)
  }

  #announce(name: string): void {
    writeFileSync(join(this.#directory, name), '')
  }
}

function place(among: Map<string, Deferred>, name: string): Deferred {
  const found = among.get(name) ?? deferred()
  among.set(name, found)
  return found
}

/** Resolves with the promise or with the abort, whichever is first; leaves no listener behind. */
export async function untilAborted(promise: Promise<unknown>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  const aborted = deferred()
  const onAbort = () => aborted.resolve(undefined)
  signal.addEventListener('abort', onAbort)
  try {
    await Promise.race([promise, aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
