import { execFileSync } from 'node:child_process'
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SessionConfigOf } from '@quiesce/schema'
import { expect, test } from 'vitest'
import { temporaryWorkspace, type Workspace } from '../tools/temporary-workspace.ts'
import { readBeginning } from '../tools/text-file.ts'
import { systemPrompts } from './prompts.ts'

function textOf({ root }: Workspace, extra: Partial<SessionConfigOf> = {}): Promise<string> {
  return systemPrompts(readBeginning).system({
    cwd: root,
    roots: [],
    model: 'm/m',
    permissions: 'edit',
    limits: {},
    metadata: {},
    system: 'Be kind.',
    ...extra,
  })
}

test('the text is the given one, the directory, AGENTS.md and the instructions', async () => {
  await using workspace = await temporaryWorkspace()
  const { root } = workspace
  const head = `Be kind.\n\nWorking directory: ${root}`
  expect(await textOf(workspace)).toBe(head)
  await writeFile(join(root, 'AGENTS.md'), '\nUse tabs.\n')
  expect(await textOf(workspace, { instructions: 'Now.' })).toBe(`${head}\n\nAGENTS.md of this directory says:\n\nUse tabs.\n\nNow.`)
  await writeFile(join(root, 'AGENTS.md'), 'x'.repeat(65_536))
  expect(await textOf(workspace)).toBe(`${head}\n\nAGENTS.md of this directory says:\n\n${'x'.repeat(65_536)}`)
  await writeFile(join(root, 'AGENTS.md'), 'x'.repeat(1_000_000))
  const cut = '[AGENTS.md is longer: cut after 65536 bytes]'
  expect(await textOf(workspace)).toBe(`${head}\n\nAGENTS.md of this directory says:\n\n${'x'.repeat(65_536)}\n${cut}`)
})

test('AGENTS.md brings nothing from outside the roots, and what can not be read is said (FR-7)', async () => {
  await using workspace = await temporaryWorkspace()
  const { root, outside } = workspace
  await writeFile(join(outside, 'key'), 'a secret')
  const agents = join(root, 'AGENTS.md')
  await symlink('../outside/key', agents)
  expect(await textOf(workspace)).toContain(
    `[AGENTS.md of this directory was not read: AGENTS.md is outside the session's roots (it leads to ${outside}/key)`,
  )
  expect(await textOf(workspace, { roots: [outside] })).toContain('AGENTS.md of this directory says:\n\na secret')
  await rm(agents)
  await mkdir(agents)
  expect(await textOf(workspace)).toContain('not read: AGENTS.md: is a directory, not a file]')
  await rm(agents, { recursive: true })
  execFileSync('mkfifo', [agents])
  expect(await textOf(workspace)).toContain('not read: AGENTS.md is not a regular file')
  await rm(agents)
  await symlink('docs/guide', agents)
  expect(await textOf(workspace)).toContain("not read: AGENTS.md: AGENTS.md is a symbolic link to something that doesn't exist]")
  await mkdir(join(root, 'docs'))
  await writeFile(join(root, 'docs', 'guide'), 'Use tabs.')
  expect(await textOf(workspace)).toContain('AGENTS.md of this directory says:\n\nUse tabs.')
})
