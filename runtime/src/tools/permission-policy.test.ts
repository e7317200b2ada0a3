import type { PermissionsOf } from '@quiesce/schema'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ManualClock } from '../base/clock.ts'
import { builtInTools } from './built-in.ts'
import { decide } from './permission-policy.ts'
import { ToolRegistry } from './registry.ts'

const registry = new ToolRegistry(builtInTools(new ManualClock()))

function verdict(permissions: PermissionsOf, name: string, input: unknown) {
  const tool = registry.get(name)
  if (tool === undefined) throw new Error(`no tool ${name}`)
  const decided = decide(permissions, { tool, input, cwd: '/w', roots: ['/w'] })
  if (decided instanceof Promise) throw new Error('it waited')
  return decided
}

const shell = (rules: Exclude<PermissionsOf, string>['rules'], command: string) =>
  verdict({ mode: 'edit', rules }, 'shell', { command }).action

describe('the modes (CB-5)', () => {
  test.each([
    ['read-only', 'allow', 'deny', 'deny', 'deny'],
    ['edit', 'allow', 'allow', 'allow', 'ask'],
    ['allow-all', 'allow', 'allow', 'allow', 'allow'],
  ] as const)('%s: read_file %s, write_file %s, edit_file %s, shell %s', (mode, ...expected) => {
    const given = [
      verdict(mode, 'read_file', { path: 'a' }),
      verdict(mode, 'write_file', { path: 'a', content: '' }),
      verdict({ mode, rules: [] }, 'edit_file', { path: 'a', oldText: 'a', newText: 'b' }),
      verdict(mode, 'shell', { command: 'ls' }),
    ]
    expect(given.map(({ action }) => action)).toEqual(expected)
  })

  test('a verdict that is no allow names the tool and the mode', () => {
    expect(verdict('read-only', 'shell', { command: 'ls' })).toEqual({
      action: 'deny',
      reason: "shell: the session's permission mode is read-only",
    })
    expect(verdict('edit', 'shell', { command: 'ls' })).toMatchObject({
      reason: 'shell: in permission mode edit, every command is asked for',
    })
  })
})

describe('the rules', () => {
  test('the first that matches wins, also over the mode, and a deny is final', () => {
    const deny = { tool: '*', pattern: '*.env', action: 'deny' } as const
    const allow = { tool: 'write_file', action: 'allow' } as const
    const at = (path: string, rules: (typeof deny | typeof allow)[]) =>
      verdict({ mode: 'read-only', rules }, 'write_file', { path, content: '' })
    expect(at('a/.env', [deny, allow])).toEqual({ action: 'deny', reason: 'write_file: a rule of the session says: deny * "*.env"' })
    expect(at('a/.env', [allow, deny]).action).toBe('allow')
    expect(at('a/b', [deny, allow]).action).toBe('allow')
    expect(verdict({ mode: 'allow-all', rules: [deny] }, 'read_file', { path: 'a/.env' }).action).toBe('deny')
    expect(verdict({ mode: 'allow-all', rules: [{ tool: 'read*', action: 'ask' }] }, 'read_file', { path: 'a' }).action).toBe('ask')
  })

  test('a path is matched normalised', () => {
    const rules = [{ tool: 'read_file', pattern: 'secret/*', action: 'deny' }] as const
    for (const path of ['secret/a', './secret/a', 'x/../secret//a', 'secret/./a'])
      expect(verdict({ mode: 'edit', rules: [...rules] }, 'read_file', { path }).action).toBe('deny')
  })

  test('an allowed command reaches over no operator of the shell', () => {
    const rules = [{ tool: 'shell', pattern: 'npm *', action: 'allow' as const }]
    expect(shell(rules, 'npm test -- --watch=false')).toBe('allow')
    expect(shell(rules, '  npm test ')).toBe('allow')
    for (const tail of ['; rm x', '&& rm x', '| sh', '> x', '< x', '$(rm x)', '`rm x`', '& rm x', '\nrm x', '\r\nrm x', '\rrm x', '$IFS'])
      expect(shell(rules, `npm test ${tail}`)).toBe('ask')
    expect(shell([{ tool: 'shell', pattern: 'npm test | tail -*', action: 'allow' }], 'npm test | tail -5')).toBe('allow')
    expect(shell([{ tool: 'shell', action: 'allow' }], 'a; b')).toBe('allow')
  })

  test('a denied command is denied with whatever follows', () => {
    const deny = [{ tool: 'shell', pattern: '*git push*', action: 'deny' as const }]
    fc.assert(fc.property(fc.string(), fc.string(), (before, after) => shell(deny, `${before}git push${after}`) === 'deny'))
  })
})
