// Owns the taking apart of a scenario, so that what failed can be told in few steps: each piece may be left out.
import { told } from './sdk-scenarios.mjs'

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
  const left = pieces.filter((step, i) => wanted.has(i) || mustStay(step))
  return told({ limit, steps: left }, language)
}

/** Places of the pieces that may be left out. */
export function removable({ steps }) {
  return atoms(steps).flatMap((step, i) => (mustStay(step) ? [] : [i]))
}

const mustStay = (step) => step.do === 'end' || step.name === 'open'
