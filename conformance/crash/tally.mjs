// Owns what is counted of the crash suite and how it is said; and that a suite in which nothing broke counts as a failure.
import { isDeepStrictEqual } from 'node:util'

export class Tally {
  played = 0
  failed = 0
  missed = 0
  /** What happened in the cases, by name: how often. */
  happened = new Map()
  #scenarios = new Map()

  points(name, points) {
    const scenario = this.#of(name)
    scenario.ordinals += points.length
    for (const point of points) scenario.names.add(point.slice(0, point.lastIndexOf('#')))
  }

  /** Counts a case, and says what is wrong with it. */
  add(name, { kills, variant, story, wrong, missed }) {
    const scenario = this.#of(name)
    this.played += 1
    scenario.played += 1
    if (missed) {
      this.missed += 1
      scenario.missed.push(kills.at(-1))
    }
    scenario.died += story.runs.flatMap(({ ends }) => ends ?? []).filter(({ signal }) => signal === 'SIGKILL').length
    for (const what of happenings(story)) this.happened.set(what, (this.happened.get(what) ?? 0) + 1)
    const all = [...wrong, ...(kills.length === 0 && wrong.length === 0 ? notShown(story) : [])]
    if (all.length === 0) return
    this.failed += 1
    scenario.failed += 1
    const again = [
      'node conformance/crash/crash.mjs',
      `--scenario ${name}`,
      `--variant ${variant}`,
      ...kills.map((kill) => `--kill '${kill}'`),
    ]
    console.log(`FAILED  ${again.join(' ')}\n        ${all.slice(0, 8).join('\n').replaceAll('\n', '\n        ')}`)
  }

  /** The families of points that were met. */
  get families() {
    return new Set([...this.#scenarios.values()].flatMap(({ names }) => [...names]).map((name) => name.split(':')[0]))
  }

  #of(name) {
    if (!this.#scenarios.has(name)) this.#scenarios.set(name, { names: new Set(), ordinals: 0, played: 0, died: 0, failed: 0, missed: [] })
    return this.#scenarios.get(name)
  }

  print(seconds) {
    for (const [name, { names, ordinals, played, died, failed, missed }] of this.#scenarios) {
      const misses = missed.length === 0 ? '' : `, ${missed.length} missed (${missed.join(' ')})`
      console.log(`${name}: ${names.size} points, ${ordinals} times met; ${played} cases, ${died} kills${misses}; ${failed} failed`)
    }
    const all = [...this.#scenarios.values()]
    const sum = (key) => all.reduce((total, scenario) => total + scenario[key], 0)
    console.log(`all: ${new Set(all.flatMap(({ names }) => [...names])).size} points, ${sum('ordinals')} times met; ${sum('died')} kills`)
    console.log(`met: ${[...this.happened].map(([what, count]) => `${count} ${what}`).join(', ')}`)
    console.log(`in ${seconds.toFixed(0)} s`)
  }
}

const isLost = ({ answer, toBeRefused }) => answer === undefined && !toBeRefused

/** What a kill can leave; a suite that never meets one of them proves nothing about it. */
const expected = {
  'a prompt whose receipt was kept and whose answer was lost': ({ runs, sent }) => {
    const lost = sent('session/prompt').filter(isLost)
    const left = runs.flatMap((run) => [...run.left.values()]).flatMap((facts) => facts ?? [])
    return lost.some(({ params }) => left.some(({ type, data }) => type === 'inbox/receipt' && data.message.id === params.messageId))
  },
  'a prompt that was lost before it was kept': ({ runs, sent }) => {
    const lost = sent('session/prompt').filter(isLost)
    return lost.some(
      ({ params }) =>
        !runs.some(({ left }) => (left.get(params.sessionId) ?? []).some(({ data }) => data.message?.id === params.messageId)),
    )
  },
  'a call that had not started': ({ facts }) => facts.some(({ data }) => data.error?.code === 'tool_not_started'),
  'a call whose outcome is unknown': ({ facts }) => facts.some(({ data }) => data.error?.code === 'tool_outcome_unknown'),
  'an unknown outcome that had taken effect': ({ final, effects }) =>
    [...final.values()].some((session) =>
      [...(session?.reading.allCalls.values() ?? [])].some(
        ({ input, result }) =>
          result?.error?.code === 'tool_outcome_unknown' && effects.includes(/echo (\S+) >>/.exec(input?.command ?? '')?.[1]),
      ),
    ),
  'an interrupted turn that went on': ({ facts }) => facts.some(({ data }) => data.trigger?.kind === 'recovery'),
  'a cancelled turn that a recovery closed': ({ runs }) =>
    runs.some(({ left }) =>
      [...left.values()].some((log) => {
        const cancel = log?.findLast(({ type }) => type === 'agent/cancel')
        return cancel !== undefined && !log.some(({ type, seq }) => type === 'turn/end' && seq > cancel.seq)
      }),
    ),
  'a recovery that was given up': ({ facts }) => facts.some(({ data }) => data.reason?.error?.code === 'recovery_exhausted'),
  'an idle that was owed': ({ runs }) =>
    runs.some(({ left }) =>
      [...left.values()].some((log) => log?.at(-1)?.type === 'inbox/receipt' || log?.at(-1)?.type === 'inbox/cancelled'),
    ),
  'a file on its way': ({ temporaryFiles }) => temporaryFiles.length > 0,
}

function happenings(story) {
  const facts = [...story.final.values()].flatMap((session) => session?.facts ?? [])
  const seen = { ...story, facts }
  return Object.keys(expected).filter((what) => expected[what](seen))
}

/** What no case met. */
export function vacuous({ happened }) {
  return Object.keys(expected)
    .filter((what) => !happened.has(what))
    .map((what) => `no case met ${what}`)
}

/** What a scenario says that its log holds, and it doesn't. */
function notShown({ scenario, final }) {
  const labels = [...final.values()].flatMap((session) => session?.facts ?? []).flatMap(labelsOf)
  return scenario.shows
    .filter((label, i) => {
      const wanted = scenario.shows.filter((other, j) => j <= i && isDeepStrictEqual(other, label)).length
      return labels.filter((found) => found === label).length < wanted
    })
    .map((label) => `the scenario shows no ${label}`)
}

function labelsOf({ type, data }) {
  if (type === 'turn/end') return [type, `${type} ${data.reason.kind}`]
  if (type === 'turn/start') return [type, `${type} ${data.trigger.kind}`]
  if (type === 'tool/result') return [type, `${type} ${data.error?.code ?? 'ok'}`]
  if (type === 'assistant/message') return [type, ...(data.interrupted ? [`${type} interrupted`] : [])]
  if (type === 'inbox/admitted' || type === 'inbox/cancelled') return [type, `${type} ${data.messageId}`]
  return [type]
}
