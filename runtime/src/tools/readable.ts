// Owns which paths may be read: those inside the session's roots, and the outputs that it kept outside of them.
import { lstat } from 'node:fs/promises'
import { resolve, sep } from 'node:path'
import { type Boundary, codeOf } from './paths.ts'
import type { ToolContext } from './tool.ts'

/** What `given` is to be read against. *Contract:* rejects with an error for the model where it is an output that isn't kept any more. */
export async function readBoundary(given: string, context: ToolContext): Promise<Boundary> {
  const { cwd, spill } = context
  if (spill === null || !resolve(cwd, given).startsWith(spill.directory + sep)) return context
  const gone = await lstat(resolve(cwd, given)).then(
    () => false,
    (error: unknown) => codeOf(error) === 'ENOENT',
  )
  if (gone) throw new Error(`${given} is not kept any more, or never was: make the call again that gave this output`)
  return { cwd, roots: [spill.directory] }
}
