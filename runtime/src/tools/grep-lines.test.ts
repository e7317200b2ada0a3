import { open } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { grep, inFile, put } from './grep.fixture.ts'
import { MAX_LINE } from './search/line-source.ts'
import { temporaryWorkspace } from './temporary-workspace.ts'

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
