// Owns which kills there are: every point that a recorded run met, or a choice of them that stands for all; and what is picked by chance.

/** A point that no run meets: its run goes to its end, and another one follows. */
export const NEVER = 'never#1'

/** What stands before the last kill: nothing, or the kills of the runs before. */
export const prefixesOf = ({ second = [] }) => [[], ...second]

/** The kills that record the points of the run behind a prefix. */
export const recording = (prefix) => (prefix.length === 0 ? [] : [...prefix, NEVER])

/** A point without what it is about, and how often it was met. */
export const familyOf = (point) => point.slice(0, point.search(/[:#]/))

/** The families of points that a source text names. */
export const namedIn = (source) => [...source.matchAll(/\bfailpoint\(\s*'([^']+)'/g)].map(([, name]) => name)

/** Every point behind a prefix at which a scenario wants to be killed. */
export function everyPoint({ only }, prefix, points) {
  return prefix.length === 0 && only !== undefined ? points.filter((point) => only.test(point)) : points
}

/** The first, the last, and one of each family, by chance. In order. */
export function chosenPoints(points, random) {
  const chosen = new Set([points[0], points.at(-1)])
  for (const family of new Set(points.map(familyOf)))
    chosen.add(
      pick(
        points.filter((point) => familyOf(point) === family),
        random,
      ),
    )
  return points.filter((point) => chosen.has(point))
}

/** The first, the last and some more, by chance. In order. */
export function fewPoints(points, more, random) {
  const chosen = new Set([points[0], points.at(-1)])
  const left = points.filter((point) => !chosen.has(point))
  for (let i = 0; i < more && left.length > 0; i += 1) chosen.add(left.splice(Math.floor(random() * left.length), 1)[0])
  return points.filter((point) => chosen.has(point))
}

const pick = (list, random) => list[Math.floor(random() * list.length)]

/** The same numbers for the same seed (mulberry32). */
export function chance(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
