// Owns the configuration: option, environment, quiesce.yaml of the workspace, the user's config.yaml, default; first wins.
// Refuses what it doesn't know, with the place. Holds no secret.
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { type LogLevel, logLevels } from '../base/logger.ts'
import { InvalidParams } from '../log/refusal.ts'
import type { NamedModel } from '../models/providers.ts'
import { parseStoreUrl } from '../store/store-url.ts'
import { ConfigError } from './config-error.ts'
import { readConfigFile } from './config-file.ts'

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
  /** Providers of the user's own, by name. */
  models: Readonly<Record<string, Sourced<NamedModel>>>
  /** The files that were looked for, and whether they were there. */
  files: readonly { path: string; found: boolean }[]
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
export async function loadConfig(options: ConfigOptions, { cwd, env }: ConfigPlace): Promise<Config> {
  const paths = [join(cwd, 'quiesce.yaml'), join(xdg(env, 'XDG_CONFIG_HOME', '.config'), 'quiesce', 'config.yaml')]
  const files = await Promise.all(paths.map(async (path) => ({ path, content: await readConfigFile(path) })))

  const first = (option: keyof ConfigOptions, flag: string, variable: string): (Sourced<string> & { folder: string }) | null => {
    const given = options[option]
    if (given !== undefined) return { value: given, source: flag, folder: cwd }
    const set = env[variable]?.trim()
    if (set) return { value: set, source: variable, folder: cwd }
    for (const { path, content } of files) {
      const value = content?.[option]
      if (value !== undefined) return { value, source: path, folder: dirname(path) }
    }
    return null
  }

  const models: Record<string, Sourced<NamedModel>> = {}
  for (const { path, content } of files.toReversed())
    for (const [name, value] of Object.entries(content?.models ?? {})) models[name] = { value, source: path }

  return {
    store: storeOf(first('store', '--store', 'QUIESCE_STORE'), env),
    model: modelOf(first('model', '--model', 'QUIESCE_MODEL')),
    logLevel: levelOf(first('logLevel', '--log-level', 'QUIESCE_LOG')),
    models,
    files: files.map(({ path, content }) => ({ path, found: content !== null })),
  }
}

function storeOf(given: (Sourced<string> & { folder: string }) | null, env: ConfigPlace['env']): Sourced<string> {
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
