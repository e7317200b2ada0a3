// Owns one question about an open store: are its files still the ones that were opened? SQLite doesn't look: it goes on in a
// deleted file, and everything is lost when it is closed.
import { realpathSync, type Stats, statSync } from 'node:fs'
import { StoreFault } from '../fault.ts'

interface OpenFile {
  path: string
  opened: Stats
}

export class FileWatch {
  readonly #path: string
  readonly #file: string
  /** What SQLite keeps open: the database, its log, the index of that. */
  readonly #files: OpenFile[]
  /** Bytes of the database at the last look: it only grows, while its log may shrink. */
  #size: number

  /** Looks at the files of a store that was just opened: through a symbolic link, at those that it led to. */
  constructor(path: string) {
    const file = realpathSync(path)
    this.#path = path
    this.#file = file
    this.#files = [file, `${file}-wal`, `${file}-shm`].flatMap((each) => {
      const opened = look(each)
      return opened === null ? [] : [{ path: each, opened }]
    })
    this.#size = look(file)?.size ?? 0
  }

  /**
   * A few microseconds. *Contract:* throws StoreFault `storage_unavailable` where a file was deleted, replaced or cut, and names it.
   * One that was moved away is good again once it is back.
   */
  check(): void {
    for (const { path, opened } of this.#files) {
      const found = look(path)
      if (found === null) throw this.#fault(path, 'was deleted')
      if (found.ino !== opened.ino || found.dev !== opened.dev) throw this.#fault(path, 'was replaced by another file')
      if (path !== this.#file) continue
      if (found.size < this.#size) throw this.#fault(path, `was cut from ${this.#size} to ${found.size} bytes`)
      this.#size = found.size
    }
  }

  #fault(file: string, what: string): StoreFault {
    return new StoreFault(
      'storage_unavailable',
      `the store ${this.#path} failed: ${file} ${what} while it was open, so nothing more is written to it. Put the file back, then start the runtime anew`,
      { path: this.#path, file },
    )
  }
}

/** Null where nothing can be found under this path. */
function look(path: string): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null
  } catch {
    return null
  }
}
