// Owns the words of the command line: commands, options, help. Refuses what it doesn't know with exit status 2 (CLI-4).
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { logLevels } from '../base/logger.ts'
import { VERSION } from '../base/version.ts'
import { InvalidParams, Refusal } from '../log/refusal.ts'
import type { Until } from '../log/run.ts'
import type { ConfigOptions } from './config.ts'
import { ConfigError } from './config-error.ts'
import { exitStatus, lossVerdict } from './exit-status.ts'
import { openTerminal, type Terminal } from './terminal.ts'

export type Output = 'text' | 'json' | 'jsonl'
export type PermissionMode = 'read-only' | 'edit' | 'allow-all'

export interface RunOptions {
  /** The prompt's words; `-` among them stands for what stdin says. */
  words: readonly string[]
  /** Absolute or relative to the process's. */
  cwd: string
  session?: string
  system?: string
  permissions?: PermissionMode
  maxSteps?: number
  timeoutMs?: number
  until: Until
  wait: boolean
  output: Output
  quiet: boolean
  config: ConfigOptions
}

export interface DoctorOptions {
  json: boolean
  /** Whether the default model is asked, too. */
  probe?: boolean
  config: ConfigOptions
}

/** Each runs one command to its exit status. */
export interface Commands {
  run(options: RunOptions): Promise<number>
  serve(options: { config: ConfigOptions }): Promise<number>
  doctor(options: DoctorOptions): Promise<number>
}

/** What commander hands to an action: options by their long names. */
interface Flags {
  store?: string
  model?: string
  logLevel?: string
  cwd?: string
  session?: string
  system?: string
  permissions?: PermissionMode
  maxSteps?: number
  timeout?: number
  until?: Until
  wait?: boolean
  output?: Output
  quiet?: boolean
  json?: boolean
  probe?: boolean
}

/** Runs the command line and answers its exit status. */
export async function runProgram(
  args: readonly string[],
  commands: Commands,
  terminal: Terminal = openTerminal(process.stdout, process.stderr),
): Promise<number> {
  let status = 0
  const program = describeProgram(commands, terminal, (given) => {
    status = given
  })
  try {
    await program.parseAsync([...args], { from: 'user' })
    return status
  } catch (error) {
    return error instanceof CommanderError && error.exitCode === 0 ? told(terminal) : failed(error)
  }
}

function describeProgram(commands: Commands, terminal: Terminal, done: (status: number) => void): Command {
  const program = new Command('quiesce')
    .configureOutput({ writeOut: terminal.print })
    .description('Runs coding agents: sessions with a durable log, behind one protocol.')
    .version(VERSION, '-V, --version', 'print the version')
    .exitOverride()
    .showHelpAfterError('(quiesce --help lists what there is)')
    .addHelpText('after', examples)

  withConfig(program.command('run'))
    .description('run an agent on a prompt and print its answer')
    .addArgument(new Argument('[words...]', 'the prompt; "-" stands for what stdin says'))
    .option('--cwd <directory>', 'where the agent works (default: here)')
    .option('--session <id>', 'go on with this session')
    .option('--system <text>', 'system text of a new session, instead of the default one')
    .addOption(new Option('--permissions <mode>', 'what runs without asking').choices(['read-only', 'edit', 'allow-all']))
    .option('--max-steps <count>', 'end a turn after so many model requests', positiveInteger)
    .option('--timeout <duration>', 'cancel after this time: 90, 90s, 5m, 1h', duration)
    .addOption(new Option('--until <state>', 'where the run ends').choices(['idle', 'quiescent']).default('quiescent'))
    .option('--no-wait', 'exit with 5 where the session is busy, instead of waiting')
    .addOption(new Option('--output <format>', 'what stdout gets').choices(['text', 'json', 'jsonl']).default('text'))
    .option('-q, --quiet', 'no progress on stderr')
    .addHelpText('after', statuses)
    .action(async (words: string[], flags: Flags) => done(await commands.run(runOptions(words, flags))))

  withConfig(program.command('serve'))
    .description('serve the protocol to one client; the runtime ends with it')
    .requiredOption('--stdio', 'over stdin and stdout')
    .action(async (flags: Flags) => done(await commands.serve({ config: configOptions(flags) })))

  withConfig(program.command('doctor'))
    .description('show the configuration, where each value comes from, and whether it works')
    .option('--json', 'as JSON')
    .option('--probe', 'ask the model for one word, and say what comes')
    .action(async ({ json = false, probe, ...flags }: Flags) =>
      done(await commands.doctor({ json, ...(probe === true && { probe }), config: configOptions(flags) })),
    )

  return program
}

function withConfig(command: Command): Command {
  return command
    .option('--store <url>', 'sqlite:PATH or memory: (default: one file per user)')
    .option('--model <provider/model>', 'the model; scripted/demo needs no network')
    .addOption(new Option('--log-level <level>', 'what the log on stderr holds').choices(logLevels))
}

function configOptions({ store, model, logLevel }: Flags): ConfigOptions {
  return { ...(store !== undefined && { store }), ...(model !== undefined && { model }), ...(logLevel !== undefined && { logLevel }) }
}

function runOptions(words: string[], flags: Flags): RunOptions {
  const { cwd, session, system, permissions, maxSteps, timeout, until, wait, output, quiet } = flags
  if (session !== undefined && system !== undefined) throw usage('--system belongs to a new session: leave it or --session out')
  if (session !== undefined && cwd !== undefined) throw usage('--cwd belongs to a new session: leave it or --session out')
  if (words.join('').trim() === '') throw usage('no prompt: give it as words, or "-" to read it from stdin')
  if (words.filter((word) => word === '-').length > 1) throw usage('"-" stands for stdin, which can be read once')
  return {
    words,
    cwd: cwd ?? process.cwd(),
    ...(session !== undefined && { session }),
    ...(system !== undefined && { system }),
    ...(permissions !== undefined && { permissions }),
    ...(maxSteps !== undefined && { maxSteps }),
    ...(timeout !== undefined && { timeoutMs: timeout }),
    until: until ?? 'quiescent',
    wait: wait ?? true,
    output: output ?? 'text',
    quiet: quiet ?? false,
    config: configOptions(flags),
  }
}

const usage = (message: string): CommanderError => {
  process.stderr.write(`error: ${message}\n(quiesce --help lists what there is)\n`)
  return new CommanderError(exitStatus.usage, 'quiesce.usage', message)
}

function positiveInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError('It must be a whole number from 1.')
  return value
}

const units = new Map([
  ['', 1000],
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
])
/** Timers hold little more: 2 ** 31 milliseconds. */
const MAX_HOURS = 596

/** `90`, `90s`, `1.5m` in milliseconds. */
export function duration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text.trim())
  const ms = match === null ? Number.NaN : Math.round(Number(match[1]) * (units.get(match[2] ?? '') ?? Number.NaN))
  if (ms > MAX_HOURS * 3_600_000) throw new InvalidArgumentError(`It must be at most ${MAX_HOURS}h.`)
  if (!(ms >= 1)) throw new InvalidArgumentError('It must be a time above 0, for example 90, 90s, 5m or 1h.')
  return ms
}

/** Help or the version is printed: whether it came out. */
async function told(terminal: Terminal): Promise<number> {
  const loss = await terminal.flush()
  if (loss === null) return exitStatus.answered
  const { status, why } = lossVerdict(loss)
  if (why !== null) terminal.say(`quiesce: ${why}`)
  return status
}

/** What went wrong in one line on stderr, and the status that says so. */
function failed(error: unknown): number {
  // Commander has said it already.
  if (error instanceof CommanderError) return exitStatus.usage
  const byCaller = error instanceof ConfigError || error instanceof InvalidParams || (error instanceof Refusal && callers.has(error.code))
  const expected = byCaller || error instanceof Refusal
  const message = error instanceof Error ? (expected ? error.message : (error.stack ?? error.message)) : String(error)
  process.stderr.write(`quiesce: ${message}\n`)
  return byCaller ? exitStatus.usage : exitStatus.failed
}

/** Refusals that are about what the caller asked for. */
const callers = new Set(['unknown_model', 'model_auth', 'session_not_found', 'message_conflict'])

const examples = `
Examples:
  quiesce run --model scripted/demo "What is in this directory?"
  quiesce run --permissions read-only "Which tests fail, and why?"
  git diff | quiesce run --output json - "Review this change"
  quiesce doctor --probe
`

const statuses = `
Exit status:
  0  the last turn completed, and there is text
  1  it ended in any other way, or without text
  2  usage
  3  cancelled, or timed out, or nobody read stdout to its end
  4  no answer, and a permission was denied
  5  the runtime or its store failed, or stdout could not be written
`
