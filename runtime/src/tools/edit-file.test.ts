import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { editFileTool } from './edit-file.ts'
import { temporaryWorkspace } from './temporary-workspace.ts'

interface Change {
  oldText: string
  newText: string
  all?: boolean
}

async function edit(content: string | Buffer, change: Change): Promise<{ file: string; said: string }> {
  await using workspace = await temporaryWorkspace()
  const file = join(workspace.root, 'f')
  await writeFile(file, content)
  const before = await stat(file, { bigint: true })
  const said = await editFileTool.execute({ path: 'f', ...change }, workspace.context).then(
    (outcome) => outcome.content,
    (error: unknown) => String(error),
  )
  const failed = said.startsWith('Error')
  if (failed) expect((await stat(file, { bigint: true })).ino).toBe(before.ino)
  return { file: await readFile(file, 'utf8'), said }
}

describe('what is replaced', () => {
  test.each([
    ['once', 'a b c\n', { oldText: 'b', newText: 'x' }, 'a x c\n', 'Replaced 1 occurrence in f (line 1).'],
    ['deleted', 'a\nb\nc\n', { oldText: 'b\n', newText: '' }, 'a\nc\n', 'Replaced 1 occurrence in f (line 2).'],
    ['all', 'a b\na\n', { oldText: 'a', newText: 'aa', all: true }, 'aa b\naa\n', 'Replaced 2 occurrences in f (line 1, 2).'],
    ['special characters of patterns', 'x\r\n$1 (a|b)\r\ny', { oldText: '$1 (a|b)\ny', newText: '$& $1' }, 'x\r\n$& $1', 'Replaced 1'],
    ['overlapping, all', 'aaaaa', { oldText: 'aa', newText: 'b', all: true }, 'bba', 'Replaced 2 occurrences'],
  ])('%s', async (_name, content, change, expected, words) => {
    const { file, said } = await edit(content, change)
    expect(file).toBe(expected)
    expect(said).toContain(words)
  })

  test('with an oldText that occurs once, any file changes in that place alone', async () => {
    const part = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '\r\n', 'é', '😀', '\t'), maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(part, part, fc.constantFrom('new', '', 'two\r\nlines'), async (before, after, newText) => {
        const { file } = await edit(`${before}<old>${after}`, { oldText: '<old>', newText })
        expect(file).toBe(before + newText + after)
      }),
      { numRuns: 60 },
    )
  })
})

describe('line endings and the byte order mark survive', () => {
  test.each([
    ['CRLF', '\uFEFFa\r\nb\r\nc\r\n', { oldText: 'a\nb', newText: 'x\ny\nz' }, '\uFEFFx\r\ny\r\nz\r\nc\r\n'],
    ['CRLF, one line', 'a\r\nb\r\n', { oldText: 'b', newText: 'x\ny' }, 'a\r\nx\r\ny\r\n'],
    ['mixed: the place decides', 'a\r\nb\nc\r\n', { oldText: 'b\nc', newText: 'x\ny' }, 'a\r\nx\ny\r\n'],
    ['mixed: the place decides, again', 'a\nb\r\nc\n', { oldText: 'b\nc', newText: 'x\ny' }, 'a\nx\r\ny\n'],
    ['LF', 'a\nb\n', { oldText: 'a\nb', newText: 'x\ny' }, 'x\ny\n'],
    ['explicit CR is taken at its word', 'a\r\nb\r\n', { oldText: 'a\r\nb', newText: 'a\nb' }, 'a\nb\r\n'],
  ])('%s', async (_name, content, change, expected) => {
    expect((await edit(content, change)).file).toBe(expected)
  })
})

describe('what is refused, and nothing changed', () => {
  test.each([
    [
      'not there',
      'alpha\n',
      { oldText: 'zzz', newText: 'x' },
      'oldText does not occur in f, and nothing was changed. Nothing like it was found',
    ],
    ['more than one', 'a\nb\na\n', { oldText: 'a', newText: 'x' }, 'oldText occurs 2 times in f (line 1, 3)'],
    ['overlapping', 'aaa', { oldText: 'aa', newText: 'x' }, 'oldText occurs 2 times in f (line 1)'],
    ['empty', 'a', { oldText: '', newText: 'x' }, 'oldText is empty'],
    ['equal', 'a', { oldText: 'a', newText: 'a' }, 'oldText and newText are the same'],
    ['equal but for the line end', 'a\r\nb', { oldText: 'a\r\nb', newText: 'a\r\nb' }, 'are the same'],
    ['no character', 'a', { oldText: 'a', newText: '\uDC00' }, 'newText has half of a surrogate pair'],
  ])('%s', async (_name, content, change, words) => {
    const { file, said } = await edit(content, change)
    expect(said).toContain(words)
    expect(file).toBe(content)
  })

  test('not UTF-8', async () => {
    const { said } = await edit(Buffer.from([0x61, 0xe9, 0x62]), { oldText: 'a', newText: 'x' })
    expect(said).toContain('f is not valid UTF-8 text')
  })

  test('more places than are counted, and a result too large', async () => {
    const many = await edit('e'.repeat(200_000), { oldText: 'e', newText: 'x', all: true })
    expect(many.said).toContain('occurs more than 100000 times')
    const large = await edit('e'.repeat(1_000), { oldText: 'e', newText: 'x'.repeat(100_000), all: true })
    expect(large.said).toContain('would become longer than')
  })

  test('a file that is changed meanwhile is not written over', async () => {
    await using workspace = await temporaryWorkspace()
    const file = join(workspace.root, 'f')
    await writeFile(file, 'a')
    const edits = ['x', 'y'].map((newText) => editFileTool.execute({ path: 'f', oldText: 'a', newText }, workspace.context))
    const done = await Promise.allSettled(edits)
    expect(done.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await readFile(file, 'utf8')).toBe(done[0]?.status === 'fulfilled' ? 'x' : 'y')
  })
})

describe('the hint to the nearest place', () => {
  const file = 'function one() {\n  return 1\n}\n\nfunction two() {\n    return 2\n}\n'

  test.each([
    ['other indentation', 'function two() {\n  return 2\n}', '5\tfunction two() {\n6\t    return 2\n7\t}'],
    ['one line differs', 'function two() {\n  return 3\n}', '5\tfunction two() {'],
    ['one line, part of one', 'RETURN  2', '6\t    return 2'],
    ['one line, another end', '    return 2;', '6\t    return 2'],
    ['one line, a typo', 'functoin one() {', '1\tfunction one() {'],
    ['line numbers', '5\tfunction two() {\n6\t    return 2', 'leave out the number and the tab'],
  ])('%s', async (_name, oldText, words) => {
    expect((await edit(file, { oldText, newText: 'x' })).said).toContain(words)
  })
})
