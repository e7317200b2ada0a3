// Owns the command line: what it may say, and a usage error that names what would be right.
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { WATCHDOG_MS } from './run-case.ts'

export class UsageError extends Error {}

export interface RunOptions {
  command: 'run' | 'list'
  layers: readonly string[]
  /** Patterns of ids: an id, or its beginning. */
  only: readonly string[]
  /** Files, or names of the drivers that come along. */
  drivers: readonly string[]
  server: readonly string[] | null
  shuffle: number | null
  repeat: number
  jobs: number
  junit: string | null
  json: string | null
  markdown: string | null
  /** Where a failure's transcript goes. */
  keep: string | null
  coverage: boolean
  watchdogMs: number
  /** A folder of cases instead of those that come along. */
  cases: string | null
}

export type Command =
  | RunOptions
  | { command: 'doctor'; drivers: readonly string[] }
  | { command: 'mutants'; only: readonly string[]; jobs: number }
  | { command: 'help' }

export const usage = `conformance: does a server, or an SDK, keep the contract?

  conformance run [options]        run the cases
  conformance list [options]       the cases, without running them
  conformance doctor [--driver F]  is a driver one?
  conformance mutants [--only ID]  is each broken server and SDK found out? (only in the project's repository)

Options of run and list
  --layer L0,L1,L2,L3   only these layers
  --only ID             only this case, or those of this area (runs/); may be given several times
  --driver F            a driver.yaml, or typescript, python; may be given several times. Default: both
  --server "CMD"        the server under test. Default: quiesce serve --stdio
  --shuffle SEED        in an order that this number fixes; random: by one that is printed
  --repeat N            each case N times
  --jobs N              so many at once. Default: 2
  --junit F, --json F, --markdown F   what came, as files
  --keep DIR            transcripts of failures. Default: conformance-failures
  --cases DIR           cases of your own, instead of those that come along
  --no-coverage         don't fail for a rule that no case covers (implied by --layer, --only, --driver, --server and --cases)

Exit status: 0 as expected, 1 an unexpected verdict, 2 the suite itself failed or was called wrongly.
`

/** *Contract:* throws UsageError. */
export function readOptions(args: readonly string[]): Command {
  const [command, ...rest] = args
  if (command === undefined || command === 'help' || command === '--help' || command === '-h') return { command: 'help' }
  if (rest.includes('--help')) return { command: 'help' }
  const { values } = parsed(rest)
  const many = (list: readonly string[] | undefined) => (list ?? []).flatMap((each) => each.split(','))
  if (command === 'doctor') return { command, drivers: many(values.driver) }
  if (command === 'mutants') return { command, only: many(values.only), jobs: count('--jobs', values.jobs, 2) }
  if (command !== 'run' && command !== 'list') throw new UsageError(`${command} is no command; there are run, list, doctor, mutants`)
  const layers = many(values.layer)
  const wrong = layers.find((layer) => !['L0', 'L1', 'L2', 'L3'].includes(layer))
  if (wrong !== undefined) throw new UsageError(`--layer ${wrong}: there are L0, L1, L2, L3`)
  const narrowed =
    layers.length > 0 ||
    values.only !== undefined ||
    values.driver !== undefined ||
    values.server !== undefined ||
    values.cases !== undefined
  return {
    command,
    layers,
    only: many(values.only),
    drivers: many(values.driver),
    server: values.server === undefined ? null : words(values.server),
    shuffle:
      values.shuffle === undefined ? null : values.shuffle === 'random' ? randomInt(2 ** 31) : count('--shuffle', values.shuffle, 0, 0),
    repeat: count('--repeat', values.repeat, 1),
    jobs: count('--jobs', values.jobs, 2),
    junit: values.junit ?? null,
    json: values.json ?? null,
    markdown: values.markdown ?? null,
    keep: values.keep ?? 'conformance-failures',
    coverage: values['no-coverage'] !== true && !narrowed,
    cases: values.cases ?? null,
    watchdogMs: count('--watchdog', values.watchdog, WATCHDOG_MS),
  }
}

function parsed(args: readonly string[]) {
  const text = { type: 'string' } as const
  const several = { type: 'string', multiple: true } as const
  try {
    return parseArgs({
      args: [...args],
      options: {
        ...{ layer: several, only: several, driver: several, server: text, shuffle: text, repeat: text, jobs: text },
        ...{ junit: text, json: text, markdown: text, keep: text, watchdog: text, cases: text, 'no-coverage': { type: 'boolean' } },
      },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function count(name: string, given: string | undefined, otherwise: number, least = 1): number {
  if (given === undefined) return otherwise
  const number = Number(given)
  if (Number.isSafeInteger(number) && number >= least) return number
  throw new UsageError(`${name} ${given}: expected a whole number, at least ${least}`)
}

/** A command line in words; quotes hold together what has spaces. */
function words(command: string): string[] {
  const found = [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, plain]) => double ?? single ?? plain ?? '')
  if (found.length === 0) throw new UsageError('--server: expected a command, for example --server "quiesce serve --stdio"')
  return found
}
