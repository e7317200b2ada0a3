import { readFile, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { grep, inFile, put, tool } from './grep.fixture.ts'
import { grepTool } from './grep.ts'
import { decide } from './permission-policy.ts'
import { searchHere } from './search/search-here.fixture.ts'
import type { Search } from './search/search-job.ts'
import { temporaryWorkspace } from './temporary-workspace.ts'

describe('which files', () => {
  test('by a glob: a name at any depth, or a path', async () => {
    await using workspace = await temporaryWorkspace()
    await put(workspace, { 'a.ts': 'x', 'src/b.ts': 'x', 'src/c.js': 'x', 'src/lib/d.ts': 'x', '.h/e.ts': 'x' })
    const files = (glob: string, path?: string) =>
      grep(workspace, { pattern: 'x', filesOnly: true, glob, ...(path !== undefined && { path }) })
    expect(await files('*.ts')).toEqual(['.h/e.ts', 'a.ts', 'src/b.ts', 'src/lib/d.ts'])
    expect(await files('src/*.{ts,js}')).toEqual(['src/b.ts', 'src/c.js'])
    expect(await files('lib/*', 'src')).toEqual(['src/lib/d.ts'])
    expect(await files('!*.ts')).toEqual(['src/c.js'])
    await expect(files('a[')).rejects.toThrow('the pattern "a[" is none')
  })

  test('not those that are ignored, .git, links, or binary; hidden ones yes', async () => {
    await using workspace = await temporaryWorkspace()
    await put(workspace, {
      '.gitignore': 'dist\n',
      'dist/a': 'x',
      '.git/config': 'x',
      '.env': 'x',
      binary: Buffer.from('x\0x'),
      'late-nul': Buffer.from(`${'y'.repeat(70_000)}\nx\n\0`),
      text: 'x',
    })
    await put({ root: workspace.outside }, { secret: 'x' })
    await symlink('text', join(workspace.root, 'link'))
    await symlink(workspace.outside, join(workspace.root, 'away'))
    expect(await grep(workspace, { pattern: 'x', filesOnly: true })).toEqual(['.env', 'late-nul', 'text'])
    expect(await grep(workspace, { pattern: 'x', path: 'dist' })).toEqual([
      'dist/a:1:x',
      '[dist/ is itself ignored by rules above it, which are set aside here]',
    ])
    expect(await grep(workspace, { pattern: 'x', path: 'dist/a' })).toEqual(['dist/a:1:x'])
    expect(await grep(workspace, { pattern: 'x', path: 'link' })).toEqual(['link:1:x'])
    expect(await grep(workspace, { pattern: 'nothing' })).toEqual([
      '[no line matches: 4 files were searched, and 1 binary files were passed over]',
    ])
    expect(await grep(workspace, { pattern: 'x', path: 'binary' })).toEqual([
      "[binary is a binary file, or text that isn't UTF-8: use shell (grep -a, strings) to look into it]",
    ])
  })

  test("not those that the session's rules bar, of which nothing is told but their number", async () => {
    await using workspace = await temporaryWorkspace()
    await put(workspace, { a: 'x', 'secret/b': 'x\nx\n', c: 'x' })
    const guard = (real: string) => (real.includes('/secret/') ? 'barred' : undefined)
    expect(await grep(workspace, { pattern: 'x' }, { guard })).toEqual(['a:1:x', 'c:1:x', "[1 files are left out by the session's rules]"])
    await expect(grep(workspace, { pattern: 'x', path: 'secret/b' }, { guard })).rejects.toThrow('barred')
  })

  test('by the rules as they are written: what may not be read is not shown by a search either', async () => {
    await using workspace = await temporaryWorkspace()
    await put(workspace, { 'src/a.ts': 'x', 'secrets/b': 'x', 'src/c.env': 'x' })
    const { cwd, roots } = workspace.context
    const rules = [
      { tool: 'read_file', pattern: 'secrets/*', action: 'deny' },
      { tool: 'grep', pattern: '*.env', action: 'ask' },
    ] as const
    const input = { pattern: 'x' }
    const verdict = await decide({ mode: 'read-only', rules: [...rules] }, { tool, input, cwd, roots })
    if (verdict.action !== 'allow' || verdict.guard === undefined) throw new Error('no guard')
    expect(await grep(workspace, input, { guard: verdict.guard })).toEqual([
      'src/a.ts:1:x',
      "[2 files are left out by the session's rules]",
    ])
    const named = { tool, input: { pattern: 'x', path: 'secrets/b' }, cwd, roots }
    expect(await decide({ mode: 'read-only', rules: [...rules] }, named)).toMatchObject({ action: 'deny' })
  })

  test('not one that is elsewhere when it is read: a directory on its way was replaced by a link', async () => {
    await using workspace = await temporaryWorkspace()
    const { root, outside } = workspace
    await put(workspace, { 'a/1': '', 'b/secret': 'inside' })
    await put({ root: outside }, { secret: 'outside' })
    const swapping: Search = async (job, hear, signal) => {
      await rename(join(root, 'b'), join(root, 'gone'))
      await symlink(outside, join(root, 'b'))
      return searchHere(job, hear, signal)
    }
    // The place to begin was found before the swap; a walk below it would not follow the link.
    const { content } = await grepTool(swapping).execute({ pattern: 'side', path: 'b/secret' }, workspace.context)
    expect(content).toBe('[no line matches: 1 files were searched]')
  })
})

describe('how much is shown', () => {
  test('files, or matching lines, up to the limit; the whole list is kept', async () => {
    await using workspace = await temporaryWorkspace()
    await put(workspace, { a: 'x\n'.repeat(5), b: 'x\n'.repeat(3), c: 'x\n' })
    const kept = join(workspace.root, '../kept/session/call.txt')
    const note = `[the whole list is kept in ${kept}; see more of it with read_file or grep]`
    expect(await grep(workspace, { pattern: 'x', limit: 2 })).toEqual([
      'a:1:x',
      'a:2:x',
      '[2 of 9 matching lines (in 3 files) are shown, by path]',
      note,
    ])
    expect((await readFile(kept, 'utf8')).split('\n')).toEqual([
      ...[1, 2, 3, 4, 5].map((line) => `a:${line}:x`),
      ...[1, 2, 3].map((line) => `b:${line}:x`),
      'c:1:x',
      '',
    ])
    await rm(kept)
    expect(await grep(workspace, { pattern: 'x', filesOnly: true, limit: 2 })).toEqual([
      'a',
      'b',
      '[2 of 3 files are shown, by path]',
      note,
    ])
    expect(await grep(workspace, { pattern: 'x', limit: 9 })).toHaveLength(9)
  })

  test('where nothing is kept, the search ends when enough is shown', async () => {
    await using workspace = await temporaryWorkspace()
    await put(workspace, { a: 'x\nx\nx\n', b: 'x\n' })
    expect(await grep(workspace, { pattern: 'x', limit: 2 }, { spill: null })).toEqual([
      'a:1:x',
      'a:2:x',
      '[2 of at least 3 matching lines (in 1 files) are shown, by path]',
    ])
  })

  test('a list too long to be kept is cut, and the search ends', async () => {
    await using workspace = await temporaryWorkspace()
    await put(workspace, { a: `${'x'.repeat(390)}\n`.repeat(50_000), b: 'x\n' })
    const lines = await grep(workspace, { pattern: 'x' })
    expect(lines.at(-2)).toMatch(/^\[100 of at least 4\d{4} matching lines \(in 1 files\) are shown, by path\]$/)
    expect(lines.at(-1)).toMatch(/^\[the first 16777216 of the 167\d{5} bytes of what was found until then is kept in /)
  })

  test('of a long line the piece around the match, in whole characters', async () => {
    const line = `${'a'.repeat(1_000)}needle${'b'.repeat(1_000)}`
    expect(await inFile(line, 'needle')).toEqual([`f:1:…${'a'.repeat(100)}needle${'b'.repeat(294)}…`, '[1 long lines are cut, at …]'])
    expect((await inFile(`needle${'b'.repeat(1_000)}`, 'needle'))[0]).toBe(`f:1:needle${'b'.repeat(394)}…`)
    expect((await inFile(`${'a'.repeat(1_000)}needle`, 'needle'))[0]).toBe(`f:1:…${'a'.repeat(394)}needle`)
    expect((await inFile(`${'😀'.repeat(300)}needle${'😀'.repeat(300)}`, 'needle'))[0]).toMatch(/^f:1:…(😀){50}needle(😀){147}…$/u)
    expect((await inFile(`a${'😀'.repeat(300)}`, 'a'))[0]).toBe(`f:1:a${'😀'.repeat(199)}…`)
  })
})

describe('what is refused or told', () => {
  test.each([
    [{ pattern: 'a(' }, 'the pattern is not a valid regular expression: Unterminated group, at character 3'],
    [{ pattern: 'a', path: '..' }, "is outside the session's roots"],
    [{ pattern: 'a', path: 'gone' }, 'gone: no such file or directory'],
    [{ pattern: 'a', path: '*.ts' }, '*.ts: no such file or directory (a path here is no pattern: there is another parameter for that)'],
    [{ pattern: 'a', path: '.git/config' }, '.git/config is in .git, which is never searched'],
  ])('%j', async (input, message) => {
    await using workspace = await temporaryWorkspace()
    await put(workspace, { '.git/config': 'a' })
    await expect(tool.execute(input, workspace.context)).rejects.toThrow(message)
  })

  test('nothing found, where the pattern has a line end in it', async () => {
    expect(await inFile('a\nb\n', 'a\\nb')).toEqual([
      '[no line matches: 1 files were searched; the pattern has a line end in it, and each line is looked at by itself]',
    ])
  })

  test('what it was stopped at', async () => {
    await using workspace = await temporaryWorkspace()
    const stuck: Search = async (_, hear) => {
      hear.show('a:1:x')
      return { kind: 'stuck', path: 'b', line: 7 }
    }
    const message =
      'ended by force at the time limit of 30 s, in b at line 7: the expression takes too long there: avoid repeats within repeats, such as (a+)+'
    expect(await grepTool(stuck).execute({ pattern: 'x' }, workspace.context)).toEqual({
      content: `a:1:x\n[${message}]`,
      isError: true,
      error: { code: 'tool_timeout', message, retryable: false },
    })
  })

  test('what was kept until then, or until it failed', async () => {
    await using workspace = await temporaryWorkspace()
    const stuck: Search = async (_, hear) => {
      hear.keep('a:1:x\n')
      return { kind: 'stuck', path: '', line: 0 }
    }
    const { content } = await grepTool(stuck).execute({ pattern: 'x' }, workspace.context)
    const [, note] = content.split('\n')
    expect(note).toMatch(/^\[what was found until then is kept in /)
    const failing: Search = async (_, hear) => {
      hear.keep('a:2:x\n')
      throw new Error('bad')
    }
    const spill = { directory: workspace.context.spill?.directory ?? '', name: 'other.txt' }
    await expect(grepTool(failing).execute({ pattern: 'x' }, { ...workspace.context, spill })).rejects.toThrow('bad')
    expect(await readFile(join(spill.directory, 'other.txt'), 'utf8')).toBe('a:2:x\n')
  })

  test('its time is over', async () => {
    await using workspace = await temporaryWorkspace()
    await put(workspace, { a: 'x', b: 'x' })
    const late: Search = (job, hear, signal) => searchHere({ ...job, budgetMs: -1 }, hear, signal)
    expect((await grepTool(late).execute({ pattern: 'x' }, workspace.context)).content).toBe(
      '[no line matches: 0 files were searched]\n' +
        '[stopped at the time limit of 30 s, so not everything was looked at: give a directory below in path, or a glob]',
    )
  })
})

test('an output that was kept can be searched, though it is outside the roots; nothing beside it', async () => {
  await using workspace = await temporaryWorkspace()
  const { spill } = workspace.context
  const kept = join(spill?.directory ?? '', 'other.txt')
  await put({ root: '/' }, { [kept]: 'needle\n', [join(kept, '../../beside')]: 'needle\n' })
  expect(await grep(workspace, { pattern: 'needle', path: kept })).toEqual([`${kept}:1:needle`])
  await expect(grep(workspace, { pattern: 'needle', path: join(kept, '../../beside') })).rejects.toThrow("outside the session's roots")
  await expect(grep(workspace, { pattern: 'needle', path: `${kept}x` })).rejects.toThrow('is not kept any more, or never was')
})

test('a summary is where it looks and for what; rules speak of where', () => {
  expect(tool.summary({ pattern: 'a b' })).toBe('. "a b"')
  expect(tool.summary({ pattern: 'x', path: './src/', glob: '*.ts' })).toBe('src/*.ts "x"')
  expect(tool.subject?.({ pattern: 'x', path: './src/' })).toEqual({ path: './src/' })
})
