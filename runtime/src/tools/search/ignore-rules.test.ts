import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { nothingPassedOver, type PassedOver } from './search-job.ts'
import { walk } from './walk.ts'

let root = ''
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'quiesce-test-')))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function put(files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
}

function seen(start = '.', passedOver: PassedOver = nothingPassedOver()): string[] {
  const all = { roots: [root], hidden: true, maxDepth: 100, links: false, deadline: Number.POSITIVE_INFINITY, passedOver }
  return [...walk({ start: join(root, start), ...all })].filter((path) => !/(^|\/)\.(gitignore|ignore)$/.test(path))
}

describe('files that rules leave out', () => {
  test('those of every directory down to the file, the nearest last', () => {
    put({
      '.gitignore': '*.log\n/build/\nkeep/\n',
      'a.log': '',
      'build/x': '',
      'src/build/x': '',
      'src/.gitignore': '!important.log\n/local\n',
      'src/important.log': '',
      'src/other.log': '',
      'src/local': '',
      'src/deep/local': '',
      'src/deep/important.log': '',
      'keep/.gitignore': '!x\n',
      'keep/x': '',
    })
    expect(seen()).toEqual(['src/build/x', 'src/deep/important.log', 'src/deep/local', 'src/important.log'])
  })

  test('a directory that a nearer rule takes back is walked, though a farther one names it', () => {
    put({ '.gitignore': 'out/\n', 'a/.gitignore': '!out/\n', 'a/out/x': '', 'b/out/x': '' })
    expect(seen()).toEqual(['a/out/x'])
  })

  test('a directory with marks of its own in the name', () => {
    put({ 'a[b]*/.gitignore': '/x\n*.o\n', 'a[b]*/x': '', 'a[b]*/y': '', 'a[b]*/c/z.o': '', 'ab/x': '' })
    expect(seen()).toEqual(['a[b]*/y', 'ab/x'])
  })

  test('comments, marks that are escaped, spaces at the end, CRLF and a byte order mark', () => {
    put({ '.gitignore': '\uFEFF# no\r\n\\#a\r\n\\!b\r\nc  \r\nd\\ \r\n\r\n/\r\n', '#a': '', '!b': '', c: '', 'd ': '', d: '', no: '' })
    expect(seen()).toEqual(['d', 'no'])
  })

  test('.ignore joins them, and goes first', () => {
    put({ '.gitignore': 'a\nb\n', '.ignore': '!b\nc\n', a: '', b: '', c: '', d: '' })
    expect(seen()).toEqual(['b', 'd'])
  })

  test('.git is never seen; a repository has its own rules, its excludes among them', () => {
    put({
      '.git/info/exclude': '/excluded\nodd\n',
      '.gitignore': '*.tmp\n!odd\n',
      '.git/config': '',
      excluded: '',
      odd: '',
      'a.tmp': '',
      'inner/.git/HEAD': '',
      'inner/a.tmp': '',
      'inner/.gitignore': 'b\n',
      'inner/b': '',
      'linked/.git': 'gitdir: elsewhere\n',
      'linked/excluded': '',
    })
    expect(seen()).toEqual(['inner/a.tmp', 'linked/excluded', 'odd'])
  })

  test('where a search begins below, those from the top of the repository down hold', () => {
    put({ '.git/HEAD': '', '.gitignore': '*.tmp\n/a/b/c\n', 'a/.gitignore': 'd\n', 'a/b/c': '', 'a/b/d': '', 'a/b/e': '', 'a/b/f.tmp': '' })
    expect(seen('a/b')).toEqual(['e'])
  })

  test('without a repository, from the root down, and no farther up', () => {
    put({ '.gitignore': 'x\n', 'in/.gitignore': 'y\n', 'in/a/x': '', 'in/a/y': '', 'in/a/z': '' })
    const { passedOver, ...rest } = { passedOver: nothingPassedOver(), hidden: true, maxDepth: 9, links: false }
    const options = { ...rest, passedOver, deadline: Number.POSITIVE_INFINITY }
    expect([...walk({ ...options, start: join(root, 'in/a'), roots: [join(root, 'in')] })]).toEqual(['x', 'z'])
    expect([...walk({ ...options, start: join(root, 'in/a'), roots: ['/'] })]).toEqual(['z'])
  })

  test('a directory that was named outright is looked into, and its own rules hold', () => {
    const passedOver = nothingPassedOver()
    put({ '.gitignore': 'dist/\n*.map\n', 'dist/a/x.map': '', 'dist/a/.gitignore': 'y\n', 'dist/a/y': '' })
    expect(seen('dist', passedOver)).toEqual(['a/x.map'])
    expect(seen('dist/a')).toEqual(['x.map'])
    expect(passedOver.ignoredStart).toBe(true)
  })

  test('a session in an ignored directory has the rules from there on, and hears nothing of it', () => {
    const passedOver = nothingPassedOver()
    put({
      '.git/HEAD': '',
      '.gitignore': 'build/\n*.map\n',
      'build/.gitignore': 'y\n',
      'build/a/x.map': '',
      'build/a/y': '',
      'build/a/z': '',
    })
    const all = { hidden: true, maxDepth: 9, links: false, deadline: Number.POSITIVE_INFINITY, passedOver }
    expect([...walk({ start: join(root, 'build/a'), roots: [join(root, 'build')], ...all })]).toEqual(['x.map', 'z'])
    expect(passedOver.ignoredStart).toBe(false)
  })

  test('rules are not read through a link, from a directory, or from a file without end', () => {
    const passedOver = nothingPassedOver()
    put({ rules: 'x\n', x: '', 'a/x': '', 'b/.gitignore/x': '', 'b/x': '', 'c/.gitignore': `x\n${'#'.repeat(2 ** 20)}`, 'c/x': '' })
    symlinkSync('rules', join(root, '.gitignore'))
    symlinkSync('../rules', join(root, 'a/.gitignore'))
    execFileSync('mkfifo', [join(root, 'a/.ignore')])
    expect(seen('.', passedOver)).toEqual(['a/x', 'b/.gitignore/x', 'b/x', 'c/x', 'rules', 'x'])
    const unread = ['.gitignore', 'a/.gitignore', 'a/.ignore', 'b/.gitignore', 'c/.gitignore']
    expect(passedOver.rules).toEqual(unread.map((path) => join(root, path)))
  })

  test('many more files than verdicts are kept', () => {
    put({ '.gitignore': '*9\n', 'a/.gitignore': '!9*\n', 'a/x': '' })
    for (let number = 0; number < 6_000; number++) writeFileSync(join(root, 'a', String(number)), '')
    const numbers = Array.from({ length: 6_000 }, (_, number) => String(number))
    expect(seen().length).toBe(1 + numbers.filter((name) => !name.endsWith('9') || name.startsWith('9')).length)
  })
})

const hasGit = spawnSync('git', ['--version']).status === 0

test.skipIf(!hasGit)('what git itself sees, whatever the tree and the rules', () => {
  const name = fc.constantFrom('a', 'b', 'ab', 'x.o', 'y.o', '.h', 'a b', '#c', 'éé')
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))
  const part = fc.constantFrom(
    'a',
    'b',
    'ab',
    '*',
    '**',
    '*.o',
    '?',
    '[ab]',
    '[!a]*',
    'x.?',
    'a*',
    '.h',
    '.*',
    'a\\ b',
    '\\#c',
    'a b ',
    '\\a',
    'éé',
    '#c',
  )
  const rule = fc
    .tuple(
      fc.constantFrom('', '', '!', '# '),
      fc.constantFrom('', '', '/'),
      fc.array(part, { minLength: 1, maxLength: 3 }),
      fc.constantFrom('', '', '/', '/**', ' '),
    )
    .map(([mark, anchor, parts, end]) => `${mark}${anchor}${parts.join('/')}${end}`)
  const rules = fc
    .tuple(fc.array(rule, { maxLength: 5 }), fc.constantFrom('\n', '\r\n'))
    .map(([lines, end]) => lines.map((line) => line + end).join(''))
  const home = join(root, 'home')
  const repository = join(root, 'repository')
  mkdirSync(home)
  const env = { PATH: process.env.PATH ?? '', HOME: home, XDG_CONFIG_HOME: home, GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C' }
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: repository, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  mkdirSync(repository)
  git('init', '-q')
  const tree = fc.record({
    files: fc.array(path, { minLength: 1, maxLength: 25 }),
    ignored: fc.array(fc.tuple(fc.constantFrom('', 'a/', 'b/', 'a/b/', 'ab/', 'a b/', 'éé/'), rules), { maxLength: 4 }),
    excluded: rules,
  })
  fc.assert(
    fc.property(tree, ({ files, ignored, excluded }) => {
      for (const entry of readdirSync(repository)) if (entry !== '.git') rmSync(join(repository, entry), { recursive: true })
      // A path may need a directory where another has a file.
      const write = (file: string, content: string) => {
        try {
          mkdirSync(dirname(join(repository, file)), { recursive: true })
          writeFileSync(join(repository, file), content)
        } catch {
          return
        }
      }
      for (const file of files) write(file, '')
      for (const [directory, content] of ignored) write(`${directory}.gitignore`, content)
      write('.git/info/exclude', excluded)
      const expected = git('ls-files', '--others', '--cached', '--exclude-standard', '-z').split('\0').filter(Boolean).sort()
      const passedOver = nothingPassedOver()
      const all = { hidden: true, maxDepth: 100, links: false, deadline: Number.POSITIVE_INFINITY, passedOver }
      expect([...walk({ start: repository, roots: [repository], ...all })].sort()).toEqual(expected)
    }),
    { numRuns: 50 },
  )
})
