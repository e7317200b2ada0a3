import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { allowsCommand, concernsCommand } from './command-rules.ts'
import { toolEnvironment } from './environment.ts'
import { PathPattern, Way } from './path-rules.ts'

const guide = readFileSync(new URL('../../../docs/permissions.md', import.meta.url), 'utf8')

/** The rows of the guide's table with this heading, each cell without its quotes. */
function rowsOf(subject: string): string[][] {
  const [, table = ''] = guide.split(`| pattern | ${subject} | a rule allows it | a rule asks for it, or denies it |\n`)
  const rows = table.slice(0, table.indexOf('\n\n')).split('\n').slice(1)
  return rows.map((row) =>
    row
      .replaceAll('\\|', '\u0000')
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replace(/^`|`$/g, '').replaceAll('\u0000', '|')),
  )
}

const yes = (does: boolean) => (does ? 'yes' : 'no')

test.each(rowsOf('path'))('%s on the path %s: allows %s, asks or denies %s', (pattern = '', path = '', ...expected) => {
  const ways = [new Way(posix.resolve('/w', path), { cwd: '/w', roots: ['/w'] })]
  const rule = new PathPattern(pattern)
  expect([yes(rule.allows(ways)), yes(rule.concerns(ways))]).toEqual(expected)
})

test.each(rowsOf('command'))('%s on the command %s: allows %s, asks or denies %s', (pattern = '', command = '', ...expected) => {
  expect([yes(allowsCommand(pattern, command)), yes(concernsCommand(pattern, command))]).toEqual(expected)
})

test('both tables are found whole, and every variable that passes is named', () => {
  expect([rowsOf('path').length, rowsOf('command').length]).toEqual([18, 15])
  const all = new Proxy<Record<string, string>>({}, { get: (_, name) => String(name) })
  for (const name of Object.keys(toolEnvironment(all)).filter((known) => !/^(LC|XDG)_/.test(known))) expect(guide).toContain(`\`${name}\``)
})
