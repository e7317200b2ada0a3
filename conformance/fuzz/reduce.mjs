// Owns the taking apart of a scenario, so that what failed can be told in few steps: each piece may be left out.
import { SdkOracle } from './sdk-oracle.mjs'

/** The steps, every frame that is sent in a step of its own. */
export function atoms(steps) {
  return steps.flatMap((step) => {
    if (step.do !== 'send') return [step]
    const lines = step.bytes.toString('latin1').match(/[^\n]*\n|[^\n]+$/g) ?? []
    return lines.map((line) => ({ do: 'send', bytes: Buffer.from(line, 'latin1'), cuts: [] }))
  })
}

/** What is left of a scenario, and what must become of its calls; the opening and the end stay. */
export function reduced({ limit, steps }, kept, language) {
  const pieces = atoms(steps)
  const wanted = new Set(kept)
  const left = pieces.filter((step, i) => wanted.has(i) || mustStay(step, i, pieces))
  return told({ limit, steps: left }, language)
}

/** Places of the pieces that may be left out. */
export function removable({ steps }) {
  return atoms(steps).flatMap((step, i, pieces) => (mustStay(step, i, pieces) ? [] : [i]))
}

/** The first that is sent is the greeting, mostly. */
const mustStay = (step, i, pieces) => step.do === 'end' || step.name === 'open' || i === pieces.findIndex((each) => each.do === 'send')

/**
 * What must become of each call of a scenario, or of what is left of one: steps that no longer can be are left out.
 * @param {{ limit: number, steps: object[] }} scenario
 */
export function told({ limit, steps }, language) {
  const oracle = new SdkOracle({ language, limit })
  const kept = steps.filter((step) => oracle.step(step))
  return { limit, steps: kept, expect: oracle.outcomes(), refused: oracle.refused, prompts: oracle.prompts }
}
