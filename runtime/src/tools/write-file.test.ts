import { chmod, lstat, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { replaceFile } from './replace-file.ts'
import { temporaryWorkspace } from './temporary-workspace.ts'
import { writeFileTool } from './write-file.ts'

test('a file is made with its directories, and replaced', async () => {
  await using workspace = await temporaryWorkspace()
  const write = (content: string) => writeFileTool.execute({ path: 'a/b/c.txt', content }, workspace.context)
  expect(await write('é\n')).toEqual({ content: 'Created a/b/c.txt (3 bytes).', isError: false })
  expect(await write('')).toEqual({ content: 'Replaced a/b/c.txt (0 bytes).', isError: false })
  expect(await readdir(join(workspace.root, 'a/b'))).toEqual(['c.txt'])
})

test('any text is written exactly as given, and nothing else is left', async () => {
  await using workspace = await temporaryWorkspace()
  const file = join(workspace.root, 'f')
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary' }), async (content) => {
      await writeFileTool.execute({ path: 'f', content }, workspace.context)
      expect(await readFile(file, 'utf8')).toBe(content)
      expect(await readdir(workspace.root)).toEqual(['f'])
    }),
    { numRuns: 50 },
  )
  await expect(writeFileTool.execute({ path: 'f', content: 'ab\uD800' }, workspace.context)).rejects.toThrow(
    'content has half of a surrogate pair at position 2',
  )
})

test('the mode is kept, and a reader of the old file keeps it whole', async () => {
  await using workspace = await temporaryWorkspace()
  const file = join(workspace.root, 'run.sh')
  await writeFile(file, 'old')
  await chmod(file, 0o751)
  const before = await stat(file)
  await writeFileTool.execute({ path: 'run.sh', content: 'new' }, workspace.context)
  const after = await stat(file)
  expect(after.mode & 0o777).toBe(0o751)
  expect(after.ino).not.toBe(before.ino)
})

test('a link inside the roots stays a link: its target is written', async () => {
  await using workspace = await temporaryWorkspace()
  await writeFile(join(workspace.root, 'target'), 'old')
  await symlink('target', join(workspace.root, 'link'))
  await writeFileTool.execute({ path: 'link', content: 'new' }, workspace.context)
  expect((await lstat(join(workspace.root, 'link'))).isSymbolicLink()).toBe(true)
  expect(await readFile(join(workspace.root, 'target'), 'utf8')).toBe('new')
})

test('directories, names that ask for one, and files in the place of one are refused', async () => {
  await using workspace = await temporaryWorkspace()
  const write = (path: string) => writeFileTool.execute({ path, content: 'x' }, workspace.context)
  await write('file')
  await expect(write('.')).rejects.toThrow('. names a directory')
  await expect(write('new/')).rejects.toThrow('new/ names a directory')
  await expect(write('file/x')).rejects.toThrow('is a file')
  expect(await readdir(workspace.root)).toEqual(['file'])
})

test('what fails, is aborted or was overtaken changes nothing and leaves nothing', async () => {
  await using workspace = await temporaryWorkspace()
  const { context, root } = workspace
  const file = join(root, 'f')
  await writeFile(file, 'old')
  const expected = await stat(file, { bigint: true })
  const { signal } = context
  await expect(replaceFile('f', 'new', context, { expected, signal: AbortSignal.abort() })).rejects.toThrow('aborted')
  await expect(replaceFile('gone', 'new', context, { expected, signal })).rejects.toThrow('gone was changed by somebody else')
  await writeFile(file, 'theirs')
  await expect(replaceFile('f', 'new', context, { expected, signal })).rejects.toThrow('f was changed by somebody else')
  await expect(replaceFile('a/b/c', 'new', context, { signal: AbortSignal.abort() })).rejects.toThrow('aborted')
  expect(await readFile(file, 'utf8')).toBe('theirs')
  expect(await readdir(root)).toEqual(['f'])
})
