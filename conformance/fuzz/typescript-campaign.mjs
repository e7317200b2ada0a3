// Owns a run of many scenarios against the TypeScript SDK in this process. Ends at the first failure, made small.
import { HeapWatch } from './heap.mjs'
import { reduced, removable } from './reduce.mjs'
import { sdkScenario } from './sdk-scenarios.mjs'
import { shrunk, signature } from './shrink.mjs'
import { Tally } from './tally.mjs'
import { playTypescript } from './typescript-player.mjs'

const language = 'typescript'
/** Scenarios between two looks at the memory, and the megabytes by which it may grow. */
const lookEvery = 60
const mostGrowth = 24

/** @param {{ seed: number, frames: number }} options @returns {Promise<Tally>} */
export async function fuzzTypescript({ seed, frames }) {
  const tally = new Tally()
  const heap = new HeapWatch({ mostGrowth, warmUp: 2 })
  for (let index = 0; tally.frames < frames; index += 1) {
    const scenario = sdkScenario(seed, index, language)
    const problems = await problemsOf(scenario)
    tally.cases += 1
    tally.frames += Object.values(scenario.kinds).reduce((sum, count) => sum + count, 0)
    tally.merge('sent', Object.entries(scenario.kinds))
    for (const { error } of Object.values(scenario.expect)) tally.count(`calls: ${error ?? 'ok'}`)
    if (problems.length > 0) throw await failure(`seed ${seed}, index ${index}`, scenario, problems)
    const grown = index % lookEvery === lookEvery - 1 ? heap.look() : ''
    if (grown !== '') throw new Error(`after seed ${seed}, index 0 to ${index}: ${grown}`)
  }
  return tally
}

/** What went wrong, an error that came out of the SDK's own reading included. */
export async function problemsOf(scenario) {
  try {
    return await playTypescript(scenario)
  } catch (error) {
    return [`thrown while bytes were read: ${error.stack}`]
  }
}

async function failure(where, scenario, problems) {
  const same = signature(problems)
  const fails = async (places) => signature(await problemsOf(reduced(scenario, places, language))) === same
  const places = removable(scenario)
  const isAlone = await fails(places)
  const least = reduced(scenario, isAlone ? await shrunk(places, fails) : places, language)
  const again = isAlone ? await problemsOf(least) : problems
  const steps = least.steps.map((step) =>
    JSON.stringify(step.do === 'send' ? { send: step.bytes.toString('latin1') } : step).slice(0, 2000),
  )
  return new Error(`${where}: ${again.slice(0, 3).join('\n')}\nthe least that fails, its bytes as latin1:\n${steps.join('\n')}`)
}
