// Owns a run of the suite: which cases with which subjects, in which order, how many at once; and the drivers that are kept warm.
import type { Case } from './case.ts'
import { comparedTraces } from './compared.ts'
import { DriverProcess, type DriverSpec, does } from './driver-process.ts'
import { Endpoints } from './endpoint.ts'
import { FrameSchema } from './frame-check.ts'
import { HarnessError } from './harness-error.ts'
import { runCase, type Subject, type Surroundings } from './run-case.ts'
import type { Verdict } from './verdict.ts'

export interface SuiteOptions {
  cases: readonly Case[]
  drivers: readonly DriverSpec[]
  server: readonly string[]
  /** The protocol's schema. */
  schema: string
  jobs: number
  repeat: number
  /** Null: in the order of their ids. */
  seed: number | null
  /** A case that has not ended by then hangs. */
  watchdogMs: number
  onVerdict(verdict: Verdict, done: number, of: number): void
}

interface Task {
  of: Case
  /** Null: the server itself. */
  driver: DriverSpec | null
}

export async function runSuite(options: SuiteOptions): Promise<Verdict[]> {
  const endpoints = await Endpoints.open()
  const surroundings: Surroundings = {
    server: options.server,
    schema: new FrameSchema(options.schema),
    endpoints,
    watchdogMs: options.watchdogMs,
  }
  const verdicts: Verdict[] = []
  let tasks: Task[] = []
  let total = 0
  try {
    tasks = await tasksOf(options)
    total = tasks.length
    await Promise.all(Array.from({ length: options.jobs }, () => work()))
  } finally {
    // Where one worker failed, the others have nothing left to begin.
    tasks.length = 0
    endpoints.close()
  }
  return [...verdicts, ...comparedTraces(verdicts)]

  async function work(): Promise<void> {
    const warm = new WarmDrivers(options.watchdogMs)
    try {
      for (let task = tasks.shift(); task !== undefined; task = tasks.shift()) {
        const verdict = await runCase(task.of, task.driver === null ? null : await warm.get(task.driver), surroundings)
        if (task.driver !== null && verdict.verdict !== 'pass' && verdict.verdict !== 'unsupported') await warm.drop(task.driver)
        verdicts.push(verdict)
        options.onVerdict(verdict, verdicts.length, total)
      }
    } finally {
      await warm.end()
    }
  }
}

/** Each case with each that does it, as often and in the order that was asked for. */
async function tasksOf({ cases, drivers, watchdogMs, repeat, seed }: SuiteOptions): Promise<Task[]> {
  const raw = cases.some(({ layer }) => layer === 'L1')
  const callers = raw ? await driversThatCall(drivers, watchdogMs) : []
  const once = cases.flatMap((of): Task[] => {
    const those = (of.layer === 'L1' ? callers : drivers).filter((driver) => does(driver, of.layer))
    return [...(of.layer === 'L1' ? [{ of, driver: null }] : []), ...those.map((driver) => ({ of, driver }))]
  })
  const tasks = Array.from({ length: repeat }, () => once).flat()
  if (seed !== null) shuffle(tasks, seed)
  return tasks
}

/** Those that can make any call do the cases of raw frames, too. */
async function driversThatCall(drivers: readonly DriverSpec[], watchdogMs: number): Promise<DriverSpec[]> {
  const warm = new WarmDrivers(watchdogMs)
  try {
    const subjects = await Promise.all(drivers.map((driver) => warm.get(driver)))
    return drivers.filter((_, i) => subjects[i]?.operations.includes('call') === true)
  } finally {
    await warm.end()
  }
}

/** One process per driver and worker, for case after case: each forgets the one before. One that failed a case is done with. */
class WarmDrivers {
  readonly #subjects = new Map<string, Subject>()
  readonly #watchdogMs: number

  constructor(watchdogMs: number) {
    this.#watchdogMs = watchdogMs
  }

  /** *Contract:* throws HarnessError where the program is no driver. */
  async get(spec: DriverSpec): Promise<Subject> {
    const known = this.#subjects.get(spec.name)
    if (known !== undefined && known.process.gone === null) {
      known.process.stderr = ''
      return known
    }
    const process = new DriverProcess(spec)
    // What never answers is told apart from what thinks by its end.
    const watchdog = setTimeout(() => process.kill(), this.#watchdogMs)
    const { operations } = await process
      .hello()
      .catch((error: Error) => {
        process.kill()
        throw new HarnessError(`driver ${spec.name} gave no right answer to hello: ${error.message}\n${process.stderr}`)
      })
      .finally(() => clearTimeout(watchdog))
    const subject = { process, operations }
    this.#subjects.set(spec.name, subject)
    return subject
  }

  async drop(spec: DriverSpec): Promise<void> {
    const known = this.#subjects.get(spec.name)
    this.#subjects.delete(spec.name)
    known?.process.kill()
    await known?.process.ended
  }

  async end(): Promise<void> {
    await Promise.all([...this.#subjects.values()].map(({ process }) => process.end()))
  }
}

/** Fisher and Yates, by a small generator of numbers that the seed fixes (mulberry32). */
function shuffle(tasks: Task[], seed: number): void {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  for (let i = tasks.length - 1; i > 0; i -= 1) {
    const j = Math.floor(next() * (i + 1))
    const [a, b] = [tasks[i], tasks[j]]
    if (a !== undefined && b !== undefined) [tasks[i], tasks[j]] = [b, a]
  }
}
