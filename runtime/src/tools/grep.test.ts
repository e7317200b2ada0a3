import { mkdir, open, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type * as z from 'zod/mini'
import { grepTool } from './grep.ts'
import { decide } from './permission-policy.ts'
import { MAX_LINE } from './search/line-source.ts'
import { searchHere } from './search/search-here.fixture.ts'
import type { Search } from './search/search-job.ts'
import { temporaryWorkspace, type Workspace } from './temporary-workspace.ts'
import type { ToolContext } from './tool.ts'

const tool = grepTool(searchHere)
type Input = z.output<typeof tool.input>

async function put({ root }: Pick<Workspace, 'root'>, files: Readonly<Record<string, string | Buffer>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), content)
  }
}

async function grep(workspace: Workspace, input: Input, context: Partial<ToolContext> = {}): Promise<string[]> {
  const outcome = await tool.execute(input, { ...workspace.context, ...context })
  expect(outcome.isError).toBe(false)
  return outcome.content.split('\n')
}

/** What one file with this content answers. */
async function inFile(content: string | Buffer, pattern: string, more: Partial<Input> = {}): Promise<string[]> {
  await using workspace = await temporaryWorkspace()
  await put(workspace, { f: content })
  return await grep(workspace, { pattern, path: 'f', ...more })
}

describe('lines that match', () => {
  test('with the path and the number, in the order of both', async () => {
    await using workspace = await temporaryWorkspace()
    await put(workspace, { 'b.ts': 'one\ntwo\n', 'a/x.ts': 'two\n\nthree two', 'a/y.md': 'two' })
    expect(await grep(workspace, { pattern: 'two' })).toEqual(['a/x.ts:1:two', 'a/x.ts:3:three two', 'a/y.md:1:two', 'b.ts:2:two'])
    expect(await grep(workspace, { pattern: 'two', path: 'a' })).toHaveLength(3)
    expect(await grep(workspace, { pattern: 'two', path: './a/y.md' })).toEqual(['a/y.md:1:two'])
    expect(await grep(workspace, { pattern: 'two', path: workspace.root, glob: 'b*' })).toEqual([`${workspace.root}/b.ts:2:two`])
  })

  test.each([
    ['^two$', 'one\ntwo\r\nthree\n', ['f:2:two']],
    ['^one', '\uFEFFone', ['f:1:one']],
    ['^$', 'a\n\nb\n', ['f:2:']],
    ['^', '', []],
    ['x', 'x', ['f:1:x']],
    ['\\s$', 'a\nb \n', ['f:2:b ']],
    ['é.$', 'é😀', ['f:1:é😀']],
    ['[^b]', 'b\nb\n', []],
    ['a\\nb', 'a\nb\n', []],
  ])('%s in %j', async (pattern, content, expected) => {
    expect((await inFile(content, pattern)).filter((line) => !line.startsWith('['))).toEqual(expected)
  })

  test('a text for itself, and letters of either case', async () => {
    expect(await inFile('a.b(\naxb(\n', 'a.b(', { literal: true })).toEqual(['f:1:a.b('])
    expect(await inFile('Été\n', 'été', { ignoreCase: true })).toEqual(['f:1:Été'])
  })

  test('bytes that are no UTF-8 hide no match beside them', async () => {
    expect(await inFile(Buffer.from([0x61, 0xe9, 0x62, 0x0a]), 'a.b')).toEqual(['f:1:a\uFFFDb'])
  })

  test('the same as a plain search by line finds, whatever the file and the seams in it', async () => {
    const line = fc.oneof(
      { weight: 8, arbitrary: fc.stringMatching(/^[ab é€\t]{0,12}$/) },
      { weight: 1, arbitrary: fc.integer({ min: 1_000, max: 90_000 }).map((length) => `${'é'.repeat(length)}ab`) },
    )
    const pattern = fc.constantFrom('ab', '^a', 'b$', 'a+b', '[^a]', '^$', '\\s', 'é', 'b a')
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 30 }),
        fc.constantFrom('\n', '\r\n'),
        fc.boolean(),
        pattern,
        async (lines, end, last, wanted) => {
          const content = lines.join(end) + (last ? end : '')
          const texts = content.split('\n').map((text) => text.replace(/\r$/, ''))
          if (texts.at(-1) === '') texts.pop()
          const expected = texts.flatMap((text, index) => (new RegExp(wanted).test(text) ? [index + 1] : []))
          const found = (await inFile(content, wanted, { limit: 1_000 })).filter((text) => text.startsWith('f:'))
          expect(found.map((text) => Number(text.split(':')[1]))).toEqual(expected)
        },
      ),
      { numRuns: 80 },
    )
  })
})

describe('context', () => {
  const content = Array.from({ length: 12 }, (_, index) => `${index + 1}`).join('\n')

  test('is shown once, and groups are apart', async () => {
    expect(await inFile(content, '^(2|4|9)$', { context: 1 })).toEqual([
      'f-1-1',
      'f:2:2',
      'f-3-3',
      'f:4:4',
      'f-5-5',
      '--',
      'f-8-8',
      'f:9:9',
      'f-10-10',
    ])
    expect(await inFile(content, '^(3|4|12)$', { context: 2 })).toEqual([
      'f-1-1',
      'f-2-2',
      'f:3:3',
      'f:4:4',
      'f-5-5',
      'f-6-6',
      '--',
      'f-10-10',
      'f-11-11',
      'f:12:12',
    ])
    expect(await inFile(content, '^(1|4)$', { context: 1 })).toEqual(['f:1:1', 'f-2-2', 'f-3-3', 'f:4:4', 'f-5-5'])
  })

  test('does not reach into another file', async () => {
    await using workspace = await temporaryWorkspace()
    await put(workspace, { a: 'x\nhit\n', b: 'y\nhit\nz\n' })
    expect(await grep(workspace, { pattern: 'hit', context: 1 })).toEqual(['a-1-x', 'a:2:hit', '--', 'b-1-y', 'b:2:hit', 'b-3-z'])
  })

  test('after the last match that is shown, and not before one that is not', async () => {
    expect(await inFile(content, '^(2|8)$', { context: 1, limit: 1 })).toEqual([
      'f-1-1',
      'f:2:2',
      'f-3-3',
      '[1 of 2 matching lines (in 1 files) are shown, by path]',
      expect.stringMatching(/^\[the whole list is kept in /),
    ])
  })

  test('the same as a plain one says', async () => {
    const marks = fc.array(fc.boolean(), { minLength: 1, maxLength: 25 })
    await fc.assert(
      fc.asyncProperty(marks, fc.integer({ min: 1, max: 4 }), async (hits, context) => {
        const near = (index: number) => hits.some((hit, other) => hit && Math.abs(index - other) <= context)
        const expected: string[] = []
        let last: number | undefined
        for (const [index, hit] of hits.entries()) {
          if (!near(index)) continue
          if (last !== undefined && last < index - 1) expected.push('--')
          last = index
          expected.push(`f${hit ? ':' : '-'}${index + 1}${hit ? ':' : '-'}${hit ? 'hit' : 'no'}`)
        }
        const found = await inFile(hits.map((hit) => (hit ? 'hit' : 'no')).join('\n'), 'hit', { context })
        expect(found.filter((line) => !line.startsWith('['))).toEqual(expected)
      }),
      { numRuns: 60 },
    )
  })
})

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

describe('a file of any size', () => {
  test('is read in pieces, its lines numbered through', async () => {
    const content = `${'line\n'.repeat(100_000)}needle\n${'line\n'.repeat(100_000)}needle`
    expect(await inFile(content, 'needle')).toEqual(['f:100001:needle', 'f:200002:needle'])
  })

  test('also where one line is longer than is held', async () => {
    await using workspace = await temporaryWorkspace()
    const handle = await open(join(workspace.root, 'f'), 'w')
    // So that the seams are within a character.
    await handle.write('needle 1\nx')
    for (let written = 0; written < MAX_LINE * 2.5; written += 2 ** 20) await handle.write('é'.repeat(2 ** 19))
    await handle.write('needle 2\nneedle 3\n')
    await handle.close()
    const lines = await grep(workspace, { pattern: 'needle' })
    expect(lines.map((line) => line.replace(/é+/, 'é'))).toEqual([
      'f:1:needle 1',
      'f:2:…éneedle 2',
      'f:3:needle 3',
      '[1 long lines are cut, at …]',
      '[1 lines are so long that they were searched in pieces: a match over two of them is not seen]',
    ])
    expect(await grep(workspace, { pattern: '\uFFFD' })).toEqual([
      '[no line matches: 1 files were searched]',
      '[1 lines are so long that they were searched in pieces: a match over two of them is not seen]',
    ])
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
