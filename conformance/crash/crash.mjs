// Owns the run of the crash suite: `node crash.mjs` plays a share that stands for all, --full every point of every scenario, --kills N
// kills at random moments. Prints `N passed, N failed` as its last line; every failure with what plays it again.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { repository, walk } from '../checks/files.mjs'
import { judge } from './judge.mjs'
import { chance, chosenPoints, everyPoint, fewPoints, NEVER, namedIn, prefixesOf, recording } from './matrix.mjs'
import { singles } from './scenarios.mjs'
import { ends } from './scenarios-of-ends.mjs'
import { killAll, tell } from './story.mjs'
import { Tally, vacuous } from './tally.mjs'

const { values: options } = parseArgs({
  options: {
    full: { type: 'boolean', default: false },
    kills: { type: 'string' },
    scenario: { type: 'string', multiple: true },
    kill: { type: 'string', multiple: true },
    variant: { type: 'string' },
    seed: { type: 'string', default: '1' },
    each: { type: 'boolean', default: false },
    jobs: { type: 'string', default: '2' },
    bundle: { type: 'string', default: join(repository, 'runtime/dist/bundle/quiesce.js') },
  },
})

/** So many of the cases may miss the point where they were to die: which batches form, and which frames share a write, is chance. */
const MISSES = 0.05
const TRIES = 3

const scenarios = [...singles, ...ends].filter(({ name }) => options.scenario === undefined || options.scenario.includes(name))
const random = chance(Number(options.seed))
const scratch = mkdtempSync(join(tmpdir(), 'quiesce-crash-'))
const cache = join(scratch, 'cache')
const bundle = resolve(options.bundle)
const tally = new Tally()
const begun = performance.now()

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(130))
process.on('exit', () => {
  killAll()
  rmSync(scratch, { recursive: true, force: true })
})

/** Plays one case until it meets the points where it is to die, or has been tried often enough; and counts it. */
async function play(scenario, kills, more = {}) {
  const variant = options.variant ?? (tally.played % 2 === 0 ? 'collect' : 'prompt')
  for (let tried = 1; ; tried += 1) {
    const from = performance.now()
    const story = await tell(scenario, kills, { bundle, scratch, cache, variant, ...more })
    const wrong = judge(story)
    const missed = kills.some((kill, k) => kill !== NEVER && !kill.startsWith('@') && !story.points[k].includes(kill))
    if (missed && wrong.length === 0 && tried < TRIES) continue
    if (options.each) console.log(`${Math.round(performance.now() - from)} ms  ${scenario.name} ${variant} ${kills.join(' ')}`)
    tally.add(scenario.name, { kills, variant, story, wrong, missed })
    return story
  }
}

/** Works through a list, so many at once. */
async function each(list, work) {
  const waiting = [...list]
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await work(next)
  }
  await Promise.all(Array.from({ length: Number(options.jobs) }, worker))
}

/** Plays every scenario without a kill, and each of its beginnings, and answers the points that were met, and how long it took. */
async function record() {
  const beginnings = scenarios.flatMap((scenario) => prefixesOf(scenario).map((prefix) => ({ scenario, prefix })))
  await each(beginnings, async (beginning) => {
    const { scenario, prefix } = beginning
    const from = performance.now()
    const story = await play(scenario, recording(prefix))
    beginning.took = performance.now() - from
    beginning.points = everyPoint(scenario, prefix, story.points[prefix.length])
    tally.points(scenario.name, beginning.points)
  })
  return beginnings
}

function shareOf({ prefix, points }) {
  if (options.full || points.length === 0) return points
  return prefix.length === 0 ? chosenPoints(points, random) : fewPoints(points, 3, random)
}

async function matrix() {
  const beginnings = await record()
  const met = beginnings.flatMap((beginning) =>
    shareOf(beginning).map((point) => ({ scenario: beginning.scenario, kills: [...beginning.prefix, point] })),
  )
  const always = options.full ? [] : scenarios.flatMap((scenario) => (scenario.always ?? []).map((kills) => ({ scenario, kills })))
  await each([...always, ...met], ({ scenario, kills }) => play(scenario, kills))
}

/** Kills from outside, whenever it happens: the first runtime, and half of the times the one that takes over, too. */
async function randomKills(count) {
  const beginnings = (await record()).filter(({ prefix }) => prefix.length === 0)
  const cases = Array.from({ length: count }, (_, i) => ({
    ...beginnings[i % beginnings.length],
    kills: random() < 0.5 ? ['@0'] : ['@0', '@0'],
    delays: [random(), random()],
  }))
  await each(cases, ({ scenario, kills, took, delays }) => {
    const killer = (k, started) => {
      if (k >= kills.length) return
      const timer = setTimeout(() => started.signal('SIGKILL'), delays[k] * took * 0.7)
      started.ended.then(() => clearTimeout(timer))
    }
    return play(scenario, kills, { killer })
  })
}

/** A point that the runtime names and no scenario meets is one at which nobody was ever killed. */
function unmet() {
  const files = walk(repository, 'runtime/src').filter(({ path }) => /(?<!\.test|\.fixture)\.ts$/.test(path))
  const named = new Set(files.flatMap(({ path }) => namedIn(readFileSync(join(repository, path), 'utf8'))))
  return [...named].filter((name) => !tally.families.has(name)).map((name) => `no scenario meets the point ${name}`)
}

async function main() {
  if (!existsSync(bundle)) throw new Error(`${bundle} is not built: make build`)
  mkdirSync(cache)
  if (options.kill !== undefined) for (const scenario of scenarios) await play(scenario, options.kill)
  else if (options.kills !== undefined) await randomKills(Number(options.kills))
  else await matrix()
  tally.print((performance.now() - begun) / 1000)
  const missed =
    tally.missed > Math.max(3, tally.played * MISSES) ? [`${tally.missed} of ${tally.played} cases did not die where they were to`] : []
  const all = options.kill === undefined && options.scenario === undefined
  const problems = [...missed, ...(all ? [...vacuous(tally), ...unmet()] : [])]
  for (const problem of problems) console.log(`FAILED  ${problem}`)
  const failed = tally.failed + problems.length
  console.log(`${tally.played - tally.failed} passed, ${failed} failed`)
  process.exitCode = failed === 0 ? 0 : 1
}

await main()
