import { expect, it } from 'vitest'
import { chance, chosenPoints, everyPoint, familyOf, fewPoints, NEVER, namedIn, prefixesOf, recording } from './matrix.mjs'
import { singles } from './scenarios.mjs'
import { ends } from './scenarios-of-ends.mjs'

const points = ['a:x#1', 'b#1', 'a:y+z#1', 'b#2', 'c:d#1', 'b#3', 'a:x#2']

it('a point belongs to the family of its name', () => {
  expect(points.map(familyOf)).toEqual(['a', 'b', 'a', 'b', 'c', 'b', 'a'])
})

it('the points of a source are found, with and without a detail', () => {
  const source = "import { failpoint } from 'x'\nfailpoint('a.b')\n  failpoint('c', () => name)\nfailpointFor('d')"
  expect(namedIn(source)).toEqual(['a.b', 'c'])
})

it('a share holds the first, the last and every family, in order, the same for the same seed', () => {
  for (let seed = 0; seed < 20; seed += 1) {
    const chosen = chosenPoints(points, chance(seed))
    expect(chosen).toEqual(points.filter((point) => chosen.includes(point)))
    expect(chosen).toEqual(expect.arrayContaining(['a:x#1', 'c:d#1', 'a:x#2']))
    expect(new Set(chosen.map(familyOf)).size).toBe(3)
    expect(chosenPoints(points, chance(seed))).toEqual(chosen)
  }
})

it('a small share holds the first, the last and so many more, as far as there are', () => {
  expect(fewPoints(points, 2, chance(1))).toHaveLength(4)
  expect(fewPoints(points, 99, chance(1))).toEqual(points)
})

it('a scenario may leave points out where nobody died before, and has its beginnings recorded', () => {
  expect(everyPoint({ only: /^b/ }, [], points)).toEqual(['b#1', 'b#2', 'b#3'])
  expect(everyPoint({ only: /^b/ }, ['x#1'], points)).toEqual(points)
  expect(prefixesOf({ second: [['x#1']] })).toEqual([[], ['x#1']])
  expect([recording([]), recording(['x#1'])]).toEqual([[], ['x#1', NEVER]])
})

it('chance is even enough, and differs from seed to seed', () => {
  const random = chance(3)
  const drawn = Array.from({ length: 1000 }, () => random())
  expect(Math.min(...drawn)).toBeGreaterThanOrEqual(0)
  expect(Math.max(...drawn)).toBeLessThan(1)
  expect(drawn.reduce((sum, value) => sum + value, 0) / 1000).toBeCloseTo(0.5, 1)
  expect(chance(4)()).not.toBe(chance(3)())
})

it('every scenario has a name of its own, and says what it shows', () => {
  const all = [...singles, ...ends]
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length)
  for (const { shows } of all) expect(Array.isArray(shows)).toBe(true)
})
