import { execFileSync } from 'node:child_process'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { editFileTool } from './edit-file.ts'
import { openInside, resolveDirectory, resolveInside } from './paths.ts'
import { readFileTool } from './read-file.ts'
import { temporaryWorkspace, type Workspace } from './temporary-workspace.ts'
import { writeFileTool } from './write-file.ts'

const SECRET = 'the secret beside the root'

async function trapped(): Promise<Workspace> {
  const workspace = await temporaryWorkspace()
  const { root, outside } = workspace
  await mkdir(join(root, 'sub'))
  await writeFile(join(root, 'file'), 'inside')
  await writeFile(join(root, 'sub', 'file'), 'inside too')
  await writeFile(join(outside, 'secret'), SECRET)
  await symlink('../outside', join(root, 'out'))
  await symlink(join(outside, 'secret'), join(root, 'secret'))
  await symlink('../outside/new', join(root, 'dangling'))
  await symlink('sub', join(root, 'in'))
  await symlink('circle', join(root, 'circle'))
  await symlink('../../outside', join(root, 'sub', 'out'))
  // Its name begins as the root's: a comparison of strings alone would take it for a part of the root.
  await mkdir(`${root}-sibling`)
  await writeFile(`${root}-sibling/secret`, SECRET)
  return workspace
}

async function outsideOf({ root, outside }: Workspace): Promise<string> {
  const names = [...(await readdir(outside)), ...(await readdir(`${root}-sibling`)), ...(await readdir(join(root, '..')))]
  return JSON.stringify([names, await readFile(join(outside, 'secret'), 'utf8'), await readFile(`${root}-sibling/secret`, 'utf8')])
}

/** All that the three file tools answer, or say, about one path. */
async function useAll(path: string, { context }: Workspace): Promise<string> {
  const calls = [
    () => readFileTool.execute({ path }, context),
    () => editFileTool.execute({ path, oldText: 'secret', newText: 'changed' }, context),
    () => writeFileTool.execute({ path, content: 'overwritten' }, context),
  ]
  const said: string[] = []
  for (const call of calls)
    said.push(
      await call().then(
        ({ content }) => content,
        (error: unknown) => String(error),
      ),
    )
  return said.join('\n')
}

describe('paths that lead out of the roots (FR-7)', () => {
  test.each([
    ['..', 'is outside'],
    ['../outside/secret', 'is outside'],
    ['sub/../../outside/secret', 'is outside'],
    ['sub/./.././../outside/secret', 'is outside'],
    ['../root-sibling/secret', 'is outside'],
    ['/etc/passwd', 'is outside'],
    ['//etc/passwd', 'is outside'],
    ['/proc/self/root/etc/passwd', 'is outside'],
    ['/', 'is outside'],
    ['out', 'is outside'],
    ['out/secret', 'is outside'],
    ['out/new/deep/file', 'is outside'],
    ['in/out/secret', 'is outside'],
    ['in/../out/secret', 'is outside'],
    ['secret', 'is outside'],
    ['dangling', "doesn't exist"],
    ['dangling/x', "doesn't exist"],
    ['circle', 'in a circle'],
    ['circle/x', 'in a circle'],
    ['file/x', 'is a file'],
    ['~', '"~" has no meaning'],
    ['~/x', '"~" has no meaning'],
    ['', 'is empty'],
    ['a\0b', 'NUL'],
    ['a'.repeat(300), 'too long'],
  ])('%j is refused: %s', async (path, words) => {
    await using workspace = await trapped()
    const before = await outsideOf(workspace)
    await expect(resolveInside(path, workspace.context)).rejects.toThrow(words)
    expect(await useAll(path, workspace)).not.toContain(SECRET)
    expect(await outsideOf(workspace)).toBe(before)
  })

  test('no path whatsoever reads or writes outside', async () => {
    await using workspace = await trapped()
    const before = await outsideOf(workspace)
    const names = [
      '..',
      '.',
      '',
      'sub',
      'in',
      'out',
      'secret',
      'file',
      'dangling',
      'circle',
      'outside',
      'root',
      'root-sibling',
      '~',
      'new',
      '...',
    ]
    const segment = fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...names) },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 6 }) },
    )
    const start = fc.constantFrom('', '/', `${workspace.root}/`, `${workspace.root}/../`, `${workspace.outside}/`, workspace.root)
    const path = fc.tuple(start, fc.array(segment, { maxLength: 6 })).map(([head, rest]) => head + rest.join('/'))
    await fc.assert(
      fc.asyncProperty(path, async (given) => {
        const real = await resolveInside(given, workspace.context).catch(() => workspace.root)
        expect(real === workspace.root || real.startsWith(`${workspace.root}/`)).toBe(true)
        expect(await useAll(given, workspace)).not.toContain(SECRET)
        expect(await outsideOf(workspace)).toBe(before)
      }),
      { numRuns: 300 },
    )
  })

  test('the error names the path, where it leads, and the roots', async () => {
    await using workspace = await trapped()
    const { root, outside, context } = workspace
    const words = `out/x is outside the session's roots (it leads to ${outside}/x); files must be inside ${root}`
    await expect(resolveInside('out/x', context)).rejects.toThrow(words)
  })
})

describe('paths that stay inside', () => {
  test.each([
    ['file', 'file'],
    ['./sub/../file', 'file'],
    ['in/file', 'sub/file'],
    ['in/new/deep', 'sub/new/deep'],
    ['.', ''],
    ['..file', '..file'],
    ['sub/out/../file', 'sub/file'],
  ])('%s', async (path, real) => {
    await using workspace = await trapped()
    expect(await resolveInside(path, workspace.context)).toBe(join(workspace.root, real))
    expect(await resolveInside(join(workspace.root, path), workspace.context)).toBe(join(workspace.root, real))
  })

  test('a second root, a root that is a link, and the root of all', async () => {
    await using workspace = await trapped()
    const { root, outside, context } = workspace
    const within = (...roots: string[]) => resolveInside('out/secret', { ...context, roots })
    expect(await within(root, outside)).toBe(join(outside, 'secret'))
    expect(await within(root, join(root, 'out'))).toBe(join(outside, 'secret'))
    expect(await within('/')).toBe(join(outside, 'secret'))
    await expect(within(join(root, 'gone'))).rejects.toThrow(`none of the session's roots exists: ${root}/gone`)
  })
})

test('a fifo, a device and a directory are refused without waiting', async () => {
  await using workspace = await trapped()
  const { root, context } = workspace
  execFileSync('mkfifo', [join(root, 'fifo')])
  await expect(openInside('fifo', context)).rejects.toThrow('fifo is not a regular file')
  await expect(openInside('sub', context)).rejects.toThrow('sub: is a directory, not a file')
  await expect(openInside('/dev/zero', { ...context, roots: ['/dev'] })).rejects.toThrow('is not a regular file')
  await expect(writeFileTool.execute({ path: 'fifo', content: '' }, context)).rejects.toThrow('fifo is not a regular file')
  await expect(resolveDirectory('file', context)).rejects.toThrow('file is a file, not a directory')
  await expect(resolveDirectory('gone', context)).rejects.toThrow('gone: no such file or directory')
})
