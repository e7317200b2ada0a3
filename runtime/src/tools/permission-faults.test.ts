import { expect, test } from 'vitest'
import { editFileTool } from './edit-file.ts'
import { permissionFaults } from './permission-faults.ts'
import { readFileTool } from './read-file.ts'
import type { Tool } from './tool.ts'

const shell: Pick<Tool, 'name' | 'access' | 'subject'> = { name: 'shell', access: 'execute', subject: () => ({ command: '' }) }
const tools = [readFileTool, editFileTool, shell]

const rule = (tool: string, pattern?: string) => ({ tool, action: 'deny' as const, ...(pattern !== undefined && { pattern }) })
const faults = (...rules: ReturnType<typeof rule>[]) => permissionFaults({ mode: 'edit', rules }, tools)

test('a mode, and rules that fit, have no faults', () => {
  for (const permissions of [undefined, 'edit' as const, { mode: 'edit' as const, rules: [] }])
    expect(permissionFaults(permissions, tools)).toEqual([])
  expect(faults(rule('*'), rule('*_file', 'src/**'), rule('shell', '~/bin/x *'), rule('read_file', 'a~'), rule('shell', '*'))).toEqual([])
})

test('each fault names its place, the value and what would be right', () => {
  expect(
    faults(rule('read_file'), rule('grpe'), rule('', 'x'), rule('*', ''), rule('*', ' '), rule('*', '~/.ssh/**'), rule('shell', 'a\0b')),
  ).toEqual([
    { path: 'permissions.rules[1].tool', message: '"grpe" fits no tool; there are read_file, edit_file, shell' },
    { path: 'permissions.rules[2].tool', message: '"" fits no tool; there are read_file, edit_file, shell' },
    { path: 'permissions.rules[3].pattern', message: expect.stringContaining('is empty and would match no call: leave it out') },
    { path: 'permissions.rules[4].pattern', message: expect.stringContaining('is empty') },
    {
      path: 'permissions.rules[5].pattern',
      message: expect.stringContaining('"~/.ssh/**": "~" has no meaning in a path here (read_file, edit_file)'),
    },
    { path: 'permissions.rules[6].pattern', message: expect.stringContaining('NUL') },
  ])
})

test('rules and patterns have a limit', () => {
  expect(faults(...Array.from({ length: 1_001 }, () => rule('*')))).toEqual([
    { path: 'permissions.rules', message: 'too many: at most 1000 rules, got 1001' },
  ])
  expect(faults(rule('*'.repeat(5_000)), rule('*', 'a'.repeat(4_097)))).toEqual([
    { path: 'permissions.rules[0].tool', message: 'too long: at most 4096 characters, got 5000' },
    { path: 'permissions.rules[1].pattern', message: 'too long: at most 4096 characters, got 4097' },
  ])
})
