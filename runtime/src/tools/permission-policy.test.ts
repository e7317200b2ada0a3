import { renameSync, symlinkSync } from 'node:fs'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PermissionsOf } from '@quiesce/schema'
import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { editFileTool } from './edit-file.ts'
import { decide } from './permission-policy.ts'
import { readFileTool } from './read-file.ts'
import { temporaryWorkspace, type Workspace } from './temporary-workspace.ts'
import type { PlannedCall, Tool, Verdict } from './tool.ts'
import { writeFileTool } from './write-file.ts'

type Rules = Exclude<PermissionsOf, string>['rules']

/** A tool without a subject of its own. */
const plain: Tool<{ text: string }> = {
  name: 'plain',
  description: '',
  access: 'execute',
  parallel: false,
  input: z.object({ text: z.string() }),
  summary: ({ text }) => text,
  execute: () => Promise.reject(new Error('not run')),
}
const shell: Tool<{ text: string }> = { ...plain, name: 'shell', subject: ({ text }) => ({ command: text }) }
const grep: Tool<{ text: string }> = { ...plain, name: 'grep', access: 'read', subject: ({ text }) => ({ path: text }) }

/** A call about this path, command or text. */
function call(tool: Tool<never> | Tool, about: string, where = { cwd: '/nowhere', roots: ['/nowhere'] }): PlannedCall {
  const input = { path: about, text: about, content: '', oldText: 'a', newText: 'b' }
  return { ...where, tool: tool as Tool, input }
}

async function action(permissions: PermissionsOf, planned: PlannedCall): Promise<Verdict['action']> {
  return (await decide(permissions, planned)).action
}

describe('the modes (CB-5)', () => {
  test.each([
    ['read-only', 'allow', 'deny', 'deny', 'deny'],
    ['edit', 'allow', 'allow', 'allow', 'ask'],
    ['allow-all', 'allow', 'allow', 'allow', 'allow'],
  ] as const)('%s: read_file %s, write_file %s, edit_file %s, shell %s', async (mode, ...expected) => {
    const calls = [call(readFileTool, 'a'), call(writeFileTool, 'a'), call(editFileTool, 'a'), call(shell, 'ls')]
    expect(await Promise.all(calls.map((planned) => action(mode, planned)))).toEqual(expected)
    expect(await Promise.all(calls.map((planned) => action({ mode, rules: [] }, planned)))).toEqual(expected)
  })

  test('a verdict that is no allow names the tool and the mode', async () => {
    expect(await decide('read-only', call(shell, 'ls'))).toEqual({
      action: 'deny',
      reason: "shell: the session's permission mode is read-only",
    })
    expect(await decide('edit', call(shell, 'ls'))).toMatchObject({ reason: 'shell: in permission mode edit, every command is asked for' })
  })
})

describe('the rules', () => {
  test('the first that holds wins, also over the mode, and a deny is final', async () => {
    const deny = { tool: '*', pattern: '*.env', action: 'deny' } as const
    const allow = { tool: 'write_file', action: 'allow' } as const
    const at = (path: string, rules: Rules) => decide({ mode: 'read-only', rules }, call(writeFileTool, path))
    expect(await at('a/.env', [deny, allow])).toEqual({ action: 'deny', reason: 'write_file: a rule of the session says: deny * "*.env"' })
    expect((await at('a/.env', [allow, deny])).action).toBe('allow')
    expect((await at('a/b', [deny, allow])).action).toBe('allow')
    expect(await action({ mode: 'allow-all', rules: [deny] }, call(readFileTool, 'a/.env'))).toBe('deny')
    expect(await action({ mode: 'allow-all', rules: [{ tool: 'read*', action: 'ask' }] }, call(readFileTool, 'a'))).toBe('ask')
    expect(await action({ mode: 'allow-all', rules: [{ tool: 'read', action: 'deny' }] }, call(readFileTool, 'a'))).toBe('allow')
  })

  test('a command is compared as a command, and what has no subject by its summary', async () => {
    const allow: PermissionsOf = { mode: 'edit', rules: [{ tool: '*', pattern: 'npm *', action: 'allow' }] }
    expect(await action(allow, call(shell, 'npm test'))).toBe('allow')
    expect(await action(allow, call(shell, 'npm test; rm x'))).toBe('ask')
    expect(await action(allow, call(plain, 'npm test; rm x'))).toBe('allow')
    const deny: PermissionsOf = { mode: 'allow-all', rules: [{ tool: '*', pattern: 'rm *', action: 'deny' }] }
    expect(await action(deny, call(shell, 'ls; rm x'))).toBe('deny')
    expect(await action(deny, call(plain, 'ls; rm x'))).toBe('allow')
  })

  test.each([
    'secret/a',
    './secret/a',
    'x/../secret//a',
    'secret/./a',
    '/nowhere/secret/a',
    '/nowhere/x/../secret/a',
    '../nowhere/secret/a',
  ])('no spelling gets past a deny: %s', async (path) => {
    for (const pattern of ['secret/*', './secret/', '/nowhere/secret/**', 'secret'])
      expect(await action({ mode: 'edit', rules: [{ tool: '*', pattern, action: 'deny' }] }, call(readFileTool, path))).toBe('deny')
  })

  test('without patterns for its files, a verdict needs no look at the disk, and there is no guard', () => {
    const rules: Rules = [
      { tool: 'shell', pattern: 'secret/*', action: 'deny' },
      { tool: 'write_file', action: 'ask' },
    ]
    expect(decide({ mode: 'edit', rules }, call(readFileTool, 'secret/a'))).toEqual({ action: 'allow' })
    expect(decide({ mode: 'edit', rules }, call(writeFileTool, 'secret/a'))).toMatchObject({ action: 'ask' })
  })
})

async function linked(): Promise<Workspace & { where: { cwd: string; roots: string[] } }> {
  const workspace = await temporaryWorkspace()
  const { root } = workspace
  for (const name of ['secrets', 'src']) await mkdir(join(root, name))
  await writeFile(join(root, 'secrets', 'key'), 'a key')
  await writeFile(join(root, 'src', 'code'), 'code')
  await symlink('../secrets', join(root, 'src', 'link'))
  await symlink('../secrets/key', join(root, 'src', 'keylink'))
  return { ...workspace, where: { cwd: root, roots: [root] } }
}

describe('a file and where it leads', () => {
  const deny: PermissionsOf = { mode: 'edit', rules: [{ tool: '*', pattern: 'secrets/*', action: 'deny' }] }

  test.each(['secrets/key', 'src/link/key', 'src/keylink', 'src/link/new', 'src/link/../link/key'])(
    'a deny holds by way of links: %s',
    async (path) => {
      await using workspace = await linked()
      expect(await action(deny, call(readFileTool, path, workspace.where))).toBe('deny')
      expect(await action(deny, call(writeFileTool, path, workspace.where))).toBe('deny')
      expect(await action(deny, call(grep, path, workspace.where))).toBe('deny')
    },
  )

  test('a deny of the link holds too, and an allow needs both', async () => {
    await using workspace = await linked()
    const at = (pattern: string, what: 'allow' | 'deny') =>
      action(
        { mode: 'read-only', rules: [{ tool: 'write_file', pattern, action: what }] },
        call(writeFileTool, 'src/link/key', workspace.where),
      )
    expect(await at('src/link/**', 'deny')).toBe('deny')
    expect(await at('src/**', 'allow')).toBe('deny')
    expect(await at('secrets/**', 'allow')).toBe('deny')
    expect(await at('**', 'allow')).toBe('allow')
  })

  test('the working directory may itself be reached by a link', async () => {
    await using workspace = await linked()
    const { root, outside } = workspace
    await symlink(root, join(outside, 'alias'))
    const alias = join(outside, 'alias')
    const where = { cwd: alias, roots: [alias] }
    const allow: PermissionsOf = { mode: 'read-only', rules: [{ tool: 'write_file', pattern: 'src/*', action: 'allow' }] }
    expect(await action(allow, call(writeFileTool, 'src/code', where))).toBe('allow')
    expect(await action(deny, call(readFileTool, 'src/keylink', where))).toBe('deny')
  })

  test('what leads outside is judged by its words, and does not throw', async () => {
    await using workspace = await linked()
    for (const path of ['../outside/x', 'a\0b', '~/x', '\uD800', 'x'.repeat(5_000)]) {
      expect(await action(deny, call(readFileTool, path, workspace.where))).toBe('allow')
      await expect(readFileTool.execute({ path }, { ...workspace.context, ...workspace.where })).rejects.toThrow()
    }
  })
})

describe('the guard, between the verdict and the act', () => {
  async function guarded(permissions: PermissionsOf, planned: PlannedCall) {
    const found = await decide(permissions, planned)
    if (found.action === 'deny' || found.guard === undefined) throw new Error(`${found.action}, and no guard`)
    return found.guard
  }

  test('a path that comes to lead into what is denied is refused as it is opened, and as it is written', async () => {
    await using workspace = await linked()
    const { root, context, where } = workspace
    const deny: PermissionsOf = { mode: 'edit', rules: [{ tool: '*', pattern: 'secrets/*', action: 'deny' }] }
    for (const tool of [readFileTool, writeFileTool, editFileTool]) {
      const planned = call(tool, 'src/code', where)
      const guard = await guarded(deny, planned)
      renameSync(join(root, 'src', 'code'), join(root, 'src', 'aside'))
      symlinkSync('../secrets/key', join(root, 'src', 'code'))
      const input = tool === readFileTool ? { path: 'src/code' } : planned.input
      await expect((tool as Tool).execute(input, { ...context, ...where, guard })).rejects.toThrow(
        'a rule of the session says: deny * "secrets/*"',
      )
      renameSync(join(root, 'src', 'aside'), join(root, 'src', 'code'))
    }
  })

  test('a path that comes to lead out of what is allowed is refused', async () => {
    await using workspace = await linked()
    const { root, context, where } = workspace
    const allow: PermissionsOf = { mode: 'read-only', rules: [{ tool: 'write_file', pattern: 'src/**', action: 'allow' }] }
    const guard = await guarded(allow, call(writeFileTool, 'src/new/file', where))
    symlinkSync('../secrets', join(root, 'src', 'new'))
    await expect(writeFileTool.execute({ path: 'src/new/file', content: '' }, { ...context, ...where, guard })).rejects.toThrow(
      'is read-only',
    )
  })

  test('who was asked for one file is not asked for another, and what nobody was asked for does not start', async () => {
    await using workspace = await linked()
    const { root, where } = workspace
    const ask: PermissionsOf = { mode: 'edit', rules: [{ tool: '*', pattern: 'src/**', action: 'ask' }] }
    const asked = await guarded(ask, call(writeFileTool, 'src/code', where))
    expect(asked(join(root, 'src', 'code'))).toBeUndefined()
    expect(asked(join(root, 'src', 'codes'))).toContain('ask * "src/**"')
    expect(asked(join(root, 'secrets', 'key'))).toBeUndefined()
    const search = await guarded(ask, call(grep, 'src', where))
    expect(search(join(root, 'src', 'code'))).toBeUndefined()
    const free = await guarded(ask, call(writeFileTool, 'secrets/key', where))
    expect(free(join(root, 'src', 'code'))).toContain('ask * "src/**"')
  })

  test('a search shows nothing of what read_file may not read', async () => {
    const rules: Rules = [
      { tool: 'read_file', pattern: 'secrets', action: 'deny' },
      { tool: 'grep', pattern: 'private', action: 'ask' },
      { tool: 'edit_file', pattern: 'src', action: 'deny' },
    ]
    const guard = await guarded({ mode: 'edit', rules }, call(grep, '.'))
    expect(guard('/nowhere/src/code')).toBeUndefined()
    expect(guard('/nowhere/a/secrets/key')).toBe('read_file: a rule of the session says: deny read_file "secrets"')
    expect(guard('/nowhere/private/x')).toBe('grep: a rule of the session says: ask grep "private"')
    expect(await action({ mode: 'edit', rules: [{ tool: 'read_file', action: 'deny' }] }, call(grep, '.'))).toBe('deny')
  })
})
