import { afterAll, beforeAll, expect, test } from 'vitest'
import { Executable } from '../../runtime/src/cli/executable.fixture.ts'
import { byHand, frames, longest, seed } from './extent.mjs'
import { longCase, problemsOfProcess, ServerProcess } from './server-process.mjs'
import { Tally } from './tally.mjs'

/** Of one process. */
const each = 1500
const processes = Math.max(1, Math.ceil(frames(each * 20) / 20 / each))

let executable
beforeAll(async () => {
  executable = await Executable.build()
}, 60_000)
afterAll(() => executable.remove())

test(
  `FR-2, FR-5: ${processes} of the bundled servers keep their word through ${each} frames of anything each (seed ${seed})`,
  async () => {
    const tally = new Tally()
    for (let i = 0; i < processes; i += 1) {
      const first = 1_000_000 + i * each
      const server = new ServerProcess(executable, `store-${i}`)
      const problems = await problemsOfProcess(server, longCase(seed, first, each, executable.home), tally)
      expect(problems, `seed ${seed}, cases from index ${first} on, in one connection`).toEqual([])
      tally.cases += 1
    }
    if (byHand) console.log(tally.text('bundled server'))
  },
  longest(processes * each),
)
