import { expect, it } from 'vitest'
import { Values, valueAt } from './values.ts'

it.each([
  ['a.b', 2],
  ['a.list[1].c', 4],
  ['a.list.first.c', 3],
  ['a.list.last.c', 4],
  ['a.list.length', 2],
  ['a.list[7].c', undefined],
  ['a.toString', undefined],
  ['b', undefined],
  ['a.b.c', undefined],
])('%s names %j', (path, value) => {
  expect(valueAt({ a: { b: 2, list: [{ c: 3 }, { c: 4 }] } }, path)).toEqual(value)
})

/** As it stands in a case. */
const named = (path: string) => `$${`{${path}}`}`

it('fills values into data: a whole text becomes the value, a part of one its text', () => {
  const values = new Values()
  values.set('a', { n: 1, text: 'x' })
  expect(
    values.filled({ whole: named('a'), part: `n is ${named('a.n')}, text is ${named('a.text')}`, list: [named('a.n')], other: true }),
  ).toEqual({
    ...{ whole: { n: 1, text: 'x' }, part: 'n is 1, text is x', list: [1], other: true },
  })
})

it('refuses a name that no step left behind', () => {
  expect(() => new Values().filled(named('nobody.id'))).toThrow(/nobody\.id.*names nothing/)
})
