import { posix } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PathPattern, Way } from './path-rules.ts'
import { PathWildcard } from './wildcard.ts'

const way = (path: string, cwd = '/w', roots = [cwd]) => new Way(posix.resolve(cwd, path), { cwd, roots })

describe('spellings of a pattern', () => {
  test.each([
    ['./src/**', 'src/a', true],
    ['src//x/./y', 'src/x/y', true],
    ['src/../lib/**', 'lib/a', true],
    ['src/', 'src/a/b', true],
    ['/w/src/**', 'src/a', true],
    ['/w/', 'a', true],
    ['/', '/etc/passwd', true],
    ['../other/**', '../other/a', true],
    ['**', '../other/a', true],
    ['**', '.', true],
    ['*', '../other', false],
    ['/other/**', 'other/a', false],
  ])('%s allows %s: %s', (pattern, path, expected) => {
    expect(new PathPattern(pattern).allows([way(path)])).toBe(expected)
  })
})

test('a file outside the working directory is named from its own root where a rule denies, and not where it allows', () => {
  const inSecondRoot = [way('/data/secrets/key', '/w', ['/w', '/data'])]
  expect(new PathPattern('secrets/**').concerns(inSecondRoot)).toBe(true)
  expect(new PathPattern('secrets/**').allows(inSecondRoot)).toBe(false)
  expect(new PathPattern('../data/secrets/**').allows(inSecondRoot)).toBe(true)
  expect(new PathPattern('/data/**').concerns(inSecondRoot)).toBe(true)
  expect(new PathPattern('data/**').concerns(inSecondRoot)).toBe(false)
  const besideRoot = [way('/data-old/key', '/w/a', ['/w/a', '/data'])]
  expect(new PathPattern('../data-old/**').concerns(besideRoot)).toBe(false)
})

test('of two ways to a file, one is enough to deny, and both are needed to allow', () => {
  const ways = [way('link/a'), way('secrets/a')]
  for (const pattern of ['link/**', 'secrets/**']) {
    expect(new PathPattern(pattern).concerns(ways)).toBe(true)
    expect(new PathPattern(pattern).allows(ways)).toBe(false)
  }
  expect(new PathPattern('**').allows(ways)).toBe(true)
})

test('whatever the pattern, the directories and the ways: allows and concerns are what they say', () => {
  const name = fc.constantFrom('a', 'b', '..', '.', '*')
  const pattern = fc
    .tuple(
      fc.constantFrom('', '/', './', '../'),
      fc.array(fc.constantFrom('a', 'b', '*', '**', '..', '.', ''), { minLength: 1, maxLength: 4 }),
    )
    .map(([start, names]) => start + names.join('/'))
    .filter((text) => text !== '')
  const directory = fc.array(fc.constantFrom('a', 'b'), { maxLength: 2 }).map((names) => `/${names.join('/')}`)
  const aPlace = fc
    .tuple(directory, fc.array(directory, { maxLength: 2 }), fc.array(name, { maxLength: 4 }))
    .map(([cwd, roots, names]) => ({ path: posix.resolve(cwd, names.join('/')), cwd, roots: [cwd, ...roots] }))
  fc.assert(
    fc.property(pattern, fc.array(aPlace, { minLength: 1, maxLength: 2 }), (given, places) => {
      const ways = places.map((place) => new Way(place.path, place))
      const normal = posix.normalize(given).replace(/(?<=\/)$/, '**')
      const names = ({ path, cwd, roots }: (typeof places)[number]) => [
        path,
        ...(normal.startsWith('/')
          ? []
          : [cwd, ...roots].filter((root) => root === cwd || !posix.relative(root, path).startsWith('..'))
        ).map((root) => posix.relative(root, path) || '.'),
      ]
      const wide = new PathWildcard(normal, 'wide')
      expect(new PathPattern(given).concerns(ways)).toBe(places.some((one) => names(one).some((path) => wide.matches(path))))
      const narrow = new PathWildcard(normal, 'narrow')
      const own = ({ path, cwd }: (typeof places)[number]) => (normal.startsWith('/') ? path : posix.relative(cwd, path) || '.')
      expect(new PathPattern(given).allows(ways)).toBe(places.every((one) => narrow.matches(own(one))))
      if (new PathPattern(given).allows(ways)) expect(new PathPattern(given).concerns(ways)).toBe(true)
    }),
    { numRuns: 5_000 },
  )
})
