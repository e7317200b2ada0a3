// Owns the configuration: option, environment, quiesce.yaml of the workspace, the user's config.yaml, default; first wins.
// Refuses what it doesn't know, with the place, and what a workspace may not decide. Holds no secret.
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { type LogLevel, logLevels } from '../base/logger.ts'
import { InvalidParams } from '../log/refusal.ts'
import type { NamedModel } from '../models/providers.ts'
import { defaultRetry, type RetryPolicy } from '../models/retry.ts'
import { parseStoreUrl } from '../store/store-url.ts'
import { ConfigError } from './config-error.ts'
import { type FileKind, type ReadFile, readConfigFile } from './config-file.ts'
import { modelRefusal, type Trust, trustOf, wayOut } from './trust.ts'

/** A value, and where it comes from: an option, a variable, a file, or `default`. */
export interface Sourced<T> {
  value: T
  source: string
}

export interface Config {
  /** `sqlite:` with an absolute path, or `memory:`. */
  store: Sourced<string>
  /** `provider/model`; null where none is set. */
  model: Sourced<string | null>
  logLevel: Sourced<LogLevel>
  /** Of every provider that has none of its own; `source` names each file that says something. */
  retry: Sourced<RetryPolicy>
  /** Providers of the user's own, by name. */
  models: Readonly<Record<string, Sourced<NamedModel>>>
  /** Providers that a workspace's file defines in vain, and what to do about it. */
  refusedModels: Readonly<Record<string, string>>
  /** The files that were looked for, and whether they were there. */
  files: readonly { path: string; found: boolean }[]
  workspace: { path: string } & Trust
  /** What the workspace's file wants to decide and may not: nothing runs while it does. */
  problems: readonly { key: keyof ConfigOptions; message: string }[]
}

/** What was given explicitly. */
export interface ConfigOptions {
  store?: string
  model?: string
  logLevel?: string
}

export interface ConfigPlace {
  /** The workspace, absolute. */
  cwd: string
  env: Readonly<Record<string, string | undefined>>
}

/** *Contract:* rejects with ConfigError, which names the place and what would be right. */
export async function loadConfig(options: ConfigOptions, place: ConfigPlace): Promise<Config> {
  const config = await readConfig(options, place)
  if (config.problems.length > 0) throw new ConfigError(config.problems.map(({ message }) => message).join('\n'))
  return config
}

/** As `loadConfig`, but what the workspace may not decide is passed over, and told in `problems`. */
export async function readConfig(options: ConfigOptions, { cwd, env }: ConfigPlace): Promise<Config> {
  const userPath = join(xdg(env, 'XDG_CONFIG_HOME', '.config'), 'quiesce', 'config.yaml')
  const [workspaceFile, userFile] = await Promise.all([openSource(join(cwd, 'quiesce.yaml'), 'workspace'), openSource(userPath, 'user')])
  const listed = userFile.read?.content.trust ?? []
  const trust = await trustOf(cwd, { env, listed, userFile: userPath })
  const named = namedModels(trust.trusted ? [userFile, workspaceFile] : [userFile])
  const inVain = trust.trusted ? [] : Object.keys(workspaceFile.read?.content.models ?? {})
  const advice = (instead: string) => wayOut(cwd, userPath, instead)
  const problems: Config['problems'][number][] = []

  const own = Object.fromEntries(Object.entries(named).map(([name, { value }]) => [name, value]))
  const refusals: Readonly<Record<keyof ConfigOptions, (value: string) => string | null>> = {
    store: (value) => `store: ${JSON.stringify(value)} is not taken from it: ${advice('give --store or QUIESCE_STORE')}`,
    model: (value) => {
      const why = modelRefusal(value, own, inVain)
      return why === null
        ? null
        : `model: ${JSON.stringify(value)} is not taken from it, since ${why}: ${advice('give --model or QUIESCE_MODEL')}`
    },
    logLevel: () => null,
  }
  const first = (option: keyof ConfigOptions, flag: string, variable: string): Found | null => {
    const given = options[option]
    if (given !== undefined) return { value: given, source: flag, folder: cwd }
    const set = env[variable]?.trim()
    if (set) return { value: set, source: variable, folder: cwd }
    for (const { path, kind, read } of [workspaceFile, userFile]) {
      const value = read?.content[option]
      if (value === undefined) continue
      const refusal = kind === 'workspace' && !trust.trusted ? refusals[option](value) : null
      if (refusal === null) return { value, source: path, folder: dirname(path) }
      problems.push({ key: option, message: `${read?.place([option])}: ${refusal}` })
    }
    return null
  }

  return {
    store: storeOf(first('store', '--store', 'QUIESCE_STORE'), env),
    model: modelOf(first('model', '--model', 'QUIESCE_MODEL')),
    logLevel: levelOf(first('logLevel', '--log-level', 'QUIESCE_LOG')),
    retry: retryOf([userFile, workspaceFile]),
    models: named,
    refusedModels: Object.fromEntries(
      inVain.map((name) => [
        name,
        `${workspaceFile.read?.place(['models', name])} defines ${name}, but this workspace is not trusted: ${advice(`define it in ${userPath}`)}`,
      ]),
    ),
    files: [workspaceFile, userFile].map(({ path, read }) => ({ path, found: read !== null })),
    workspace: { path: cwd, ...trust },
    problems,
  }
}

type Found = Sourced<string> & { folder: string }

interface Source {
  path: string
  kind: FileKind
  read: ReadFile | null
}

async function openSource(path: string, kind: FileKind): Promise<Source> {
  return { path, kind, read: await readConfigFile(path, kind) }
}

/** The later file wins, name by name. */
function namedModels(sources: readonly Source[]): Record<string, Sourced<NamedModel>> {
  return Object.fromEntries(
    sources.flatMap(({ path, read }) =>
      Object.entries(read?.content.models ?? {}).map(([name, value]) => [name, { value, source: path }] as const),
    ),
  )
}

/** The later file wins, number by number. */
function retryOf(sources: readonly Source[]): Sourced<RetryPolicy> {
  const saying = sources.filter(({ read }) => read?.content.retry !== undefined)
  return {
    value: Object.assign({ ...defaultRetry }, ...saying.map(({ read }) => read?.content.retry)),
    source: saying.length === 0 ? 'default' : saying.map(({ path }) => path).join(', '),
  }
}

function storeOf(given: Found | null, env: ConfigPlace['env']): Sourced<string> {
  if (given === null)
    return { value: `sqlite:${join(xdg(env, 'XDG_DATA_HOME', '.local/share'), 'quiesce', 'quiesce.db')}`, source: 'default' }
  const { value, source, folder } = given
  try {
    const url = parseStoreUrl(value)
    return { value: url.kind === 'memory' ? 'memory:' : `sqlite:${resolve(folder, url.path)}`, source }
  } catch (error) {
    if (error instanceof InvalidParams) throw new ConfigError(`${source}: ${error.message}`)
    throw error
  }
}

function modelOf(given: Sourced<string> | null): Sourced<string | null> {
  return given === null ? { value: null, source: 'default' } : { value: given.value, source: given.source }
}

function levelOf(given: Sourced<string> | null): Sourced<LogLevel> {
  if (given === null) return { value: 'warn', source: 'default' }
  const level = logLevels.find((known) => known === given.value)
  if (level === undefined)
    throw new ConfigError(`${given.source}: log level: expected one of ${logLevels.join(', ')}, got ${JSON.stringify(given.value)}`)
  return { value: level, source: given.source }
}

/** A directory of the XDG base directories; one that isn't absolute counts as not set, as their specification says. */
function xdg(env: ConfigPlace['env'], variable: string, inHome: string): string {
  const set = env[variable]
  return set !== undefined && isAbsolute(set) ? set : join(env.HOME || homedir(), inHome)
}
