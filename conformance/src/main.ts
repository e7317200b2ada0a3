// bin: the command `conformance`. Owns what its commands do, and its exit status.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { endOnSignals } from './at-exit.ts'
import type { Case } from './case.ts'
import { doctor as examineAll } from './doctor.ts'
import { type DriverSpec, does, lacking, readDriver } from './driver-process.ts'
import { type Expected, isUnexpected, judgeAll, readExpected } from './expected.ts'
import { FrameSchema } from './frame-check.ts'
import { HarnessError } from './harness-error.ts'
import { loadCases } from './load.ts'
import { readMutants } from './mutants.ts'
import { runMutants } from './mutants-command.ts'
import { type RunOptions, readOptions, UsageError, usage } from './options.ts'
import { junit, line, markdown, matrixText } from './report.ts'
import { coverageFaults, readReasons, rulesOf } from './rules.ts'
import { runSuite } from './suite.ts'
import type { Verdict } from './verdict.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const out = (text: string) => process.stdout.write(`${text}\n`)

/** In the repository the contract and the schema lie beside; where the suite is installed, they come along. */
const beside = (name: string, inRepository: string): string => {
  const own = join(root, name)
  return existsSync(own) ? own : join(root, inRepository)
}
const contract = beside('contract.md', '../docs/contract.md')
const schema = beside('protocol.schema.json', '../schema/protocol.schema.json')

const surroundings = () => ({
  methods: new FrameSchema(schema).methods,
  repository: existsSync(join(root, 'contract.md')) ? null : join(root, '..'),
})

/** The project's own SDKs: in its repository they must be there. */
const ownLanguages = ['typescript', 'python']
const builtIn = [...ownLanguages, 'go']

interface Chosen {
  /** As the command line names it. */
  given: string
  spec: DriverSpec
  expected: readonly Expected[]
}

function driversOf(names: readonly string[]): Chosen[] {
  return (names.length === 0 ? builtIn : names).map((name) => {
    const path = builtIn.includes(name) || !/[./]/.test(name) ? join(root, 'drivers', name, 'driver.yaml') : name
    if (!existsSync(path))
      throw new UsageError(`--driver ${name}: there is no ${path}; it is a driver.yaml, or one of ${builtIn.join(', ')}`)
    return { given: name, spec: readDriver(path), expected: readExpected(join(dirname(path), 'expected-failures.yaml')) }
  })
}

/** Raw frames need no driver; one that is named does them, too, where it can. */
const needsDrivers = ({ drivers }: RunOptions, chosen: readonly Case[]): boolean =>
  drivers.length > 0 || chosen.some(({ layer }) => layer !== 'L1')

/** Those that can run here, and why the others can't. */
function present(drivers: readonly Chosen[]): { drivers: Chosen[]; absent: { name: string; why: string }[] } {
  const absent = drivers.flatMap(({ spec }) => {
    const why = lacking(spec)
    return why === null ? [] : [{ name: spec.name, why }]
  })
  return { drivers: drivers.filter(({ spec }) => !absent.some(({ name }) => name === spec.name)), absent }
}

/** What runs, of what was named or comes along: a driver has cases among the chosen ones. */
const chosenDrivers = (options: RunOptions, chosen: readonly Case[]): Chosen[] =>
  needsDrivers(options, chosen) ? driversOf(options.drivers).filter(({ spec }) => chosen.some(({ layer }) => does(spec, layer))) : []

function casesOf({ layers, only, cases }: RunOptions): { all: Case[]; chosen: Case[] } {
  const all = loadCases(cases ?? undefined)
  const fits = (id: string, pattern: string) =>
    id === pattern || (pattern.endsWith('/') && id.startsWith(pattern)) || id.startsWith(`${pattern}/`) || id.startsWith(`${pattern}@`)
  const lost = only.find((pattern) => !all.some(({ id }) => fits(id, pattern)))
  if (lost !== undefined) throw new UsageError(`--only ${lost}: no case is called so; conformance list shows them`)
  const chosen = all.filter(
    ({ id, layer }) => (layers.length === 0 || layers.includes(layer)) && (only.length === 0 || only.some((pattern) => fits(id, pattern))),
  )
  return { all, chosen }
}

const defaultServer = (): readonly string[] => {
  const found = [join(root, '../node_modules/.bin/quiesce'), join(root, '../../.bin/quiesce')].find(existsSync)
  return [found ?? 'quiesce', 'serve', '--stdio']
}

async function run(options: RunOptions): Promise<number> {
  const { all, chosen } = casesOf(options)
  const { drivers, absent } = present(chosenDrivers(options, chosen))
  for (const { name, why } of absent) out(`SKIP   every case of driver ${name}, which can't run here: ${why}`)
  for (const { spec } of drivers) if (spec.layers !== null) out(`NOTE   driver ${spec.name} is for layer ${spec.layers.join(', ')} alone`)
  const rules = rulesOf(contract)
  const reasons = readReasons(join(root, 'not-covered.yaml'))
  const progress = new Progress()
  if (options.shuffle !== null) out(`the order is shuffled by ${options.shuffle}`)
  const verdicts = await runSuite({
    cases: chosen,
    drivers: drivers.map(({ spec }) => spec),
    server: options.server ?? defaultServer(),
    schema,
    jobs: options.jobs,
    repeat: options.repeat,
    seed: options.shuffle,
    watchdogMs: options.watchdogMs,
    onVerdict: (verdict, done, of) => progress.show(verdict, done, of),
  })
  progress.end()
  if (verdicts.length === 0) throw new UsageError('nothing ran: no case of these layers has a subject that can run here')
  const expected = new Map(drivers.map(({ spec, expected: entries }) => [spec.name, entries]))
  const { judged, stale } = judgeAll(verdicts, expected)
  const unexpected = judged.filter(isUnexpected)
  // In the repository both languages are at home: there a driver that can't run is one that nobody would miss.
  const missed =
    options.coverage && surroundings().repository !== null
      ? absent.filter(({ name }) => ownLanguages.includes(name)).map(({ name, why }) => `driver ${name} can't run: ${why}`)
      : []
  const faults = [
    ...missed,
    ...stale,
    ...lostEntries(expected, all),
    ...(options.coverage ? coverageFaults(rules, all, reasons, surroundings()) : []),
  ]
  const covered = rules.filter((rule) => judged.some(({ covers }) => covers.includes(rule)))
  out(`\n${matrixText(covered, judged, process.stdout.columns || 100)}\n`)
  for (const each of unexpected) out(`${line(each)}\n    again: ${again(each, drivers, options)}${kept(options, each)}`)
  for (const fault of faults) out(`FAULT  ${fault}`)
  if (options.junit !== null) write(options.junit, junit(judged))
  if (options.json !== null) write(options.json, `${JSON.stringify(judged, null, 2)}\n`)
  if (options.markdown !== null) write(options.markdown, markdown(covered, judged))
  const count = (of: string) => judged.filter(({ verdict }) => verdict === of).length
  const skipped = count('unsupported') + judged.filter(({ known }) => known !== null).length + absent.length
  out(`${count('pass')} passed, ${unexpected.length + faults.length} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  if (judged.some(({ verdict }) => verdict === 'harness-error')) return 2
  return unexpected.length + faults.length > 0 ? 1 : 0
}

/** The command that runs it alone; what two subjects left differently needs both. */
function again({ caseId, subject }: Verdict, drivers: readonly Chosen[], { server }: RunOptions): string {
  const given = drivers.find(({ spec }) => spec.name === subject)?.given
  const only = given === undefined ? drivers.map((each) => each.given).filter((name) => !builtIn.includes(name)) : [given]
  const command = server === null ? '' : ` --server "${server.join(' ')}"`
  return `conformance run --only ${caseId.replace(/@.*/, '')}${only.map((name) => ` --driver ${name}`).join('')}${command}`
}

function lostEntries(expected: ReadonlyMap<string, readonly Expected[]>, cases: readonly Case[]): string[] {
  const ids = new Set(cases.map(({ id }) => id))
  return [...expected].flatMap(([subject, entries]) =>
    entries
      .filter(({ caseId }) => !ids.has(caseId))
      .map(({ caseId }) => `${subject}: an expected failure names ${caseId}, which is no case`),
  )
}

/** Writes the transcript of a failure; where it is. */
function kept({ keep }: RunOptions, { caseId, subject, transcript, stderr, reasons }: Verdict): string {
  if (keep === null) return ''
  const path = join(keep, `${caseId.replaceAll('/', '-')}-${subject.replaceAll(' ', '-')}.txt`)
  write(path, `${reasons.join('\n')}\n\n== transcript\n${transcript.join('\n')}\n\n== stderr\n${stderr}\n`)
  return `\n    transcript: ${path}`
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** One line per case; on a terminal one line that is overwritten, and those that didn't pass. */
class Progress {
  readonly #live = process.stdout.isTTY === true

  show(verdict: Verdict, done: number, of: number): void {
    const told = line({ ...verdict, known: null })
    if (!this.#live) out(told)
    else if (verdict.verdict === 'pass')
      process.stdout.write(`\r\x1B[K${done}/${of} ${verdict.caseId}`.slice(0, (process.stdout.columns || 80) + 3))
    else process.stdout.write(`\r\x1B[K${told}\n`)
  }

  end(): void {
    if (this.#live) process.stdout.write('\r\x1B[K')
  }
}

function list(options: RunOptions): number {
  const { chosen } = casesOf(options)
  for (const { id, layer, covers, title } of chosen) out(`${layer} ${id} (${covers.join(', ')})\n     ${title}`)
  out(`${chosen.length} cases`)
  return 0
}

/** One that comes along and can't run here is no fault of anybody's; one that was named is. */
async function doctor(chosen: readonly Chosen[], named: boolean): Promise<number> {
  const { drivers, absent } = present(chosen)
  for (const { name, why } of absent) out(`${named ? 'FAIL ' : 'skip '} ${name}: it can't run here: ${why}`)
  const status = await examineAll(drivers.map(({ spec }) => spec))
  return named && absent.length > 0 ? 1 : status
}

async function mutants(only: readonly string[], jobs: number): Promise<number> {
  const { repository } = surroundings()
  if (repository === null)
    throw new UsageError('mutants are made of what the repository of the project holds, and this is an installed suite')
  const all = await readMutants(join(root, 'mutants'))
  const lost = only.find((id) => !all.some((mutant) => mutant.id === id))
  if (lost !== undefined) throw new UsageError(`--only ${lost}: no mutant is called so`)
  const [typescript, python] = driversOf([])
  if (typescript === undefined || python === undefined) throw new HarnessError('the drivers of both languages are needed')
  const failed = await runMutants({
    mutants: all.filter(({ id }) => only.length === 0 || only.includes(id)),
    cases: loadCases(),
    rules: rulesOf(contract),
    repository,
    drivers: { typescript: typescript.spec, python: python.spec },
    schema,
    jobs,
    out,
  })
  return failed === 0 ? 0 : 1
}

async function main(args: readonly string[]): Promise<number> {
  const command = readOptions(args)
  switch (command.command) {
    case 'help':
      process.stdout.write(usage)
      return 0
    case 'list':
      return list(command)
    case 'run':
      return run(command)
    case 'mutants':
      return mutants(command.only, command.jobs)
    case 'doctor':
      return doctor(driversOf(command.drivers), command.drivers.length > 0)
  }
}

endOnSignals()
process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  const plain = error instanceof UsageError || error instanceof HarnessError
  process.stderr.write(`conformance: ${plain ? error.message : error instanceof Error ? error.stack : String(error)}\n`)
  return 2
})
