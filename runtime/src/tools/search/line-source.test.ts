import { renameSync } from 'node:fs'
import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryWorkspace } from '../temporary-workspace.ts'
import { LineSource } from './line-source.ts'

/** Where the file is as its lines come, once `before` has run. */
function whereOf(path: string, before: () => void = () => undefined): string | null {
  const source = new LineSource()
  let found: string | null = ''
  const lines = () => {
    before()
    found = source.where()
    return 'more' as const
  }
  expect(source.read(path, { lines, piece: lines })).toBe('text')
  expect(source.where()).toBeNull()
  return found
}

test('a file is where its path leads, as long as that leads to it', async () => {
  await using workspace = await temporaryWorkspace()
  const { root } = workspace
  const [file, other] = [join(root, 'file'), join(root, 'other')]
  for (const path of [file, other]) await writeFile(path, 'text\n')
  expect(whereOf(file)).toBe(file)
  expect(whereOf(file, () => renameSync(file, join(root, 'moved')))).toBeNull()
  expect(whereOf(join(root, 'moved'), () => renameSync(other, join(root, 'moved')))).toBeNull()
})

test('no link is followed, and no other kind of file read', async () => {
  await using workspace = await temporaryWorkspace()
  await writeFile(join(workspace.root, 'file'), 'text\n')
  await symlink('file', join(workspace.root, 'link'))
  expect(() => whereOf(join(workspace.root, 'link'))).toThrow('ELOOP')
  expect(() => whereOf(workspace.root)).toThrow('EISDIR')
})
