// Owns holding a file or directory so that nobody can put another one in its place between the look and the act. Knows no roots.
import {
  type BigIntStats,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  open as openDescriptor,
  readlinkSync,
  realpathSync,
} from 'node:fs'
import { access, type FileHandle, lstat, open, realpath } from 'node:fs/promises'
import { promisify } from 'node:util'
import { codeOf, systemError } from './file-error.ts'

/** A path as the system knows it: bytes, which need not be text. */
export type RawPath = Buffer

/** One file or directory, the same from `hold` to `close`, wherever it is moved to and whatever takes its name. */
export interface Held {
  /** As they were when it was taken. */
  readonly stats: BigIntStats
  /** Its real path, when it was taken. */
  readonly found: RawPath
  /** Its real path at this moment. Throws ENOENT where it has none any more: removed, or in no directory that this process sees. */
  where(): RawPath
  /** Opens it once more, to read or write. */
  open(flags: number): Promise<FileHandle>
  /** Rejects where this process may not write to it. */
  assertWritable(): Promise<void>
  /** The path by which to act on a name in this directory. It follows no link but one of that very name. */
  entry(name: RawPath): RawPath
  close(): void
}

/**
 * `any` follows links to their end; `directory` too, and must find one; `own-directory` must find a directory under the very name.
 * *Contract:* rejects with the system's error; what is outside, a device or a fifo is neither opened for real nor touched.
 */
export type Hold = (path: string | RawPath, what: 'any' | 'directory' | 'own-directory') => Promise<Held>

/** How often it is looked again where a file is replaced at the moment of the look. */
const ATTEMPTS = 8

/**
 * Linux: by a descriptor that is only a place (O_PATH), asked for its path afterwards through the proc file system. So what is
 * checked is what is used, and a race can't come between.
 */
export const holdByDescriptor: Hold = async (path, what) => {
  const flags = O_PATH | (what === 'any' ? 0 : constants.O_DIRECTORY) | (what === 'own-directory' ? constants.O_NOFOLLOW : 0)
  for (let attempt = 1; ; attempt++) {
    const fd = await openRaw(path, flags)
    try {
      return new Descriptor(fd)
    } catch (error) {
      closeSync(fd)
      if (codeOf(error) !== 'ENOENT' || attempt === ATTEMPTS) throw error
    }
  }
}

/**
 * Elsewhere there are only names: one is resolved, and looked at again at each step. A directory that is swapped for a link and
 * back between two looks is not noticed.
 */
export const holdByName: Hold = async (path, what) => {
  const found = await lstat(path, { bigint: true })
  if (what === 'own-directory' && found.isSymbolicLink()) throw systemError('ENOTDIR')
  const real = await realpath(path, 'buffer')
  const stats = await lstat(real, { bigint: true })
  if (what !== 'any' && !stats.isDirectory()) throw systemError('ENOTDIR')
  return new Name(real, stats)
}

let chosen: Hold | undefined

/** The way of this system. */
export const hold: Hold = (path, what) => {
  chosen ??= process.platform === 'linux' && existsSync(OWN) ? holdByDescriptor : holdByName
  return chosen(path, what)
}

/** Linux's number; Node has no name for it. */
const O_PATH = 0o10000000
/** Where a process finds its own descriptors, each as a link that leads to the very thing. */
const OWN = '/proc/self/fd'
const DELETED = Buffer.from(' (deleted)')

const openRaw = promisify<string | RawPath, number, number>(openDescriptor)

/** Of system calls that take a few microseconds each: what they ask for was looked up a moment before, so none waits for a disk. */
class Descriptor implements Held {
  readonly stats: BigIntStats
  readonly found: RawPath
  readonly #fd: number
  readonly #reach: string

  constructor(fd: number) {
    this.#fd = fd
    this.#reach = `${OWN}/${fd}`
    this.stats = fstatSync(fd, { bigint: true })
    this.found = this.where()
  }

  /** The system's word alone doesn't do: of a place in another mount namespace it names the path over there. */
  where(): RawPath {
    const path = readlinkSync(this.#reach, 'buffer')
    if (isSame(this.stats, lookAt(path))) return path
    // So it also says of a file that is mounted in its place and was removed where it comes from.
    const mounted = path.subarray(0, path.length - DELETED.length)
    if (path.subarray(mounted.length).equals(DELETED) && isSame(this.stats, lookAt(mounted))) return mounted
    throw systemError('ENOENT')
  }

  open(flags: number): Promise<FileHandle> {
    return open(this.#reach, flags)
  }

  assertWritable(): Promise<void> {
    return access(this.#reach, constants.W_OK)
  }

  entry(name: RawPath): RawPath {
    return Buffer.concat([Buffer.from(`${this.#reach}/`), name])
  }

  close(): void {
    closeSync(this.#fd)
  }
}

class Name implements Held {
  readonly stats: BigIntStats
  readonly found: RawPath

  constructor(path: RawPath, stats: BigIntStats) {
    this.found = path
    this.stats = stats
  }

  where(): RawPath {
    if (!isSame(this.stats, lookAt(this.found))) throw systemError('ENOENT')
    if (!realpathSync.native(this.found, 'buffer').equals(this.found)) throw systemError('ELOOP')
    return this.found
  }

  async open(flags: number): Promise<FileHandle> {
    const handle = await open(this.found, flags | constants.O_NOFOLLOW)
    try {
      if (!isSame(this.stats, await handle.stat({ bigint: true }))) throw systemError('ELOOP')
      this.where()
      return handle
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  assertWritable(): Promise<void> {
    return access(this.found, constants.W_OK)
  }

  entry(name: RawPath): RawPath {
    return Buffer.concat([this.found, Buffer.from('/'), name])
  }

  close(): void {
    // A name holds nothing.
  }
}

/** What has this name now, links not followed; undefined where that can't be told. */
function lookAt(path: RawPath): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true })
  } catch {
    return undefined
  }
}

/** Are both the same file, whatever is in it? */
export function isSame(one: BigIntStats, other: BigIntStats | undefined): boolean {
  return one.dev === other?.dev && one.ino === other.ino
}
