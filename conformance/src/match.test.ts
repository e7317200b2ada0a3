import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from './case.ts'
import { HarnessError } from './harness-error.ts'
import { isEqual, mismatches, operatorNames } from './match.ts'

const fits = (expected: Json, actual: unknown) => mismatches(expected, actual).length === 0

describe('a matcher', () => {
  it('fits what it was made of, and no value that differs', () => {
    const plain = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value).replaceAll('$', 'S')) as Json)
    fc.assert(fc.property(plain, (value) => fits(value, value)))
    fc.assert(fc.property(plain, plain, (a, b) => fits({ $exact: a }, b) === isEqual(a, b)))
  })

  it.each<[string, Json, unknown, boolean]>([
    ['an object may say less', { a: 1 }, { a: 1, b: 2 }, true],
    ['but not something else', { a: 1 }, { a: 2 }, false],
    ['nor what is not there', { a: null }, {}, false],
    ['a list is whole', [1], [1, 2], false],
    ['null is a value', null, undefined, false],
    ['$any', { $any: true }, null, true],
    ['$any', { $any: true }, undefined, false],
    ['$absent', { a: { $absent: true } }, {}, true],
    ['$absent', { a: { $absent: true } }, { a: null }, false],
    ['$type', { $type: 'integer' }, 3, true],
    ['$type', { $type: 'integer' }, 3.5, false],
    ['$type', { $type: 'array' }, [], true],
    ['$exact', { $exact: { a: 1 } }, { a: 1, b: 2 }, false],
    ['$keys', { $keys: ['b', 'a'] }, { a: 1, b: 2 }, true],
    ['$keys', { $keys: ['a'] }, { a: 1, b: 2 }, false],
    ['$matches', { $matches: '^a+$' }, 'aaa', true],
    ['$matches', { $matches: '^a+$' }, 'aab', false],
    ['$oneOf', { $oneOf: [1, { a: 2 }] }, { a: 2, b: 3 }, true],
    ['$oneOf', { $oneOf: [1, 2] }, 3, false],
    ['$not', { $not: 1 }, 2, true],
    ['$not', { $not: 1 }, 1, false],
    ['$length', { $length: 2 }, 'ab', true],
    ['$length', { $length: { $atLeast: 3 } }, [1, 2], false],
    ['$first', { $first: { a: 1 } }, [{ a: 1 }, 2], true],
    ['$first', { $first: 1 }, [], false],
    ['$last', { $last: 3 }, [1, 2, 3], true],
    ['$atMost', { $atMost: 3 }, 4, false],
    ['$unordered', { $unordered: [{ a: 2 }, { a: 1 }] }, [{ a: 1 }, { a: 2 }], true],
    ['$unordered', { $unordered: [1, 1] }, [1, 2], false],
    ['$unordered', { $unordered: [1] }, [1, 2], false],
    ['$inOrder', { $inOrder: [1, 3] }, [1, 2, 3], true],
    ['$inOrder', { $inOrder: [3, 1] }, [1, 2, 3], false],
    ['$every', { $every: { a: 1 } }, [{ a: 1 }, { a: 1, b: 2 }], true],
    ['$every', { $every: 1 }, [1, 2], false],
    ['$none', { $none: 3 }, [1, 2], true],
    ['$none', { $none: 3 }, undefined, false],
    ['$at', { $at: ['a.b[1]', 2] }, { a: { b: [1, 2] } }, true],
    ['$at', { $at: ['a.b.last', 1] }, { a: { b: [1, 2] } }, false],
    ['$count', { $count: [{ a: 1 }, 2] }, [{ a: 1 }, { a: 1 }, { a: 2 }], true],
    ['$count', { $count: [1, 0] }, [1], false],
    ['$all', { $all: [{ a: 1 }, { b: 2 }] }, { a: 1, b: 2 }, true],
    ['$all', { $all: [{ a: 1 }, { b: 2 }] }, { a: 1, b: 3 }, false],
  ])('%s', (_, expected, actual, verdict) => {
    expect(fits(expected, actual)).toBe(verdict)
  })

  it('names the place of each difference', () => {
    expect(mismatches({ a: [{ b: 1 }, { b: 2 }] }, { a: [{ b: 1 }, { b: 3 }] })).toEqual([{ path: 'a[1].b', why: 'expected 2, got 3' }])
  })

  it('refuses what is no matcher: a misspelt one would hold for nothing, or for everything', () => {
    expect(() => mismatches({ $lenght: 1 }, [])).toThrow(HarnessError)
    expect(() => mismatches({ $any: true, $type: 'text' }, 1)).toThrow(/stand alone/)
    expect(() => mismatches({ $oneOf: 1 }, 1)).toThrow(/needs a list/)
  })

  it('has a test for each', () => {
    const source = new Set([
      '$any',
      '$absent',
      '$type',
      '$exact',
      '$keys',
      '$matches',
      '$oneOf',
      '$not',
      '$length',
      '$first',
      '$last',
      '$atLeast',
      '$atMost',
    ])
    for (const name of ['$unordered', '$inOrder', '$every', '$none', '$at', '$count', '$all']) source.add(name)
    expect(new Set(operatorNames)).toEqual(source)
  })
})
