// Owns the writing of whole files inside the roots: in one step, or not at all. Refuses to write through a link or into what was swapped.
import { type BigIntStats, constants, lstatSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { failpoint } from '../base/failpoint.ts'
import { codeOf, fileError, systemError } from './file-error.ts'
import { type Held, hold, isSame, type RawPath } from './held.ts'
import { assertInside, assertRegular, type Boundary, type Located, locate, outsideText, textOf } from './paths.ts'

export interface Replacing {
  /** The file that must still be there as it was; absent, whatever is there now is replaced, or made. */
  expected?: BigIntStats
  signal: AbortSignal
}

export interface Replaced {
  created: boolean
  /** Other names (hard links) of the file that was there: they keep the old content. */
  otherNames: number
}

/**
 * Puts `text` in the place of a file, or makes it, with its directories. Readers see the old file or the new one, never a part.
 * A symbolic link inside the roots stays, and its target is replaced. Mode and, where the system lets it, owner are kept; a new file gets
 * the mode that the umask leaves. *Contract:* rejects with an error for the model, and then no file changed and nothing is left:
 * where the path leads outside, where the file isn't the expected one or became another meanwhile, and where the signal aborted.
 */
export async function replaceFile(given: string, text: string, boundary: Boundary, { expected, signal }: Replacing): Promise<Replaced> {
  const { randomBytes } = await import('node:crypto')
  const temporary = Buffer.from(temporaryName(randomBytes(8).toString('hex')))
  const located = await locate(given, boundary)
  const place = new Place(given, boundary, located)
  try {
    const before = located.missing.length === 0 ? located.held.stats : undefined
    if (before !== undefined) assertRegular(before, given)
    if (expected !== undefined && !isUnchanged(expected, before)) throw changedError(given)
    if (before === undefined) await place.makeDirectories()
    else await both(located.held.assertWritable(), place.findDirectory())
    await place.put(temporary, text, before, signal)
    return { created: before === undefined, otherNames: before === undefined ? 0 : Number(before.nlink) - 1 }
  } catch (error) {
    place.undo(temporary)
    throw codeOf(error) === undefined ? error : fileError(error, given)
  } finally {
    place.close()
  }
}

/** What a model is told where the file had other names; else empty. */
export function otherNamesText({ otherNames }: Replaced): string {
  if (otherNames === 0) return ''
  const [names, keep] = otherNames === 1 ? ['other name (hard link)', 'keeps'] : ['other names (hard links)', 'keep']
  return ` It had ${otherNames} ${names} besides, which ${keep} the old content.`
}

const temporaryName = (random: string) => `.quiesce-${random}.tmp`

/** Is this the name of a file that is being written? One that a killed runtime left may be deleted. */
export function isTemporaryName(name: string): boolean {
  return /^\.quiesce-[0-9a-f]{16}\.tmp$/.test(name)
}

/** A name in a directory that is held: all is done relative to that, wherever it is moved to. */
class Place {
  readonly #given: string
  readonly #boundary: Boundary
  readonly #located: Located
  /** Those that were taken on the way, the last one being where the file is. */
  readonly #held: Held[]
  /** Directories that were made for the file: each with the one that it is in. */
  readonly #made: { parent: Held; name: RawPath }[] = []
  #name: RawPath

  constructor(given: string, boundary: Boundary, located: Located) {
    this.#given = given
    this.#boundary = boundary
    this.#located = located
    this.#held = [located.held]
    this.#name = Buffer.from(located.missing.at(-1) ?? '')
  }

  get #directory(): Held {
    const last = this.#held.at(-1)
    if (last === undefined) throw new Error('a place without a directory')
    return last
  }

  /** Of a file that exists. */
  async findDirectory(): Promise<void> {
    const { held } = this.#located
    const where = held.found
    const slash = where.lastIndexOf('/')
    this.#boundary.before?.('hold-directory')
    await this.#take(where.subarray(0, Math.max(1, slash)), 'directory')
    this.#name = where.subarray(slash + 1)
  }

  /** Of a file that doesn't exist yet. */
  async makeDirectories(): Promise<void> {
    if (!this.#located.held.stats.isDirectory()) throw systemError('ENOTDIR')
    for (const text of this.#located.missing.slice(0, -1)) {
      const [parent, name] = [this.#directory, Buffer.from(text)]
      this.#boundary.before?.('make-directory')
      const made = await mkdir(parent.entry(name)).then(
        () => true,
        (error: unknown) => (codeOf(error) === 'EEXIST' ? false : Promise.reject(error)),
      )
      if (made) this.#made.push({ parent, name })
      this.#boundary.before?.('hold-directory')
      await this.#take(parent.entry(name), 'own-directory')
    }
  }

  /** Writes the text beside the place, and then puts it there. */
  async put(temporary: RawPath, text: string, before: BigIntStats | undefined, signal: AbortSignal): Promise<void> {
    const directory = this.#directory
    this.#boundary.before?.('create')
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
    const handle = await open(directory.entry(temporary), flags, before === undefined ? 0o666 : 0o600)
    let written: BigIntStats
    try {
      await handle.writeFile(text)
      written = await handle.stat({ bigint: true })
      if (before !== undefined) await takeOver(handle, written, before)
    } finally {
      await handle.close()
    }
    signal.throwIfAborted()
    // From here on in one go, so that of two edits at the same time in this process one is refused.
    this.#boundary.before?.('check')
    this.#assertAllowed()
    if (!isUnchanged(before, this.#now())) throw changedError(this.#given)
    this.#boundary.before?.('replace')
    failpoint('file.before-rename')
    renameSync(directory.entry(temporary), directory.entry(this.#name))
    failpoint('file.after-rename')
    this.#boundary.before?.('look-back')
    this.#lookBack(written, before)
  }

  /** Where the directory was moved out at the very moment, a file that is new is taken back. */
  #lookBack(written: BigIntStats, before: BigIntStats | undefined): void {
    try {
      this.#assertInside()
    } catch (error) {
      if (before === undefined && isSame(written, this.#now())) unlinkSync(this.#directory.entry(this.#name))
      throw error
    }
  }

  async #take(path: RawPath, what: 'directory' | 'own-directory'): Promise<void> {
    const held = await (this.#boundary.hold ?? hold)(path, what)
    this.#held.push(held)
    this.#assertInside(held.found)
  }

  #assertInside(where = this.#directory.where()): void {
    assertInside(where, this.#located.roots, () => outsideText(this.#given, this.#boundary, textOf(where)))
  }

  /** The directory may have been moved to where the session's rules let nothing be written. */
  #assertAllowed(): void {
    const where = this.#directory.where()
    this.#assertInside(where)
    const barred = this.#boundary.guard?.(join(textOf(where), textOf(this.#name)))
    if (barred !== undefined) throw new Error(barred)
  }

  #now(): BigIntStats | undefined {
    return lstatSync(this.#directory.entry(this.#name), { bigint: true, throwIfNoEntry: false })
  }

  /** Takes away what was made on the way. Never throws: what is left then has a name that tells, and no content that anyone reads. */
  undo(temporary: RawPath): void {
    quietly(() => unlinkSync(this.#directory.entry(temporary)))
    for (const { parent, name } of this.#made.reverse()) quietly(() => rmdirSync(parent.entry(name)))
  }

  close(): void {
    for (const held of this.#held) held.close()
  }
}

/** Waits for both, also where one fails: nothing of a call goes on after its answer. */
async function both(one: Promise<void>, other: Promise<void>): Promise<void> {
  const [first, second] = await Promise.allSettled([one, other])
  if (first.status === 'rejected') throw first.reason
  if (second.status === 'rejected') throw second.reason
}

function quietly(act: () => void): void {
  try {
    act()
  } catch {
    // It isn't there, or not ours any more.
  }
}

async function takeOver(handle: FileHandle, own: BigIntStats, from: BigIntStats): Promise<void> {
  // Only root may give a file away; to everybody else the new file belongs, as with any editor that replaces.
  if (own.uid !== from.uid || own.gid !== from.gid) await handle.chown(Number(from.uid), Number(from.gid)).catch(() => undefined)
  await handle.chmod(Number(from.mode) & 0o777)
}

/** The same file, and nobody wrote to it, renamed it or changed its mode. */
function isUnchanged(before: BigIntStats | undefined, now: BigIntStats | undefined): boolean {
  if (before === undefined || now === undefined) return before === now
  return isSame(before, now) && before.ctimeNs === now.ctimeNs && before.mtimeNs === now.mtimeNs && before.size === now.size
}

function changedError(given: string): Error {
  return new Error(`${given} was changed by somebody else meanwhile, and nothing was written; read it again`)
}
