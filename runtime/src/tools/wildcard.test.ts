import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { matchesWildcard, PathWildcard } from './wildcard.ts'

const letters = fc.string({ unit: fc.constantFrom('a', 'b', ';', '*'), maxLength: 8 })

function byRegExp(pattern: string, text: string, star: string): boolean {
  const source = pattern.split('*').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return new RegExp(`^${source.join(star)}$`, 's').test(text)
}

describe('names and commands', () => {
  test('a star stands for any run of characters', () => {
    fc.assert(
      fc.property(letters, letters, (pattern, text) => matchesWildcard(pattern, text) === byRegExp(pattern, text, '.*')),
      { numRuns: 2_000 },
    )
  })

  test('a star never covers a barred character, wherever stars and bars lie', () => {
    const agrees = (pattern: string, text: string) => matchesWildcard(pattern, text, /[;]/) === byRegExp(pattern, text, '[^;]*')
    fc.assert(fc.property(letters, letters, agrees), { numRuns: 5_000 })
  })

  test('what has no star stands for itself, and nothing else', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (pattern, text) => {
        fc.pre(!pattern.includes('*'))
        expect(matchesWildcard(pattern, pattern)).toBe(true)
        expect(matchesWildcard(pattern, text)).toBe(pattern === text)
      }),
    )
  })
})

/** The grammar once more, as it is read aloud: slow, and without a thought of how it could be quick. */
function reads(pattern: string, path: string, crosses: boolean, atName = true): boolean {
  const cuts = Array.from({ length: path.length + 1 }, (_, at) => at)
  const directories = atName ? /^\*\*+\//.exec(pattern)?.[0] : undefined
  if (directories !== undefined)
    return cuts.some((at) => (at === 0 || path[at - 1] === '/') && reads(pattern.slice(directories.length), path.slice(at), crosses))
  if (/^\/\*\*+$/.test(pattern)) return path === '' || path.startsWith('/')
  const stars = /^\*+/.exec(pattern)?.[0] ?? ''
  const covers = (at: number) => crosses || stars.length > 1 || !path.slice(0, at).includes('/')
  if (stars !== '') return cuts.some((at) => covers(at) && reads(pattern.slice(stars.length), path.slice(at), crosses, false))
  if (pattern === '' || path === '') return pattern === path
  return pattern[0] === path[0] && reads(pattern.slice(1), path.slice(1), crosses, pattern[0] === '/')
}

function readsWide(pattern: string, path: string): boolean {
  const anywhere = pattern.includes('/') ? pattern : `**/${pattern}`
  const directories = [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index))
  return [...directories, path].some((place) => reads(anywhere, place, true))
}

describe('paths', () => {
  const narrow = (pattern: string, path: string) => new PathWildcard(pattern, 'narrow').matches(path)
  const wide = (pattern: string, path: string) => new PathWildcard(pattern, 'wide').matches(path)
  const pattern = fc
    .array(fc.constantFrom('a', 'b', '/', '*', '**', '**/', '/**', '***', '.'), { maxLength: 6 })
    .map((pieces) => pieces.join(''))
  const path = fc.array(fc.constantFrom('a', 'b', 'ab', '/', '/', '.'), { maxLength: 7 }).map((pieces) => pieces.join(''))

  test('both readings are those of the grammar', () => {
    fc.assert(
      fc.property(pattern, path, (given, text) => {
        expect(narrow(given, text)).toBe(reads(given, text, false))
        expect(wide(given, text)).toBe(readsWide(given, text))
      }),
      { numRuns: 20_000 },
    )
  })

  test('the wide reading takes all that the narrow one takes, and all below it', () => {
    fc.assert(
      fc.property(pattern, path, path, (given, text, below) => {
        if (!narrow(given, text)) return
        expect(wide(given, text)).toBe(true)
        expect(wide(given, `${text}/${below}`)).toBe(true)
      }),
      { numRuns: 10_000 },
    )
  })

  test.each([
    // pattern, path, narrow, wide
    ['src/*', 'src/a.ts', true, true],
    ['src/*', 'src/a/b.ts', false, true],
    ['src/*', 'src', false, false],
    ['src/**', 'src/a/b.ts', true, true],
    ['src/**', 'src', true, true],
    ['src/**', 'srcs/a', false, false],
    ['src/**/*.ts', 'src/a.ts', true, true],
    ['src/**/*.ts', 'src/a/b/c.ts', true, true],
    ['**/*.ts', 'a.ts', true, true],
    ['*.env', '.env', true, true],
    ['*.env', 'a/.env', false, true],
    ['.env', 'a/b/.env', false, true],
    ['.env', 'a/.env/b', false, true],
    ['.env', 'a.env', false, false],
    ['secrets', 'secrets/key', false, true],
    ['a/secrets', 'b/a/secrets', false, false],
    ['a/secrets', 'a/secrets/key', false, true],
    ['**', '../x', true, true],
    ['*', 'a', true, true],
    ['*', 'a/b', false, true],
    ['/**', '/etc/passwd', true, true],
    ['[ab]?{c}', 'a', false, false],
    ['[ab]?{c}', '[ab]?{c}', true, true],
  ])('%s on %s: narrow %s, wide %s', (given, text, isNarrow, isWide) => {
    expect([narrow(given, text), wide(given, text)]).toEqual([isNarrow, isWide])
  })
})

test('a hostile pattern costs no more than pattern times text', () => {
  expect(matchesWildcard(`${'a*'.repeat(200)}b`, 'a'.repeat(20_000))).toBe(false)
  expect(new PathWildcard(`${'**/*a'.repeat(100)}b`, 'wide').matches('a/'.repeat(2_000))).toBe(false)
})
