// Owns one run of one case: its layer's steps, its watchdog, its verdict.
import { type Case, isObject, type JsonObject } from './case.ts'
import { commonSteps, expectNow, type StepRun, Unexpected } from './common-steps.ts'
import { Connection } from './connection.ts'
import { DriverConnection, needsBytes } from './driver-connection.ts'
import type { DriverProcess } from './driver-process.ts'
import { DriverLayer as Driven, type DriverLayer, Unsupported } from './driver-steps.ts'
import { ENDPOINT_VARIABLE, type Endpoints, endpointProgram } from './endpoint.ts'
import type { FrameSchema } from './frame-check.ts'
import { HarnessError } from './harness-error.ts'
import { isEqual, shown } from './match.ts'
import { PeerLayer } from './peer-steps.ts'
import { RawLayer } from './raw-steps.ts'
import { relay } from './relay.ts'
import { traceOf } from './trace.ts'
import type { Verdict, VerdictName } from './verdict.ts'
import { World } from './world.ts'

/** A case that hasn't ended by then hangs. It is no measure of anything: a good case takes a fraction of a second. */
export const WATCHDOG_MS = 30_000

export interface Surroundings {
  /** The command of the server under test. */
  server: readonly string[]
  schema: FrameSchema
  endpoints: Endpoints
  watchdogMs: number
}

/** A driver at work, and what it offers. */
export interface Subject {
  process: DriverProcess
  operations: readonly string[]
}

/** *Contract:* never rejects. */
export async function runCase(of: Case, subject: Subject | null, surroundings: Surroundings): Promise<Verdict> {
  const begun = performance.now()
  const world = await World.open(of, surroundings.server, surroundings.schema)
  const name = subject?.process.spec.name ?? 'server'
  const limit = surroundings.watchdogMs
  let { verdict, reasons } = await within(limit, play(of, subject, surroundings, world)).then(
    (ended): { verdict: VerdictName; reasons: string[] } =>
      ended ? judge(of, name, world) : { verdict: 'hang', reasons: [`it had not ended after ${limit} ms`] },
    (error: Error) => blame(error, subject),
  )
  // What hangs may also never come to an end of its own.
  if (verdict === 'hang') subject?.process.kill()
  const stderr = [subject?.process.stderr ?? '', ...world.servers.map((server) => server.stderr)].filter((text) => text !== '').join('\n')
  const trace = verdict === 'pass' && of.layer === 'L3' && of.uncompared === null ? traceOf(of, world.values) : null
  const removed = world.remove()
  if (!(await within(limit, removed))) {
    subject?.process.kill()
    await within(limit, removed)
    verdict = 'hang'
    reasons = [...reasons, `what it began had not ended ${limit} ms after its end`]
  }
  return {
    caseId: of.id,
    subject: name,
    covers: of.covers,
    verdict,
    reasons,
    transcript: world.transcript,
    stderr,
    ms: performance.now() - begun,
    trace,
  }
}

/** Whether the work ended in that time. */
async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  let watchdog: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    watchdog = setTimeout(() => resolve(false), ms)
  })
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    clearTimeout(watchdog)
  }
}

async function play(of: Case, subject: Subject | null, { endpoints }: Surroundings, world: World): Promise<void> {
  const steps = new Map<string, StepRun>(Object.entries(commonSteps))
  const add = (more: Readonly<Record<string, StepRun>>) => {
    for (const [name, run] of Object.entries(more)) steps.set(name, run)
  }
  let driver: DriverLayer | null = null
  if (subject === null) {
    if (of.layer !== 'L1') throw new HarnessError(`${of.id} is for an SDK: it needs a driver`)
    add(new RawLayer(world, async (name, env) => ({ connection: new Connection(world, name, env), initialized: false })).steps)
  } else {
    const { process, operations } = subject
    const peer = new PeerLayer(world, of.peer)
    const scripted = of.layer === 'L0' || of.layer === 'L2'
    const place = endpoints.place((link) => {
      if (scripted) peer.link(link)
      else relay(world, link, of.layer === 'L1' ? 'answers' : 'requests')
    })
    world.onCleanup(place.remove)
    const runtime = { runtime: endpointProgram, env: { ...world.env(), [ENDPOINT_VARIABLE]: place.value }, cwd: world.cwd }
    if (of.layer === 'L1') {
      const lacking = needsBytes(of)
      if (lacking !== null) throw new Unsupported(lacking)
      add(
        new RawLayer(world, async (name, env) => ({
          connection: await DriverConnection.open(world, process, name, { ...runtime, env: { ...runtime.env, ...env } }),
          initialized: true,
        })).steps,
      )
    } else {
      driver = new Driven(world, process, operations, { runtime, session: of.session, observes: of.layer === 'L3' })
      add(driver.steps)
      add(scripted ? peer.steps : serverSteps)
    }
    world.onCleanup(async () => void (await process.ask('reset', {}).catch(() => undefined)))
  }
  for (const { name, args } of of.steps) {
    const run = steps.get(name)
    if (run === undefined) throw new HarnessError(`${of.layer} has no step ${name}; there are ${[...steps.keys()].sort().join(', ')}`)
    world.say(`step ${name} ${shown(args)}`)
    await run(world, world.values.filled(args))
  }
  await driver?.settle()
}

/** What a case does to the real server behind an SDK. */
export const serverSteps: Readonly<Record<string, StepRun>> = {
  /** `server.kill: {signal?, which?}`: the latest, or the nth that was launched, counted from 1; and waits for its end. */
  'server.kill': async (world, args) => {
    const { signal = 'SIGKILL', which } = isObject(args) ? args : ({} as JsonObject)
    const server = which === undefined ? world.servers.at(-1) : world.servers[Number(which) - 1]
    if (server === undefined) throw new HarnessError(`server.kill: ${world.servers.length} servers were launched`)
    server.signal(String(signal) as NodeJS.Signals)
    await server.exited
  },
}

function judge(of: Case, name: string, world: World): { verdict: VerdictName; reasons: string[] } {
  const reasons = [...world.frameFaults]
  for (const expected of [of.expect, of.only[name] ?? {}]) {
    try {
      expectNow(world, expected)
    } catch (error) {
      if (!(error instanceof Unexpected)) return blame(error instanceof Error ? error : new Error(String(error)), null)
      reasons.push(error.message)
    }
  }
  for (const paths of of.same) {
    const [first, ...others] = paths.map((path) => world.values.at(path))
    if (first === undefined) reasons.push(`${paths[0] ?? 'same'}: expected something, got nothing`)
    for (const [i, other] of others.entries())
      if (!isEqual(first, other)) reasons.push(`${paths[0]} and ${paths[i + 1]} should be the same: ${shown(first)}, ${shown(other)}`)
  }
  return { verdict: reasons.length === 0 ? 'pass' : 'fail', reasons }
}

function blame(error: Error, subject: Subject | null): { verdict: VerdictName; reasons: string[] } {
  const verdict =
    error instanceof Unsupported
      ? 'unsupported'
      : error instanceof HarnessError
        ? 'harness-error'
        : subject?.process.gone != null
          ? 'crash'
          : 'fail'
  return { verdict, reasons: [error.message] }
}
