// Owns the file that keeps an output which is too long to be shown, up to a limit. Never fails a call: what goes wrong, its note says.
import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { prune, trim } from './kept-files.ts'
import { fileError } from './paths.ts'
import type { Spill } from './tool.ts'

/** Bytes of one output that are kept, its first ones. */
export const MAX_KEPT = 16 * 1024 * 1024

export class KeptOutput {
  readonly #spill: Spill
  readonly #limit: number
  #total = 0
  #accepted = 0
  #hasNul = false
  #file: Promise<FileHandle> | null = null
  #written: Promise<void> = Promise.resolve()
  #fault: Error | null = null

  constructor(spill: Spill, limit = MAX_KEPT) {
    this.#spill = spill
    this.#limit = limit
  }

  get path(): string {
    return join(this.#spill.directory, this.#spill.name)
  }

  /** Never blocks; what isn't written yet is held in memory, which the limit bounds. */
  write(bytes: Buffer): void {
    this.#total += bytes.length
    const accepted = bytes.subarray(0, this.#limit - this.#accepted)
    if (accepted.length === 0 || this.#fault !== null) return
    this.#accepted += accepted.length
    this.#hasNul ||= accepted.includes(0)
    this.#file ??= this.#open()
    const file = this.#file
    this.#written = this.#written.then(() => this.#append(file, accepted))
  }

  /** Waits for the disk. The answer is a note for the model: where `what` is, or why it isn't. */
  async close(what: string): Promise<string> {
    await this.#written
    await this.#file?.then((file) => file.close()).catch((error: unknown) => this.#fail(error))
    if (this.#fault !== null) {
      await rm(this.path, { force: true }).catch(() => undefined)
      return `${what} could not be kept: ${this.#fault.message}`
    }
    const part = this.#accepted < this.#total ? `the first ${this.#accepted} of the ${this.#total} bytes of ${what}` : what
    const how = this.#hasNul ? 'it has NUL bytes in it: look into it with shell' : 'see more of it with read_file or grep'
    return `${part} is kept in ${this.path}; ${how}`
  }

  async #open(): Promise<FileHandle> {
    const { directory } = this.#spill
    const made = await mkdir(directory, { recursive: true, mode: 0o700 })
    if (made !== undefined) await prune(dirname(directory))
    await trim(directory)
    return open(this.path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600)
  }

  async #append(opening: Promise<FileHandle>, bytes: Buffer): Promise<void> {
    if (this.#fault !== null) return
    try {
      const file = await opening
      for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten
    } catch (error) {
      this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    this.#fault ??= fileError(error, this.path)
  }
}
