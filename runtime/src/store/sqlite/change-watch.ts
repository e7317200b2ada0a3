// Owns the hint that another connection committed: the write-ahead log's file changed, and SQLite's data version with it (RE-3).
import { type FSWatcher, realpathSync, watch } from 'node:fs'
import type { Watch } from '../upkeep.ts'
import type { Database } from './driver.ts'

/**
 * When to look after the file changed, in ms: a commit shows in the version only once it is on disk and in the log's index, and
 * the index gives no sign. What takes longer is found by the next `check`.
 */
const LOOKS_MS = [0, 2, 8, 40, 200, 1000]

export class ChangeWatch implements Watch {
  readonly #version: () => number
  readonly #onChange: () => void
  #seen: number
  /** Null where the system has no watch to give: then only `check` looks. */
  #files: FSWatcher | null
  #looking: NodeJS.Timeout | undefined
  /** Which of the looks comes next. */
  #look = 0

  /** Commits of `database` itself don't count. *Contract:* throws StoreFault where the version can't be read. */
  constructor(path: string, database: Database, onChange: () => void) {
    const asked = database.prepare<{ version: number }>('SELECT data_version AS version FROM pragma_data_version')
    this.#version = () => asked.get()?.version ?? 0
    this.#onChange = onChange
    this.#seen = this.#version()
    this.#files = this.#watchLog(path)
  }

  check(): void {
    this.#changed()
  }

  /** Whether there was a change, told now. */
  #changed(): boolean {
    let version: number
    try {
      version = this.#version()
    } catch {
      // Who reads or writes next is told what is wrong with the store.
      return false
    }
    if (version === this.#seen) return false
    this.#seen = version
    this.#onChange()
    return true
  }

  stop(): void {
    this.#files?.close()
    this.#files = null
    clearTimeout(this.#looking)
  }

  #watchLog(path: string): FSWatcher | null {
    try {
      // One commit makes several events, and they come together. The log lies beside the file itself, not beside a symbolic link to it.
      const files = watch(`${realpathSync(path)}-wal`, { persistent: false }, () => this.#lookFrom(0))
      files.on('error', () => this.stop())
      return files
    } catch {
      return null
    }
  }

  #lookFrom(look: number): void {
    // A look that is about to come serves this event, too.
    if (this.#looking !== undefined && this.#look === 0) return
    clearTimeout(this.#looking)
    this.#look = look
    const ms = LOOKS_MS[look]
    this.#looking =
      ms === undefined
        ? undefined
        : setTimeout(() => {
            this.#looking = undefined
            if (!this.#changed()) this.#lookFrom(look + 1)
          }, ms).unref()
  }
}
