import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { allowsCommand, concernsCommand } from './command-rules.ts'
import { temporaryWorkspace } from './temporary-workspace.ts'

describe('what a pattern allows', () => {
  test.each([
    ['npm test', 'npm test'],
    ['npm test', ' \t\nnpm test\n '],
    [' npm test ', 'npm test'],
    ['npm *', 'npm test -- --watch=false'],
    ['npm *', 'npm'],
    ['npm *', 'npm run \'a b\' "c" d\\ e'],
    ['npm *', 'npm test # all of them'],
    ['git -c core.pager=* log', "git -c core.pager='sh -c x' log"],
    ['npm test | tail -*', 'npm test | tail -5'],
    ['a && b', 'a && b'],
    ['echo "*"', 'echo "a b"'],
  ])('%j allows %j', (pattern, command) => {
    expect(allowsCommand(pattern, command)).toBe(true)
  })

  test.each([
    ...[
      '; x',
      '&& x',
      '|| x',
      '| x',
      '> x',
      '< x',
      '$(x)',
      '`x`',
      '& x',
      '\nx',
      '\r\nx',
      '\rx',
      '$IFS',
      '$' + '{IFS}x',
      '<(x)',
      '>(x)',
      '\\\nx; y',
    ].map((tail): [string, string] => ['npm *', `npm test ${tail}`]),
    ['npm *', 'FOO=x npm test'],
    ['npm *', 'PATH=. npm test'],
    ['npm *', 'npm\ttest'],
    ['npm *', 'np\\m test'],
    ['npm *', '"npm" test'],
    ['npm *', 'npmx test'],
    ['npm *', '\u00a0npm test'],
    ['npm *', 'npm\u00a0test'],
    ['npm *', 'ｎpm test'],
    ['npm *', '{ npm test; }'],
    ['npm *', 'sudo npm test'],
    ['npm *', '/usr/bin/npm test'],
    ['npm *', ''],
    ['', 'npm test'],
    ['echo "*"', 'echo "a" "b"'],
    ["sed 's/*/x;y/*' f", "sed 's/'/x;y/'evil' f"],
    ['npm * && echo ok', 'npm test # && echo ok'],
  ])('%j does not allow %j', (pattern, command) => {
    expect(allowsCommand(pattern, command)).toBe(false)
  })

  test('a real shell runs no other program, and writes no file, by a command that a pattern allows', { timeout: 60_000 }, async () => {
    await using workspace = await temporaryWorkspace()
    const { root, outside } = workspace
    for (const [name, script] of [
      ['safe', '#!/bin/sh\nexit 0\n'],
      ['canary', `#!/bin/sh\n: >${outside}/ran\n`],
    ] as const) {
      await writeFile(join(outside, name), script)
      await chmod(join(outside, name), 0o755)
    }
    const words = ['canary', 'safe', 'x', '-c', 'FOO=x', 'time', 'exec', 'eval', 'then', '\u00a0', '；', '⏎']
    const signs = [
      ...' ;&|<>()`$"\'\\{}#!~*?[]=,:%^+-\t\n\r',
      '$(',
      '<(',
      '$' + '{',
      '$((',
      '&&',
      '||',
      '\\\n',
      "$'",
      '2>',
      ';;',
      '[[',
      '{canary,x}',
    ]
    const text = fc.array(fc.oneof(fc.constantFrom(...words), fc.constantFrom(...signs)), { maxLength: 9 }).map((parts) => parts.join(''))
    const pattern = fc.constantFrom('safe *', 'safe "*"', "safe '*' x", 'safe * && safe *', 'safe * | safe *', "safe 'a;*' *", 'safe \\* *')
    let allowed = 0
    const attempt = fc.property(pattern, text, text, (given, first, second) => {
      let nth = 0
      const command = given.replace(/\*/g, () => [first, second][nth++] ?? '')
      if (!allowsCommand(given, command)) return
      allowed++
      spawnSync('/bin/bash', ['-c', command], { cwd: root, env: { PATH: outside }, stdio: 'ignore' })
      expect(existsSync(join(outside, 'ran'))).toBe(false)
      expect(readdirSync(root)).toEqual([])
    })
    fc.assert(attempt, { numRuns: 1_200 })
    expect(allowed).toBeGreaterThan(30)
  })
})

describe('what a pattern that asks or denies holds for', () => {
  test.each([
    'rm -rf x',
    'rm',
    '  rm\t-rf   x',
    'ls; rm x',
    'ls && rm x || true',
    'ls\nrm x',
    'ls | rm x',
    'echo $(rm x)',
    'echo `rm x`',
    'cat <(rm x)',
    '(rm x)',
    '{ rm x; }',
    'if true; then rm x; fi',
    'while true; do rm x; done',
    'FOO=1 BAR="2" rm x',
    'sudo rm x',
    'env A=b rm x',
    'exec rm x',
    '/bin/rm x',
    '"rm" x',
    "r'm' x",
    'r\\m x',
    'r\\\nm x',
    'bash -c "rm x"',
    'sh -lc "rm x"',
    'xargs rm <list',
    '! rm x',
  ])('%j is a case of "rm *"', (command) => {
    expect(concernsCommand('rm *', command)).toBe(true)
  })

  test.each(['rmdir x', 'ls', 'echo firm x', 'git rm x', ''])('%j is none', (command) => {
    expect(concernsCommand('rm *', command)).toBe(false)
  })

  test('a text anywhere is found by stars around it, whatever stands before and behind', () => {
    fc.assert(fc.property(fc.string(), fc.string(), (before, after) => concernsCommand('*git push*', `${before}git push${after}`)))
  })

  test('all that a pattern would allow, it concerns', () => {
    const part = fc.string({ unit: fc.constantFrom('a', ' ', '*', '"', ';', '\\', '\t'), maxLength: 8 })
    fc.assert(
      fc.property(part, part, (pattern, command) => {
        if (allowsCommand(pattern, command)) expect(concernsCommand(pattern, command)).toBe(true)
      }),
      { numRuns: 5_000 },
    )
  })

  test('long blanks and long commands take no long time', () => {
    expect(concernsCommand('rm *', `${' '.repeat(60_000)}x${' '.repeat(60_000)}y`)).toBe(false)
    expect(concernsCommand('*a*b*c', 'ab'.repeat(60_000))).toBe(false)
    expect(allowsCommand('*a*b*c', 'ab'.repeat(60_000))).toBe(false)
  })
})
