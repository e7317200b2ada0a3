// Owns a tree for tests of what is outside it: files inside the root, the same names with a secret outside, and what reads and writes them.
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Boundary, type Moment, openInside } from './paths.ts'
import { replaceFile } from './replace-file.ts'
import { temporaryWorkspace, type Workspace } from './temporary-workspace.ts'

export const SECRET = 'the secret beside the root'
export const linux = process.platform === 'linux'

/** In the root `dir/file`, and beside it the same names, which hold the secret. */
export async function prepared(): Promise<Workspace> {
  const workspace = await temporaryWorkspace()
  for (const [base, text] of [
    [workspace.root, 'inside'],
    [workspace.outside, SECRET],
  ] as const) {
    await mkdir(join(base, 'dir'))
    await writeFile(join(base, 'dir', 'file'), text)
    await writeFile(join(base, 'file'), text)
  }
  return workspace
}

/** What is outside, whole. */
export function outsideOf({ outside }: Workspace): string {
  const names = readdirSync(outside, { recursive: true }).map(String).sort()
  return JSON.stringify([names, readFileSync(join(outside, 'file'), 'utf8'), readFileSync(join(outside, 'dir', 'file'), 'utf8')])
}

export const within = ({ context }: Workspace, extra: Partial<Boundary>): Boundary => ({
  cwd: context.cwd,
  roots: [...context.roots],
  ...extra,
})

/** A hook that acts once, at the first such moment. */
export function at(moment: Moment, act: () => void): NonNullable<Boundary['before']> {
  let done = false
  return (now) => {
    if (now !== moment || done) return
    done = true
    act()
  }
}

export async function read(path: string, boundary: Boundary): Promise<string> {
  try {
    const { handle } = await openInside(path, boundary)
    try {
      return await handle.readFile('utf8')
    } finally {
      await handle.close()
    }
  } catch (error) {
    return String(error)
  }
}

export async function write(path: string, boundary: Boundary): Promise<string> {
  return replaceFile(path, 'written', boundary, { signal: new AbortController().signal }).then(
    () => 'written',
    (error: unknown) => String(error),
  )
}
