import fc from 'fast-check'
import { expect, test } from 'vitest'
import { matchesWildcard } from './wildcard.ts'

const letters = fc.string({ unit: fc.constantFrom('a', 'b', ';', '*'), maxLength: 8 })

function byRegExp(pattern: string, text: string, star: string): boolean {
  const source = pattern.split('*').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return new RegExp(`^${source.join(star)}$`, 's').test(text)
}

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

test('a hostile pattern costs no more than pattern times text', () => {
  expect(matchesWildcard(`${'a*'.repeat(200)}b`, 'a'.repeat(20_000))).toBe(false)
})
