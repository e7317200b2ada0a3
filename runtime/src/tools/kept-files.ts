// Owns where outputs are kept that are too long to be shown, and their end: with their session, by age, and where they are too many.
import { createHash } from 'node:crypto'
import { readdir, rm, stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import type { Spill } from './tool.ts'

/** A session's outputs are kept for so long after the last of them. */
export const KEPT_MS = 7 * 24 * 3_600_000
/** Bytes that one session may keep, and all of a user; the oldest go first. */
export const MAX_SESSION = 128 * 1024 * 1024
export const MAX_ALL = 1024 * 1024 * 1024

/** Where the outputs of a store's sessions are. `store` tells it from others of the same user. */
export function openOutputs(
  store: string,
  env: Readonly<Record<string, string | undefined>>,
  report: (what: string, error: unknown) => void,
): { place(sessionId: string, callId: string): Spill | null; remove(sessionId: string): Promise<void> } {
  const root = keptRoot(env)
  const directoryOf = (sessionId: string) => (root === null ? null : keptDirectory(root, store, sessionId))
  return {
    place: (sessionId, callId) => {
      const directory = directoryOf(sessionId)
      return directory === null ? null : { directory, name: `${callId}.txt` }
    },
    remove: async (sessionId) => {
      const directory = directoryOf(sessionId)
      if (directory !== null) await removeKept(directory).catch((error: unknown) => report(`removing ${directory}`, error))
    },
  }
}

/** In the user's cache directory; null where there is none. */
function keptRoot(env: Readonly<Record<string, string | undefined>>): string | null {
  const { XDG_CACHE_HOME: set, HOME: home } = env
  if (set !== undefined && isAbsolute(set)) return join(set, 'quiesce', 'outputs')
  return home !== undefined && isAbsolute(home) ? join(home, '.cache', 'quiesce', 'outputs') : null
}

/** One for each session of each store, whatever its id is made of. */
function keptDirectory(root: string, store: string, sessionId: string): string {
  return join(root, createHash('sha256').update(`${store}\0${sessionId}`).digest('hex').slice(0, 24))
}

function removeKept(directory: string): Promise<void> {
  return rm(directory, { recursive: true, force: true })
}

/** Removes what is old, and the oldest where all together is too much. Never rejects: others may do the same at once. */
export async function prune(root: string, maxBytes = MAX_ALL): Promise<void> {
  const directories = (await entries(root)).map((name) => join(root, name))
  const left: KeptFile[] = []
  for (const directory of directories) {
    const age = await stat(directory).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    )
    if (age > KEPT_MS) await removeKept(directory).catch(() => undefined)
    else left.push(...(await filesIn(directory)))
  }
  await removeOldest(left, maxBytes)
}

/** The same for the files of one session. */
export async function trim(directory: string, maxBytes = MAX_SESSION): Promise<void> {
  await removeOldest(await filesIn(directory), maxBytes)
}

interface KeptFile {
  path: string
  size: number
  time: number
}

async function filesIn(directory: string): Promise<KeptFile[]> {
  const files: KeptFile[] = []
  for (const name of await entries(directory)) {
    const path = join(directory, name)
    const found = await stat(path).catch(() => null)
    if (found !== null) files.push({ path, size: found.size, time: found.mtimeMs })
  }
  return files
}

async function removeOldest(files: readonly KeptFile[], maxBytes: number): Promise<void> {
  let total = files.reduce((sum, { size }) => sum + size, 0)
  for (const { path, size } of [...files].sort((a, b) => a.time - b.time)) {
    if (total <= maxBytes) return
    total -= size
    await rm(path, { force: true }).catch(() => undefined)
  }
}

function entries(directory: string): Promise<string[]> {
  return readdir(directory).catch(() => [])
}
