// Owns where the runtime is found and what it is started with. Starts nothing.
import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join, resolve } from 'node:path'
import { isRecord, RuntimeNotFoundError } from './errors.ts'

export interface LaunchOptions {
  /** The runtime's executable, or its `.js` file. Default: `QUIESCE_RUNTIME`, the one installed beside this package, `quiesce` on PATH. */
  runtime?: string | undefined
  /** Where sessions are kept: `sqlite:PATH` or `memory:`. Default: `QUIESCE_STORE`, else one file per user. */
  store?: string | undefined
  /** How much the runtime logs to its stderr, for example `debug`. Default: `QUIESCE_LOG`, else `warn`. */
  logLevel?: string | undefined
  /** The model of sessions that name none, as `provider/model`. Default: what the runtime is configured with. */
  model?: string | undefined
  /** The working directory of the runtime, and of sessions that name none. Default: this process's own. */
  cwd?: string | undefined
  /** Joined to this process's environment for the runtime; a variable that is undefined is left out. */
  env?: Record<string, string | undefined> | undefined
  /** Gets each line that the runtime writes to stderr, without its end. Default: only errors show the last lines. */
  onStderr?: ((line: string) => void) | undefined
  /** How long the runtime may take to answer one request, in milliseconds; runs have time limits of their own. Default: 60,000. */
  requestTimeoutMs?: number | undefined
}

export type Environment = Record<string, string | undefined>

/** What a runtime is started with. */
export interface LaunchPlan {
  command: string
  args: string[]
  cwd: string
  env: Environment
}

/** Finds the runtime and puts its environment together. @throws RuntimeNotFoundError, which says where it looked. */
export function planLaunch(options: LaunchOptions, from: string = import.meta.url): LaunchPlan {
  const env: Environment = { ...process.env, ...options.env }
  if (options.store !== undefined) env.QUIESCE_STORE = options.store
  if (options.logLevel !== undefined) env.QUIESCE_LOG = options.logLevel
  const cwd = resolve(options.cwd ?? '.')
  if (!isDirectory(cwd)) throw new RuntimeNotFoundError(`the cwd option names ${cwd}, which is not a directory`)
  const executable = find(options.runtime, env, from)
  const [command, ...args] = /\.[cm]?js$/.test(executable) ? [process.execPath, executable] : [executable]
  return { command, args: [...args, 'serve', '--stdio'], cwd, env }
}

function find(option: string | undefined, env: Environment, from: string): string {
  if (option !== undefined) return named(option, 'the runtime option', env)
  if (env.QUIESCE_RUNTIME) return named(env.QUIESCE_RUNTIME, 'QUIESCE_RUNTIME', env)
  const found = besideSdk(from) ?? onPath('quiesce', env)
  if (found !== undefined) return found
  throw new RuntimeNotFoundError(
    'no Quiesce runtime was found. Looked at: the runtime option (not given); QUIESCE_RUNTIME (not set); the package ' +
      `@quiesce/runtime beside ${from} (not installed); quiesce on PATH (not there). Install it with: npm install @quiesce/runtime`,
  )
}

/** A runtime that somebody named; where it is wrong, no other is taken instead. */
function named(path: string, source: string, env: Environment): string {
  const file = path.includes('/') ? resolve(path) : (onPath(path, env) ?? resolve(path))
  if (isRunnable(file)) return file
  const problem = isFile(file) ? 'which is not executable' : isDirectory(file) ? 'which is a directory' : 'which does not exist'
  throw new RuntimeNotFoundError(`${source} names ${path}, ${problem}; it must be the executable quiesce, or its .js file`)
}

function besideSdk(from: string): string | undefined {
  let manifest: string
  try {
    manifest = createRequire(from).resolve('@quiesce/runtime/package.json')
  } catch {
    return undefined
  }
  const { bin }: { bin?: unknown } = JSON.parse(readFileSync(manifest, 'utf8'))
  return isRecord(bin) && typeof bin.quiesce === 'string' ? join(dirname(manifest), bin.quiesce) : undefined
}

function onPath(name: string, env: Environment): string | undefined {
  const directories = (env.PATH ?? '').split(delimiter).filter((directory) => directory !== '')
  return directories.map((directory) => resolve(directory, name)).find(isRunnable)
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false

function isRunnable(path: string): boolean {
  if (!isFile(path)) return false
  if (/\.[cm]?js$/.test(path)) return true
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
