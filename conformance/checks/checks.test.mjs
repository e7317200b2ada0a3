// Proves that the smaller checks can fail: sizes, hygiene, drift.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { drifted } from './drift.mjs'
import { unclean } from './hygiene.mjs'
import { limit, tooLong } from './sizes.mjs'

let root

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'quiesce-checks-'))
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

function write(path, text) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

test('sizes: the limit is the last length that passes', () => {
  write('a.ts', 'x\n'.repeat(limit))
  write('b.py', 'x\n'.repeat(limit + 1))
  write('src/generated/c.ts', 'x\n'.repeat(limit + 1))
  write('d.md', 'x\n'.repeat(limit + 1))
  expect(tooLong(root, ['a.ts', 'b.py', 'src/generated/c.ts', 'd.md'])).toEqual([`b.py: ${limit + 1} lines, ${limit} at most`])
})

describe('hygiene', () => {
  // Put together here, so that this file stays clean itself.
  test.each([
    ['package-lock.json', `"resolved": "https://registry.${'npmjs'}.org/a"`],
    ['requirements.txt', `--index-url https://${'pypi'}.org/simple`],
    ['a.ts', `const path = '${'/work'}/main'`],
    ['a.md', `see ${'/root'}/notes`],
    ['a.py', `# ${'TO'}DO: later`],
    ['a.test.ts', `test.${'only'}('x', f)`],
    ['a.test.mjs', `describe.concurrent.${'skip'}('x', f)`],
    ['test_a.py', `@pytest.mark.${'skip'}`],
  ])('refuses in %s: %s', (path, text) => {
    write(path, `first\n${text}\n`)
    expect(unclean(root, [path])).toEqual([expect.stringMatching(new RegExp(`^${path}:2: `))])
  })

  test.each([
    ['a.ts', "const url = 'https://example.com/work/item'"],
    ['a.ts', `list.${'skip'}(3)`],
    ['a.test.ts', "test.skipIf(root)('x', f)"],
    ['test_a.py', '@pytest.mark.skipif(sys.platform == "darwin", reason="why")'],
  ])('accepts in %s: %s', (path, text) => {
    write(path, text)
    expect(unclean(root, [path])).toEqual([])
  })
})

test('drift: compares both ways', () => {
  write('made/docs/protocol.md', 'new')
  write('made/docs/tools.md', 'same')
  write('made/ts-sdk/src/generated/events.ts', 'a')
  write('kept/docs/protocol.md', 'old')
  write('kept/docs/tools.md', 'same')
  write('kept/docs/guide.md', 'not generated')
  write('kept/ts-sdk/src/generated/stale.ts', 'a')
  expect(drifted(join(root, 'made'), join(root, 'kept'))).toEqual([
    'docs/protocol.md: drifted: run make gen',
    'ts-sdk/src/generated/events.ts: missing: run make gen',
    'ts-sdk/src/generated/stale.ts: no generator writes it: remove it',
  ])
})
