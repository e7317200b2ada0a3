// Owns a run of many cases against servers in memory: one runtime for many connections, looked over now and then, replaced where it
// was told to stop. Ends at the first failure, made small.
import { clientCase } from './client-cases.mjs'
import { HeapWatch } from './heap.mjs'
import { limits, ServerPlace } from './server-place.mjs'
import { runCase } from './server-run.mjs'
import { shrunk, signature, simplerFrames } from './shrink.mjs'
import { Tally } from './tally.mjs'

/** Cases between two looks at the whole runtime, and looks between two at the memory. */
const lookEvery = 40
const measureEvery = 2
/** Megabytes by which a runtime may grow whose sessions are all deleted: their ids are remembered. */
const mostGrowth = 32

/**
 * @param {{ seed: number, frames: number, folder: string }} options `folder`: where sessions work
 * @returns {Promise<Tally>} rejects with what failed, and how to have it again
 */
export async function fuzzServer({ seed, frames, folder }) {
  const tally = new Tally()
  const place = { folder, maxFrameBytes: limits.maxFrameBytes, mayStop: true }
  const heap = new HeapWatch({ mostGrowth, warmUp: 2 })
  let server = new ServerPlace()
  let looks = 0
  for (let index = 0; tally.frames < frames; index += 1) {
    const sent = clientCase(seed, index, place)
    const problems = await problemsOf(server, sent, tally)
    tally.cases += 1
    if (problems.length > 0) throw await failure(`seed ${seed}, index ${index}`, sent, problems)
    if (!server.stopped && index % lookEvery !== lookEvery - 1) continue
    const left = await server.lookOver()
    if (left.length > 0) throw new Error(`after seed ${seed}, index ${index - lookEvery + 1} to ${index}: ${left.join('\n')}`)
    if (server.stopped) server = new ServerPlace()
    looks += 1
    const grown = looks % measureEvery === 0 ? heap.look() : ''
    if (grown !== '') throw new Error(`after seed ${seed}, index 0 to ${index}: ${grown}`)
  }
  await server.close()
  return tally
}

/** What is wrong with a server's answers to a case, and with the server while it gave them. */
export async function problemsOf(server, sent, tally = new Tally()) {
  const { problems } = await runCase(server, sent, limits, tally)
  return [...problems, ...server.faults.splice(0)]
}

/** The same against a server of its own. */
export async function problemsAlone(sent) {
  const server = new ServerPlace()
  const problems = await problemsOf(server, sent)
  return [...problems, ...(await server.lookOver()), ...server.faults.splice(0)]
}

async function failure(where, { parts, cuts }, problems) {
  const same = signature(problems)
  const fails = async (some, at) => signature(await problemsAlone({ parts: some, cuts: at })) === same
  const first = (await fails(parts, cuts)) ? cuts : (await fails(parts, [])) ? [] : null
  const least = first === null ? parts : await shrunk(parts, (some) => fails(some, some === parts ? first : []), simplerFrames)
  const again = first === null ? '\n(not on a server of its own)' : ''
  const shown = least.map((part) => JSON.stringify(part.toString('latin1')).slice(0, 2000)).join('\n')
  return new Error(`${where}: ${problems.slice(0, 3).join('\n')}${again}\nthe least that fails, as latin1:\n${shown}`)
}
