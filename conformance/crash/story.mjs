// Owns one case from its first run to its last: a scenario is played, the runtime is killed where it is said, the next one takes
// over what it finds. Keeps all that was seen; judges nothing of it.
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { Client, Ended, Refused, RuntimeProcess } from './client.mjs'
import { LogReading } from './log-rules.mjs'
import { Place } from './place.mjs'

/** Only a case that hangs takes so long. */
const HUNG_MS = 60_000

const living = new Set()

/** Ends what all cases left running, at once: for a harness that is itself stopped. */
export function killAll() {
  for (const place of living) place.kill()
}

/** Plays a case; the answer is its story, see `Story`. Leaves nothing behind. */
export async function tell(scenario, kills, { bundle, scratch, cache, variant, killer }) {
  const mark = `${process.pid}-${Math.random().toString(36).slice(2)}`
  const place = new Place(mkdtempSync(join(scratch, 'case-')), { mark, cache, ...scenario })
  living.add(place)
  const story = new Story(scenario, kills, { bundle, place, variant, killer })
  let watchdog
  const hung = new Promise((resolve) => {
    watchdog = setTimeout(() => resolve('hung'), HUNG_MS)
  })
  try {
    const telling = story.tell()
    if ((await Promise.race([telling, hung])) === 'hung') {
      story.fail(`hung: ${story.awaited()}; left: ${place.survivors().join(' ') || 'no process'}`)
      telling.catch(() => undefined)
    }
    story.points = kills.concat(undefined).map((_, k) => place.points(k))
    story.effects = place.effects()
    story.files = Object.fromEntries((scenario.files ?? []).map(({ path }) => [path, place.read(path)]))
    story.temporaryFiles = place.temporaryFiles()
    return story
  } finally {
    clearTimeout(watchdog)
    await place.remove()
    living.delete(place)
  }
}

export class Story {
  /** One per start of a runtime: {k, kill, clients, processes, left, met}. `left`: the logs as the run before left them. */
  runs = []
  /** By session: {facts, messages, session, status} at the end, or null where there is none any more. */
  final = new Map()
  /** What the telling itself found wrong. */
  complaints = []
  damage = []

  constructor(scenario, kills, ports) {
    Object.assign(this, { scenario, kills, ...ports })
  }

  fail(why) {
    this.complaints.push(why)
  }

  async tell() {
    const { scenario, kills, place } = this
    if (scenario.shell) place.makeLives(kills.length + 2)
    await scenario.prepare?.(place)
    try {
      for (let k = 0; k <= kills.length; k += 1) {
        const last = k === kills.length
        const run = this.run(k)
        const isCommand = k > 0 && scenario.resumeBy === 'command' && k === 1 && !last
        await this.#perform(run, () =>
          k === 0 ? scenario.play(this.stage(k)) : isCommand ? scenario.again(this.stage(k)) : this.#resume(run, last),
        )
        if (this.complaints.length > 0) return
      }
      // Where nobody was killed, the play itself was the last run: another one looks at what it left.
      if (kills.length === 0) {
        const run = this.run(1)
        await this.#perform(run, () => this.#resume(run, true))
      }
      await this.#lifeOver(this.runs.length - 1)
      this.damage = place.damage()
    } catch (error) {
      this.fail(error.stack)
    } finally {
      await scenario.tidy?.(place)
    }
  }

  run(k) {
    this.runs[k] ??= { k, kill: this.kills[k], clients: [], processes: [], left: new Map() }
    return this.runs[k]
  }

  /** What a scenario plays with. */
  stage(k) {
    return {
      k,
      place: this.place,
      /** Starts a runtime that serves, as run `k`, or as one beside it. */
      launch: (options = {}) => this.#launch(options.k ?? k, options),
      /** Starts `quiesce run`. Its facts count as received. */
      command: (args) => this.#command(k, args),
    }
  }

  #launch(k, options) {
    const run = this.run(k)
    const start = this.place.start(k, { kill: run.kill, open: k > 0, ...this.scenario.start?.(this.place), ...options })
    const client = new Client(this.bundle, start)
    run.clients.push(client)
    this.#began(run, client.process)
    return client
  }

  #command(k, args) {
    const run = this.run(k)
    const facts = []
    const start = this.place.start(k, { kill: run.kill, open: true })
    const started = new RuntimeProcess(this.bundle, ['run', '--output', 'jsonl', ...args], start, (line) => facts.push(JSON.parse(line)))
    started.closeInput()
    const notifications = { get: () => facts.map((event) => ({ method: 'session.event', params: { sessionId: event.sessionId, event } })) }
    run.clients.push(Object.defineProperty({ calls: [], isCommand: true }, 'notifications', notifications))
    this.#began(run, started)
    return started
  }

  #began(run, started) {
    run.processes.push(started)
    this.place.processes.push(started)
    this.killer?.(run.k, started)
  }

  async #perform(run, body) {
    try {
      await body()
    } catch (error) {
      if (!(error instanceof Ended)) {
        this.fail(`run ${run.k}: ${error.stack}`)
        for (const started of run.processes) started.signal('SIGKILL')
      }
    }
    run.ends = await Promise.all(run.processes.map(({ ended }) => ended))
  }

  /** The next runtime: looks at what is left, goes on with it, says again what may not have been heard, and waits for the end. */
  async #resume(run, last) {
    const { scenario, place } = this
    const client = this.#launch(run.k, {})
    await client.begin()
    const ids = scenario.sessions ?? (await client.call('session/list')).sessions.map(({ sessionId }) => sessionId)
    const alive = []
    for (const sessionId of ids) {
      run.left.set(sessionId, await readLog(client, sessionId))
      if (run.left.get(sessionId) !== null || (await this.#createAgain(client, sessionId))) alive.push(sessionId)
    }
    for (const sessionId of alive) await this.#goOn(client, sessionId)
    for (const earlier of this.runs.slice(0, run.k))
      if (alive.length > 0) await client.meanwhile(`the end of the tools of run ${earlier.k}`, place.lifeOver(earlier.k))
    if (last) {
      for (const sessionId of ids) this.final.set(sessionId, await readSession(client, sessionId))
      await scenario.after?.(client, this.stage(run.k), this)
    }
    client.process.closeInput()
    await client.ended
  }

  /** A create that was sent and not answered may be sent again. */
  async #createAgain(client, sessionId) {
    const { params } = this.sent('session/create').find((call) => call.params.sessionId === sessionId && call.answer === undefined) ?? {}
    if (params === undefined || this.sent('session/delete').some((call) => call.params.sessionId === sessionId)) return false
    await client.call('session/create', params)
    return true
  }

  async #goOn(client, sessionId) {
    const subscribe = () => client.call('session/subscribe', { sessionId, after: 0, activate: true })
    let told = null
    if (this.variant === 'collect') {
      told = await subscribe()
      await client.settled(sessionId, told.seq)
    }
    for (const params of this.promptsOf(sessionId)) await promptAgain(client, params)
    told ??= await subscribe()
    // Every message has its receipt by now, and what came of it is either told or on its way.
    const { seq } = await client.call('session/status', { sessionId })
    await client.settled(sessionId, seq)
  }

  /** Calls of all clients so far. */
  sent = (method) => this.runs.flatMap(({ clients }) => clients.flatMap(({ calls }) => calls)).filter((call) => call.method === method)

  /** What was prompted and not refused, each once. */
  promptsOf(sessionId) {
    const isMeant = ({ params, answer, toBeRefused }) => params.sessionId === sessionId && !toBeRefused && !('error' in (answer ?? {}))
    const sent = this.sent('session/prompt').filter(isMeant)
    return [...new Map(sent.map(({ params }) => [params.messageId, params])).values()]
  }

  async #lifeOver(k) {
    for (let each = 0; each <= k; each += 1) await this.place.lifeOver(each)
  }

  /** For whoever reads of a case that hung. */
  awaited() {
    const run = this.runs.at(-1)
    const points = this.place.points(run.k)
    const waits = run.clients.flatMap((client) => client.awaited ?? [])
    return `run ${run.k} after ${points.at(-1)}, where ${waits.join(' and ') || 'nothing of a client'} was awaited`
  }
}

async function promptAgain(client, params) {
  try {
    await client.call('session/prompt', params)
  } catch (error) {
    // It was conditional, and never came through.
    if (!(params.expect === 'idle' && error instanceof Refused && error.code === 'session_busy')) throw error
  }
}

/** The whole log by way of session/events, which starts nothing; null where there is no such session. */
async function readLog(client, sessionId) {
  try {
    const facts = []
    for (;;) {
      const page = await client.call('session/events', { sessionId, after: facts.length, limit: 1000 })
      facts.push(...page.events)
      if (!page.more) return facts
    }
  } catch (error) {
    if (error instanceof Refused && error.code === 'session_not_found') return null
    throw error
  }
}

async function readSession(client, sessionId) {
  const facts = await readLog(client, sessionId)
  if (facts === null) return null
  const { messages } = await client.call('session/messages', { sessionId, limit: 1000 })
  const { session } = await client.call('session/get', { sessionId })
  return { facts, messages, session, status: await client.call('session/status', { sessionId }), reading: LogReading.of(facts) }
}
