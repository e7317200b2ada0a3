// Owns `conformance mutants`: each mutant must be killed by each case that it names, for the reason that it gives, and pass it unbroken.
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { atExit } from './at-exit.ts'
import type { Case } from './case.ts'
import { DriverProcess, type DriverSpec } from './driver-process.ts'
import { Endpoints } from './endpoint.ts'
import { FrameSchema } from './frame-check.ts'
import { type Mutant, type Patch, places, staleness } from './mutants.ts'
import { runCase, WATCHDOG_MS } from './run-case.ts'
import type { Verdict, VerdictName } from './verdict.ts'

export interface MutantsOptions {
  mutants: readonly Mutant[]
  cases: readonly Case[]
  rules: readonly string[]
  /** Its built code is what is broken. */
  repository: string
  drivers: Readonly<Record<'typescript' | 'python', DriverSpec>>
  schema: string
  jobs: number
  out(line: string): void
}

/** Who does a case: nothing broken in it, or one thing. */
interface Subjects {
  server: readonly string[]
  driver: DriverSpec
  remove(): void
}

const killing: readonly VerdictName[] = ['fail', 'hang', 'crash']
/** A broken one hangs sooner than a right one may take. */
const PATIENCE = { atLeastMs: 4_000, times: 4 }
const program = (name: string) => fileURLToPath(new URL(`../bin/${name}`, import.meta.url))

/** How many failed. */
export async function runMutants(options: MutantsOptions): Promise<number> {
  const { mutants, jobs, out } = options
  const endpoints = await Endpoints.open()
  const schema = new FrameSchema(options.schema)
  const rights = new Map<string, Promise<Verdict>>()
  const left = [...mutants]
  let failed = 0
  try {
    await Promise.all(Array.from({ length: jobs }, () => work()))
  } finally {
    endpoints.close()
  }
  out(`${mutants.length - failed} passed, ${failed} failed`)
  return failed

  async function work(): Promise<void> {
    for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
      const { faults, told } = await judge(mutant).catch((error: unknown) => ({
        faults: [error instanceof Error ? error.message : String(error)],
        told: [],
      }))
      if (faults.length > 0) failed += 1
      out(`${faults.length === 0 ? 'killed' : 'FAIL  '} ${mutant.id} (${mutant.breaks}) ${told.join(', ')}`)
      for (const fault of faults) out(`    ${fault}`)
    }
  }

  async function judge(mutant: Mutant): Promise<{ faults: string[]; told: string[] }> {
    const faults = staleness(mutant, options.repository, options.rules, options.cases)
    const told: string[] = []
    if (faults.length > 0) return { faults, told }
    for (const id of mutant.killedBy) {
      const of = options.cases.find((each) => each.id === id)
      if (of === undefined) continue
      const language = mutant.how.target === 'python' ? 'python' : 'typescript'
      const right = await rightOf(of, language)
      if (right.verdict !== 'pass') {
        faults.push(`unbroken, ${id} comes to ${right.verdict}: ${right.reasons.join('; ')}`)
        continue
      }
      const broken = subjectsOf(language, mutant, options)
      const watchdogMs = Math.min(WATCHDOG_MS, Math.max(PATIENCE.atLeastMs, Math.round(PATIENCE.times * right.ms)))
      const { verdict, reasons, ms } = await play(of, broken, watchdogMs).finally(broken.remove)
      told.push(`${verdict} by ${id} in ${Math.round(ms)} ms`)
      if (!killing.includes(verdict)) faults.push(`${id} doesn't kill it: ${verdict}${reasons.map((reason) => `: ${reason}`).join('')}`)
      else if (!reasons.some((reason) => mutant.says.test(reason)))
        faults.push(`${id} kills it for another reason than ${mutant.says}: ${reasons.join('; ')}`)
    }
    return { faults, told }
  }

  /** The same with nothing broken: once for all mutants that need it. */
  function rightOf(of: Case, language: 'typescript' | 'python'): Promise<Verdict> {
    const key = of.layer === 'L1' ? of.id : `${of.id} ${language}`
    const known = rights.get(key) ?? play(of, subjectsOf(language, null, options), WATCHDOG_MS)
    rights.set(key, known)
    return known
  }

  async function play(of: Case, { server, driver }: Subjects, watchdogMs: number): Promise<Verdict> {
    const surroundings = { server, schema, endpoints, watchdogMs }
    if (of.layer === 'L1') return runCase(of, null, surroundings)
    const process = new DriverProcess(driver)
    const watchdog = setTimeout(() => process.kill(), WATCHDOG_MS)
    try {
      const { operations } = await process.hello()
      clearTimeout(watchdog)
      return await runCase(of, { process, operations }, surroundings)
    } finally {
      clearTimeout(watchdog)
      process.kill()
      await process.ended
    }
  }
}

/** What does a case where this is broken; nothing where it is null. */
function subjectsOf(language: 'typescript' | 'python', mutant: Mutant | null, { repository, drivers }: MutantsOptions): Subjects {
  // Unbundled: what is patched is the module that the mutant names.
  const server = [process.execPath, join(repository, 'runtime/dist/main.js'), 'serve', '--stdio']
  const right: Subjects = { server, driver: drivers[language], remove: () => undefined }
  if (mutant === null) return right
  const { how } = mutant
  switch (how.target) {
    case 'server':
      return { ...right, server: [process.execPath, program('broken-server.mjs'), how.file, ...server] }
    case 'runtime':
      return { ...right, server: patched(server, how, repository) }
    case 'typescript':
      return { ...right, driver: { ...right.driver, command: patched(right.driver.command, how, repository) } }
    case 'python': {
      const { path, remove } = privateCopy(how, repository)
      return { ...right, driver: { ...right.driver, env: { ...right.driver.env, PYTHONPATH: path } }, remove }
    }
  }
}

/** A command of Node's with one module loaded otherwise. */
function patched([node = '', ...args]: readonly string[], { target, file, find, replace }: Patch, repository: string): string[] {
  const url = pathToFileURL(realpathSync(join(repository, places[target], file))).href
  const query = encodeURIComponent(JSON.stringify({ url, find, replace }))
  return [node, '--import', `${pathToFileURL(program('patch.mjs')).href}?${query}`, ...args]
}

/** The Python SDK, broken, in a directory of its own that stands before the right one. */
function privateCopy({ file, find, replace }: Patch, repository: string): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'conformance-mutant-'))
  const gone = atExit(() => rmSync(path, { recursive: true, force: true }))
  // With its times, so that what was compiled is not compiled again.
  cpSync(join(repository, places.python), join(path, 'quiesce'), { recursive: true, preserveTimestamps: true })
  const broken = join(path, 'quiesce', file)
  writeFileSync(broken, readFileSync(broken, 'utf8').split(find).join(replace))
  const remove = () => {
    rmSync(path, { recursive: true, force: true })
    gone()
  }
  return { path, remove }
}
