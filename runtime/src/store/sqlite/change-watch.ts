// Owns the hint that another connection committed: the write-ahead log's file changed, and SQLite's data version with it (RE-3).
import { type FSWatcher, watch } from 'node:fs'
import type { Watch } from '../upkeep.ts'
import type { Database } from './driver.ts'

export class ChangeWatch implements Watch {
  readonly #version: () => number
  readonly #onChange: () => void
  #seen: number
  /** Null where the system has no watch to give: then only `check` looks. */
  #files: FSWatcher | null
  #checking: NodeJS.Immediate | null = null

  /** Commits of `database` itself don't count. *Contract:* throws StoreFault where the version can't be read. */
  constructor(path: string, database: Database, onChange: () => void) {
    const asked = database.prepare<{ version: number }>('SELECT data_version AS version FROM pragma_data_version')
    this.#version = () => asked.get()?.version ?? 0
    this.#onChange = onChange
    this.#seen = this.#version()
    this.#files = this.#watchLog(`${path}-wal`)
  }

  check(): void {
    let version: number
    try {
      version = this.#version()
    } catch {
      // Who reads or writes next is told what is wrong with the store.
      return
    }
    if (version === this.#seen) return
    this.#seen = version
    this.#onChange()
  }

  stop(): void {
    this.#files?.close()
    this.#files = null
    if (this.#checking !== null) clearImmediate(this.#checking)
  }

  #watchLog(path: string): FSWatcher | null {
    try {
      const files = watch(path, { persistent: false }, () => {
        // One commit makes several events, and they come together.
        this.#checking ??= setImmediate(() => {
          this.#checking = null
          this.check()
        })
      })
      files.on('error', () => this.stop())
      return files
    } catch {
      return null
    }
  }
}
