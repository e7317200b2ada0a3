// Random schedules of clients, models, tools, crashes, stalls and failing stores against the real inbox, driver, log and store on up to
// three runtimes: whatever is committed and answered is a step of the reference model.
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { World } from './gated-world.fixture.ts'
import { type Scenario, type Step, scenario, schedule } from './schedules.fixture.ts'

vi.mock('node:timers/promises', async () => ({ setImmediate: (await import('./gates.fixture.ts')).GatedTicks.endOfTick }))

/** Schedules are played until so many moves were made. */
const MOVES = Number(process.env.QUIESCE_STEPS ?? 100_000)
/** Schedules come from this seed and the ones behind it, so many from each: the same in every run, unless another one is given. */
const { QUIESCE_SEED = '1' } = process.env
const FIRST_SEED = QUIESCE_SEED === 'random' ? Math.floor(Math.random() * 0x7fff_0000) : Number(QUIESCE_SEED)
const BATCH = 100

async function play(setting: Scenario, steps: readonly Step[], tracing: boolean): Promise<World> {
  const world = new World(setting, tracing)
  const { broken } = world.observed
  for (const step of steps) {
    await world.step(step)
    if (broken.length > 0) return world
  }
  await world.rest()
  if (broken.length === 0) await world.close()
  return world
}

test(`${MOVES} random moves: every commit and answer is a step of the reference model, and everything comes to rest`, async () => {
  let [played, moves] = [0, 0]
  const started = performance.now()
  const property = fc.asyncProperty(scenario, schedule, async (setting, steps) => {
    const world = await play(setting, steps, false)
    played += 1
    moves += world.moves
    expect(world.observed.broken).toEqual([])
  })
  for (let seed = FIRST_SEED; moves < MOVES; seed += 1) {
    const { counterexample } = await fc.check(property, { seed, numRuns: BATCH })
    if (counterexample === null) continue
    const { trace, observed } = await play(...counterexample, true)
    const told = observed.broken.map((what) => `=> ${what}`)
    throw new Error([`QUIESCE_SEED=${seed}, schedule ${played}`, JSON.stringify(counterexample[0]), ...trace, ...told].join('\n'))
  }
  const rate = Math.round(moves / ((performance.now() - started) / 1000))
  process.stdout.write(`${moves} moves in ${played} schedules, ${rate} a second\n`)
}, 900_000)
