// Owns which workspaces the user trusts, and what the quiesce.yaml of any other may not decide: where words, keys and bytes go.
import { realpath } from 'node:fs/promises'
import { isAbsolute, relative } from 'node:path'
import { definitionOf, type NamedModel, partsOf } from '../models/providers.ts'
import { ConfigError } from './config-error.ts'

export interface Trust {
  trusted: boolean
  /** Who said so: `QUIESCE_TRUST` or the user's file; null where nobody did. */
  source: string | null
}

/** Where the user may say that a directory, and what lies below it, is trusted. */
export interface TrustPlaces {
  env: Readonly<Record<string, string | undefined>>
  /** Of the user's config file; absolute. */
  listed: readonly string[]
  userFile: string
}

/** *Contract:* rejects with ConfigError where the variable has a path that is not absolute. */
export async function trustOf(workspace: string, { env, listed, userFile }: TrustPlaces): Promise<Trust> {
  const given = (env.QUIESCE_TRUST ?? '').split(':').filter((path) => path.trim() !== '')
  const bad = given.find((path) => !isAbsolute(path))
  if (bad !== undefined)
    throw new ConfigError(`QUIESCE_TRUST: expected absolute paths of directories, with ":" between them, got ${JSON.stringify(bad)}`)
  if (given.length === 0 && listed.length === 0) return { trusted: false, source: null }
  const here = await resolved(workspace)
  for (const [source, paths] of [['QUIESCE_TRUST', given] as const, [userFile, listed] as const])
    for (const path of paths) if (isWithin(here, await resolved(path))) return { trusted: true, source }
  return { trusted: false, source: null }
}

/** As it really is: a link in a trusted directory leads to one that isn't. */
async function resolved(path: string): Promise<string> {
  return realpath(path).catch(() => path)
}

function isWithin(path: string, directory: string): boolean {
  const way = relative(directory, path)
  return way === '' || (way !== '..' && !way.startsWith('../') && !isAbsolute(way))
}

/** What to do where a workspace isn't trusted. */
export function wayOut(workspace: string, userFile: string, instead: string): string {
  return `${instead}; or, where it is yours, trust this directory: QUIESCE_TRUST=${quoted(workspace)}, or trust: [${quoted(workspace)}] in ${userFile}`
}

/** For a shell, and for YAML where no quote is in it: the message is there to be copied. */
function quoted(path: string): string {
  return /^[\w/.,@+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}

/** Why the file of a workspace that isn't trusted may not choose this model, or null where it may: one of the user's providers, no script. */
export function modelRefusal(model: string, named: Readonly<Record<string, NamedModel>>, refused: readonly string[]): string | null {
  const { provider, model: script } = partsOf({ named }, model)
  const definition = definitionOf({ named }, provider)
  if (definition === undefined) return refused.includes(provider) ? 'its provider is defined by the same file' : null
  return definition.provider === 'scripted' && script !== 'demo' ? 'it plays a script' : null
}
