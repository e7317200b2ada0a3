import { describe, expect, test } from 'vitest'
import { expressionOf } from './expression.ts'

const plain = { literal: false, ignoreCase: false }

async function matches(pattern: string, text: string, options = plain): Promise<boolean> {
  const { source, flags } = await expressionOf(pattern, options)
  return new RegExp(source, flags).test(text)
}

describe('what is taken', () => {
  test.each([
    ['a+b', 'caab', true],
    ['\\p{Lu}\\p{Ll}', 'Éa', true],
    ['^.$', '😀', true],
    ['a\\-b', 'a-b', true],
    ['\\"x\\"', '"x"', true],
    ['interface{}', 'interface{}', true],
    ['foo\\(', 'foo(', true],
    ['[\\w-]+@', 'a-b@', true],
    ['\\bfoo\\b', 'a foo b', true],
    ['(?<=a)b', 'ab', true],
    ['(?i)FOO', 'foo', true],
    ['(?i)É', 'é', true],
    ['FOO', 'foo', false],
  ])('%s on %s: %s', async (pattern, text, expected) => {
    expect(await matches(pattern, text)).toBe(expected)
  })

  test('a literal is itself, whatever is in it', async () => {
    const text = 'a.b*c[d]{e}(f)|g\\h^i$j?k+l/m-n #&'
    expect(await matches(text, text, { literal: true, ignoreCase: false })).toBe(true)
    expect(await matches('a.b', 'axb', { literal: true, ignoreCase: false })).toBe(false)
    expect(await matches('(?i)a', '(?i)a', { literal: true, ignoreCase: false })).toBe(true)
    expect(await matches('A.B', 'a.b', { literal: true, ignoreCase: true })).toBe(true)
  })

  test('capital and small letters', async () => {
    expect(await matches('a\\-B', 'A-b', { literal: false, ignoreCase: true })).toBe(true)
  })
})

describe('what is refused, with its place', () => {
  test.each([
    ['(foo', 'Unterminated group, at character 5 (after "(foo", at its end)'],
    ['foo)bar', 'Unmatched \')\', at character 4 (after "foo", before ")bar")'],
    ['ab[c', 'Unterminated character class, at character 5 (after "ab[c", at its end)'],
    ['*.ts', 'Nothing to repeat, at character 2 (after "*", before ".ts")'],
    ['(?i)a**', 'Nothing to repeat, at character 8 (after "(?i)a**", at its end)'],
    ['[b-a]', 'Range out of order in character class'],
    ['\\p{Nothing}', 'Invalid property name'],
    ['\\p{L}\\-', 'Invalid escape'],
    ['\\Afoo', "\\A is not known in JavaScript's regular expressions, at character 1 (before "],
    ['foo\\z', '\\z is not known'],
    ['\\\\\\h', '\\h is not known in JavaScript\'s regular expressions, at character 3 (after "\\\\\\\\", before "\\\\h")'],
    ['[[:space:]]x', 'classes such as [:space:] are not known, write \\s, \\d, \\w or [A-Za-z], at character 2'],
    ['(?P<name>x)', 'Invalid group'],
    ['a{2,1}', 'numbers out of order in {} quantifier'],
    [`${'x'.repeat(50)})${'y'.repeat(50)}`, `(after "…${'x'.repeat(20)}", before ")${'y'.repeat(19)}…")`],
  ])('%s', async (pattern, words) => {
    await expect(expressionOf(pattern, plain)).rejects.toThrow(words)
    await expect(expressionOf(pattern, plain)).rejects.toThrow(/^the pattern is not a valid regular expression: .*set literal to true$/s)
  })
})
