// Owns what a mutant is: a server or an SDK that breaks one rule in one place, read from the files of `mutants` and checked whole.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parse } from 'yaml'
import { type Case, isObject } from './case.ts'
import { HarnessError } from './harness-error.ts'

/** What a patch is applied to, and where its files lie in the repository. `server` has no patch: it is a program of its own. */
export const places = { typescript: 'ts-sdk/dist', runtime: 'runtime/dist', python: 'python-sdk/src/quiesce' } as const
export type Target = keyof typeof places

export interface Patch {
  target: Target
  /** Below the target's place. */
  file: string
  /** Occurs once. */
  find: string
  replace: string
}

export interface Mutant {
  /** As its file is called. */
  id: string
  /** The rule. */
  breaks: string
  killedBy: readonly string[]
  /** What a reason of the verdict must say: so that it was killed for what it breaks, and not since it couldn't start. */
  says: RegExp
  /** A place replaced, or the file of a broken server: see bin/broken-server.mjs. */
  how: Patch | { target: 'server'; file: string }
}

/** *Contract:* throws HarnessError with every fault of every file. */
export async function readMutants(folder: string): Promise<Mutant[]> {
  const faults: string[] = []
  const found: Mutant[] = []
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name)
    try {
      if (name.endsWith('.yaml')) found.push(fromYaml(name, parse(readFileSync(path, 'utf8'))))
      else if (name.endsWith('.mjs')) found.push(fromProgram(name, path, await import(pathToFileURL(path).href)))
      else throw new Error('a mutant is a .yaml or a .mjs')
    } catch (error) {
      faults.push(`mutants/${name}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  if (faults.length > 0) throw new HarnessError(faults.join('\n'))
  return found
}

function fromYaml(name: string, data: unknown): Mutant {
  if (!isObject(data)) throw new Error('expected {id, breaks, killedBy, says, target, patch: {file, find, replace}}')
  const { target, patch, ...common } = data
  if (typeof target !== 'string' || !Object.hasOwn(places, target))
    throw new Error(`target: expected one of ${Object.keys(places).join(', ')}, got ${JSON.stringify(target)}`)
  if (!isObject(patch)) throw new Error(`patch: expected {file, find, replace}, got ${JSON.stringify(patch)}`)
  const text = (key: string): string => {
    const value = patch[key]
    if (typeof value !== 'string') throw new Error(`patch.${key}: expected a text, got ${JSON.stringify(value)}`)
    return value
  }
  const find = text('find')
  if (find === '') throw new Error('patch.find: expected a text that occurs once')
  return { ...commonOf(name, common), how: { target: target as Target, file: text('file'), find, replace: text('replace') } }
}

function fromProgram(name: string, file: string, module: unknown): Mutant {
  const mutant = typeof module === 'object' && module !== null && 'default' in module ? module.default : null
  if (typeof mutant !== 'object' || mutant === null || !('toClient' in mutant || 'toServer' in mutant))
    throw new Error('expected a default export {id, breaks, killedBy, says, toClient?, toServer?}')
  const { toClient: _, toServer: __, ...common } = mutant as Record<string, unknown>
  return { ...commonOf(name, common), how: { target: 'server', file } }
}

function commonOf(name: string, data: Readonly<Record<string, unknown>>): Omit<Mutant, 'how'> {
  const { id, breaks, killedBy, says, ...unknown } = data
  if (`${id}` !== name.replace(/\.(yaml|mjs)$/, '')) throw new Error(`id: expected the file's name, got ${JSON.stringify(id)}`)
  if (typeof breaks !== 'string') throw new Error(`breaks: expected the id of a rule, got ${JSON.stringify(breaks)}`)
  if (!Array.isArray(killedBy) || killedBy.length === 0) throw new Error('killedBy: expected a list of ids of cases')
  if (typeof says !== 'string' || says === '')
    throw new Error(`says: expected an expression that its reason matches, got ${JSON.stringify(says)}`)
  const [other] = Object.keys(unknown)
  if (other !== undefined) throw new Error(`${other} is unknown here`)
  return { id: String(id), breaks, killedBy: killedBy.map(String), says: new RegExp(says, 'm') }
}

/** What is wrong with a mutant before it runs: it is stale, names no rule or no case, or a case that isn't about its rule. */
export function staleness(mutant: Mutant, repository: string, rules: readonly string[], cases: readonly Case[]): string[] {
  const { breaks, killedBy, how } = mutant
  const faults = rules.includes(breaks) ? [] : [`${breaks} is no rule of the contract`]
  for (const id of killedBy) {
    const named = cases.find((each) => each.id === id)
    if (named === undefined) faults.push(`there is no case ${id}`)
    else if (!named.covers.includes(breaks)) faults.push(`${id} doesn't cover ${breaks}`)
  }
  if (how.target === 'server') return faults
  const path = join(repository, places[how.target], how.file)
  const times = timesIn(path, how.find)
  if (times === null) faults.push(`it is stale: there is no ${path}`)
  else if (times !== 1) faults.push(`it is stale: what it replaces occurs ${times} times in ${path}, and must occur once`)
  return faults
}

function timesIn(path: string, find: string): number | null {
  try {
    return readFileSync(path, 'utf8').split(find).length - 1
  } catch {
    return null
  }
}
