// Owns whole text files: read without loss, and replaced in one step. Refuses what isn't UTF-8, and files too large to hold.
import { type BigIntStats, constants, renameSync, statSync } from 'node:fs'
import { access, type FileHandle, mkdir, open, realpath, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { failpoint } from '../base/failpoint.ts'
import { type Boundary, codeOf, fileError, openInside } from './paths.ts'

/** Longest file that is read or made as a whole, in bytes. */
export const MAX_WHOLE_FILE = 10 * 1024 * 1024

export interface TextFile {
  /** Real path. */
  path: string
  /** With its byte order mark and line endings as they are. */
  text: string
  stats: BigIntStats
}

/** Reads a file that is to be changed. *Contract:* rejects with an error for the model where it isn't text or is too large. */
export async function readTextFile(given: string, boundary: Boundary): Promise<TextFile> {
  const { handle, path, stats } = await openInside(given, boundary)
  try {
    if (stats.size > MAX_WHOLE_FILE)
      throw new Error(`${given} is too large to edit: ${stats.size} bytes, at most ${MAX_WHOLE_FILE}; use shell (sed, for example)`)
    return { path, text: decodeText(await handle.readFile(), given), stats }
  } finally {
    await handle.close()
  }
}

function decodeText(bytes: Buffer, given: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Error(`${given} is not valid UTF-8 text, so editing it here would damage it; use shell (iconv, perl or python)`)
  }
}

/** Refuses a text that can't be written as UTF-8. */
export function assertEncodable(name: string, text: string): void {
  const lone = /\p{Surrogate}/u.exec(text)
  if (lone !== null) throw new Error(`${name} has half of a surrogate pair at position ${lone.index}, which is no character`)
}

/**
 * Puts `text` in the place of the file at the real path `path`, or makes it, with its directories. Readers see the old file or
 * the new one, never a part; mode and, where the system lets it, owner are kept. *Contract:* rejects with an error for the
 * model, and then no file changed; so too where the file is no longer the one in `replacing`, or the signal aborted.
 */
export async function replaceFile(
  given: string,
  path: string,
  text: string,
  { replacing, signal }: { replacing: BigIntStats | undefined; signal: AbortSignal },
): Promise<void> {
  const { randomBytes } = await import('node:crypto')
  const directory = dirname(path)
  const temporary = join(directory, `.quiesce-${randomBytes(8).toString('hex')}.tmp`)
  try {
    if (replacing !== undefined) await access(path, constants.W_OK)
    else await makeDirectory(directory)
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
    const handle = await open(temporary, flags, replacing === undefined ? 0o666 : 0o600)
    try {
      await handle.writeFile(text)
      if (replacing !== undefined) await takeOver(handle, replacing)
    } finally {
      await handle.close()
    }
    signal.throwIfAborted()
    // In one go, so that of two edits at the same time in this process one is refused.
    assertUnchanged(given, path, replacing)
    failpoint('file.before-rename')
    renameSync(temporary, path)
    failpoint('file.after-rename')
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined)
    throw codeOf(error) === undefined ? error : fileError(error, given)
  }
}

/** The file's stats, or undefined where there is none. Refuses what isn't a regular file. */
export async function existingFile(given: string, path: string): Promise<BigIntStats | undefined> {
  const stats = await statOf(path).catch((error: unknown) => Promise.reject(fileError(error, given)))
  if (stats?.isDirectory()) throw fileError({ code: 'EISDIR' }, given)
  if (stats !== undefined && !stats.isFile()) throw new Error(`${given} is not a regular file but a device, socket or pipe`)
  return stats
}

async function statOf(path: string): Promise<BigIntStats | undefined> {
  try {
    return await stat(path, { bigint: true })
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Makes the directory; `directory` was resolved, so it is still real afterwards unless a link was slipped in. */
async function makeDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true })
  if ((await realpath(directory)) !== directory) throw Object.assign(new Error('a link was put in the way'), { code: 'ELOOP' })
}

async function takeOver(handle: FileHandle, from: BigIntStats): Promise<void> {
  const own = await handle.stat({ bigint: true })
  // Only root may give a file away; to everybody else the new file belongs, as with any editor that replaces.
  if (own.uid !== from.uid || own.gid !== from.gid) await handle.chown(Number(from.uid), Number(from.gid)).catch(() => undefined)
  await handle.chmod(Number(from.mode) & 0o777)
}

function assertUnchanged(given: string, path: string, before: BigIntStats | undefined): void {
  const now = statSync(path, { bigint: true, throwIfNoEntry: false })
  if (now?.ino === before?.ino && now?.mtimeNs === before?.mtimeNs && now?.size === before?.size) return
  throw new Error(`${given} was changed by somebody else meanwhile, and nothing was written; read it again`)
}
