// Owns a session's surroundings in a temporary directory, for tests.
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ToolContext } from './tool.ts'

export interface Workspace extends AsyncDisposable {
  /** The only root, and the cwd; real and absolute. */
  root: string
  /** A directory beside the root. */
  outside: string
  /** With a PATH and nothing else in its environment, and a signal that never aborts. */
  context: ToolContext
}

/** `await using` it: its end removes all of it. */
export async function temporaryWorkspace(): Promise<Workspace> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'quiesce-test-')))
  const [root, outside] = [join(base, 'root'), join(base, 'outside')]
  await mkdir(root)
  await mkdir(outside)
  const env = { PATH: process.env.PATH ?? '' }
  const spill = { directory: join(base, 'kept', 'session'), name: 'call.txt' }
  const context = { sessionId: 'ses_test', cwd: root, roots: [root], env, spill, signal: new AbortController().signal }
  return { root, outside, context, [Symbol.asyncDispose]: () => rm(base, { recursive: true, force: true }) }
}
