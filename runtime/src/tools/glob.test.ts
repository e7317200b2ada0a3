import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { globTool } from './glob.ts'
import { searchHere } from './search/search-here.fixture.ts'
import { temporaryWorkspace, type Workspace } from './temporary-workspace.ts'
import type { ToolContext } from './tool.ts'

const tool = globTool(searchHere)

async function put({ root }: Workspace, ...paths: string[]): Promise<void> {
  for (const path of paths) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), '')
  }
}

async function glob(
  workspace: Workspace,
  pattern: string,
  more: { path?: string; limit?: number } = {},
  context: Partial<ToolContext> = {},
) {
  const outcome = await tool.execute({ pattern, ...more }, { ...workspace.context, ...context })
  expect(outcome.isError).toBe(false)
  return outcome.content.split('\n')
}

describe('what fits', () => {
  const tree = ['a.ts', 'b.js', 'src/a.ts', 'src/b.tsx', 'src/lib/c.ts', 'src/lib/[id]/d.ts', '.env', '.github/w.yml', 'src/.h/x.ts']

  test.each([
    ['*.ts', 'a.ts'],
    ['**/*.ts', 'a.ts src/a.ts src/lib/[id]/d.ts src/lib/c.ts'],
    ['src/*.{ts,tsx}', 'src/a.ts src/b.tsx'],
    ['src/**', 'src/a.ts src/b.tsx src/lib/[id]/d.ts src/lib/c.ts'],
    ['src/**/c.ts', 'src/lib/c.ts'],
    ['**/[ab].ts', 'a.ts src/a.ts'],
    ['?.[!t]*', 'b.js'],
    ['*.!(js)', 'a.ts'],
    ['!**/*.ts', 'b.js src/b.tsx'],
    ['!.github/**', 'a.ts b.js src/a.ts src/b.tsx src/lib/[id]/d.ts src/lib/c.ts'],
    ['src/lib/\\[id\\]/*', 'src/lib/[id]/d.ts'],
    ['src/lib/[id]/*', 'src/lib/[id]/d.ts'],
    ['[[:alpha:]].ts', 'a.ts'],
    ['src/a.ts', 'src/a.ts'],
    ['src/', 'src/a.ts src/b.tsx'],
    ['./src/../a.ts', 'a.ts'],
    ['.*', '.env'],
    ['.github/**', '.github/w.yml'],
    ['{.github,src}/*.yml', '.github/w.yml'],
    ['src/.h/*', 'src/.h/x.ts'],
    ['**/.h/*', 'src/.h/x.ts'],
  ])('%s', async (pattern, found) => {
    await using workspace = await temporaryWorkspace()
    await put(workspace, ...tree)
    expect(await glob(workspace, pattern)).toEqual(found.split(' '))
  })

  test('below path, with it in front; absolute where the pattern or the path is', async () => {
    await using workspace = await temporaryWorkspace()
    await put(workspace, ...tree)
    expect(await glob(workspace, '*.ts', { path: 'src' })).toEqual(['src/a.ts'])
    expect(await glob(workspace, '*.ts', { path: './src/lib/' })).toEqual(['src/lib/c.ts'])
    expect(await glob(workspace, 'lib/*.ts', { path: join(workspace.root, 'src') })).toEqual([join(workspace.root, 'src/lib/c.ts')])
    expect(await glob(workspace, `${workspace.root}/src/*.ts`)).toEqual([join(workspace.root, 'src/a.ts')])
    expect(await glob(workspace, '../*.ts', { path: 'src/lib' })).toEqual(['src/a.ts'])
  })

  test('the same as a plain matcher says, whatever the tree and the pattern', async () => {
    const name = fc.stringMatching(/^[ab.]{1,3}$/).filter((text) => !/^\.+$/.test(text))
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'))
    const part = fc.constantFrom('a', 'b', 'ab', '*', 'a*', '*b', '?', 'a?', '**', '*.a', '.a', '.*')
    const pattern = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))
    await fc.assert(
      fc.asyncProperty(
        fc.array(path, { minLength: 1, maxLength: 15 }),
        fc.array(pattern, { minLength: 1, maxLength: 8 }),
        async (paths, patterns) => {
          await using workspace = await temporaryWorkspace()
          const files: string[] = []
          for (const candidate of paths)
            await put(workspace, candidate).then(
              () => files.push(candidate),
              () => undefined,
            )
          for (const wanted of patterns) {
            const expected = [...new Set(files)].filter((file) => fits(file.split('/'), wanted.split('/'))).sort()
            const { content } = await tool
              .execute({ pattern: wanted }, workspace.context)
              .catch((error: Error) => ({ content: `[${error.message}]` }))
            expect(
              content.split('\n').filter((line) => !line.startsWith('[')),
              wanted,
            ).toEqual(expected)
          }
        },
      ),
      { numRuns: 60 },
    )
  })
})

/** A matcher for *, ? and **, of which none stands for a dot in front. */
function fits(names: readonly string[], parts: readonly string[]): boolean {
  const [part, ...later] = parts
  const [name, ...rest] = names
  if (part === undefined) return name === undefined
  if (part === '**') {
    if (later.length === 0) return names.length > 0 && names.every((each) => !each.startsWith('.'))
    return fits(names, later) || (name !== undefined && !name.startsWith('.') && fits(rest, parts))
  }
  return name !== undefined && fitsName(name, part) && fits(rest, later)
}

function fitsName(name: string, part: string): boolean {
  if (name.startsWith('.') && !part.startsWith('.')) return false
  const expression = [...part].map((mark) => (mark === '*' ? '.*' : mark === '?' ? '.' : mark === '.' ? '\\.' : mark)).join('')
  return new RegExp(`^${expression}$`).test(name)
}

describe('what is left out, and how it is said', () => {
  test('nothing found, with a hint where there is one', async () => {
    await using workspace = await temporaryWorkspace()
    await put(workspace, 'src/a.ts', 'app/[id]/page.tsx', 'app/(group)/page.tsx')
    expect(await glob(workspace, '*.ts')).toEqual(['[no file fits *.ts: it fits names directly in path only; for any depth write **/*.ts]'])
    expect(await glob(workspace, '**/*.go')).toEqual(['[no file fits **/*.go]'])
    // What is below a.ts, not a.ts itself.
    expect(await glob(workspace, 'src/a.t?/**')).toEqual(['[no file fits src/a.t?/**]'])
    expect((await glob(workspace, 'app/(group)/*.tsx'))[0]).toContain('put \\ before one that belongs to a name')
  })

  test('beyond the limit: where the rest is, and the whole list in a file', async () => {
    await using workspace = await temporaryWorkspace()
    const all = ['a/1', 'a/2', 'a/3', 'b/1', 'b/2', 'b/3', 'c/1', 'd']
    await put(workspace, ...all)
    const kept = join(workspace.root, '../kept/session/call.txt')
    expect(await glob(workspace, '**', { limit: 2 })).toEqual([
      'a/1',
      'a/2',
      '[2 of 8 files are shown, by path; not shown: 3 in b/, 1 in a/, 1 in c/, 1 in ./: narrow the pattern or the path]',
      `[the whole list is kept in ${kept}; see more of it with read_file or grep]`,
    ])
    expect(await readFile(kept, 'utf8')).toBe(`${all.join('\n')}\n`)
    expect(await glob(workspace, '**', { limit: 8 })).toEqual(all)
    const none = await glob(workspace, '*', { path: 'a', limit: 2 }, { spill: null })
    expect(none).toEqual(['a/1', 'a/2', '[2 of 3 files are shown, by path; not shown: 1 in a/: narrow the pattern or the path]'])
  })

  test('no more characters than are taken are shown, however long the paths are', async () => {
    await using workspace = await temporaryWorkspace()
    const long = Array.from({ length: 300 }, (_, index) => `${'x'.repeat(200)}${index}`)
    await put(workspace, ...long)
    const lines = await glob(workspace, '*', { limit: 2_000 })
    expect(lines.join('\n').length).toBeLessThan(42 * 1024)
    expect(lines.at(-2)).toMatch(/^\[20\d of 300 files are shown/)
  })

  test('a name with control characters is one line', async () => {
    await using workspace = await temporaryWorkspace()
    await put(workspace, 'a\nb', 'c\u2028')
    expect(await glob(workspace, '*')).toEqual(['"a\\nb"', '"c\u2028"'])
  })

  test('what is ignored; where it is named, it is looked into', async () => {
    await using workspace = await temporaryWorkspace()
    await put(workspace, 'dist/a.js', 'dist/b.js', 'src/c.js')
    await writeFile(join(workspace.root, '.gitignore'), 'dist\n')
    expect(await glob(workspace, '**/*.js')).toEqual(['src/c.js'])
    const note = '[dist/ is itself ignored by rules above it, which are set aside here]'
    expect(await glob(workspace, 'dist/*.js')).toEqual(['dist/a.js', 'dist/b.js', note])
    expect(await glob(workspace, '*.js', { path: 'dist', limit: 2 })).toEqual(['dist/a.js', 'dist/b.js', note])
  })

  test("files that the session's rules bar, by where they are", async () => {
    await using workspace = await temporaryWorkspace()
    await put(workspace, 'a', 'secret', 'b')
    await symlink('secret', join(workspace.root, 'link'))
    const guard = (real: string) => (real.endsWith('/secret') ? 'barred' : undefined)
    expect(await glob(workspace, '*', {}, { guard })).toEqual(['a', 'b', "[2 files are left out by the session's rules]"])
  })

  test('links out of the roots', async () => {
    await using workspace = await temporaryWorkspace()
    await put(workspace, 'a')
    await writeFile(join(workspace.outside, 'x'), '')
    await symlink(workspace.outside, join(workspace.root, 'directory'))
    await symlink(join(workspace.outside, 'x'), join(workspace.root, 'file'))
    expect(await glob(workspace, '**')).toEqual(['a'])
  })
})

describe('what is refused', () => {
  test.each([
    [{ pattern: '../*' }, "is outside the session's roots"],
    [{ pattern: '*', path: '..' }, "is outside the session's roots"],
    [{ pattern: '/*' }, "is outside the session's roots"],
    [{ pattern: 'gone/*' }, 'gone: no such file or directory'],
    [{ pattern: '*', path: 'file' }, 'file is a file, not a directory: to see it, use read_file'],
    [{ pattern: '/a/*', path: 'directory' }, 'the pattern /a/* is absolute: leave path out'],
    [{ pattern: 'a[b' }, 'the pattern "a[b" is none: Missing closing: "]"'],
    [{ pattern: '*', path: '.git' }, '.git is in .git, which is never searched: use shell'],
    [{ pattern: '.git/hooks/*' }, '.git/hooks is in .git, which is never searched'],
  ])('%j', async (input, message) => {
    await using workspace = await temporaryWorkspace()
    await put(workspace, 'file', 'directory/x', '.git/hooks/x')
    await expect(tool.execute(input, workspace.context)).rejects.toThrow(message)
  })

  test('a link to a directory outside', async () => {
    await using workspace = await temporaryWorkspace()
    await symlink(workspace.outside, join(workspace.root, 'link'))
    await expect(tool.execute({ pattern: 'link/*' }, workspace.context)).rejects.toThrow("link is outside the session's roots")
  })

  test('an abort', async () => {
    await using workspace = await temporaryWorkspace()
    await expect(tool.execute({ pattern: '*' }, { ...workspace.context, signal: AbortSignal.abort() })).rejects.toThrow('aborted')
  })
})

test('a summary is the pattern from the working directory on, and rules speak of where it begins', () => {
  expect(tool.summary({ pattern: '**/*.ts' })).toBe('**/*.ts')
  expect(tool.summary({ pattern: 'lib/*.ts', path: './src/' })).toBe('src/lib/*.ts')
  expect(tool.summary({ pattern: '/a/b/*' })).toBe('/a/b/*')
  expect(tool.subject?.({ pattern: 'lib/*.ts', path: './src/' })).toEqual({ path: 'src/lib' })
  expect(tool.subject?.({ pattern: '/*' })).toEqual({ path: '/' })
  expect(tool.subject?.({ pattern: '*' })).toEqual({ path: '.' })
})
