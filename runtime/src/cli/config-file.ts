// Owns what a config file may say. Loads the YAML parser only where there is a file; refuses unknown keys, with their line.
import { readFile } from 'node:fs/promises'
import { faultsOf } from '@quiesce/schema/faults'
import type { LineCounter, ParsedNode } from 'yaml'
import * as z from 'zod/mini'
import { type LogLevel, logLevels } from '../base/logger.ts'
import type { NamedModel } from '../models/providers.ts'
import { ConfigError } from './config-error.ts'

export interface ConfigFile {
  store?: string
  model?: string
  logLevel?: LogLevel
  models?: Record<string, NamedModel>
}

const Named = z.strictObject({
  provider: z.enum(['openai-compatible', 'scripted']),
  baseURL: z.optional(z.string()),
  apiKeyEnv: z.optional(z.string()),
  contextWindow: z.optional(z.int().check(z.minimum(1))),
  model: z.optional(z.string()),
})
const File = z.strictObject({
  store: z.optional(z.string()),
  model: z.optional(z.string()),
  logLevel: z.optional(z.enum(logLevels)),
  models: z.optional(z.record(z.string(), Named)),
})

/** The file's content, or null where there is none. *Contract:* rejects with ConfigError that names the file and the line. */
export async function readConfigFile(path: string): Promise<ConfigFile | null> {
  const text = await read(path)
  return text === null ? null : parse(path, text)
}

async function read(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw new ConfigError(`${path}: can't be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

async function parse(path: string, text: string): Promise<ConfigFile> {
  const { default: yaml } = await import('yaml')
  const lines = new yaml.LineCounter()
  const document = yaml.parseDocument(text, { lineCounter: lines })
  const [broken] = document.errors
  if (broken !== undefined) throw new ConfigError(`${path}:${lines.linePos(broken.pos[0]).line}: not YAML: ${firstLine(broken.message)}`)
  const verdict = File.safeParse(document.toJS() ?? {}, { reportInput: true })
  if (verdict.success) return withoutAbsent(verdict.data)
  const faults = verdict.error.issues.flatMap((issue) => describe(issue, path, (at) => lineOf(document.contents, at, lines)))
  throw new ConfigError(faults.join('\n'))
}

type Issue = z.core.$ZodIssue

function describe(issue: Issue, path: string, line: (at: readonly PropertyKey[]) => number): string[] {
  if (issue.code === 'unrecognized_keys') {
    const allowed = Object.keys(issue.path.length === 0 ? File.shape : Named.shape).join(', ')
    const where = issue.path.length === 0 ? '' : ` in ${issue.path.join('.')}`
    return issue.keys.map(
      (key) => `${path}:${line([...issue.path, key])}: unknown key ${JSON.stringify(key)}${where}; allowed are ${allowed}`,
    )
  }
  return faultsOf([issue]).map((fault) => `${path}:${line(issue.path)}: ${fault.path === '' ? 'the file' : fault.path}: ${fault.message}`)
}

/** The line of what is at this place, or of the last part of it that is there. */
function lineOf(root: ParsedNode | null, at: readonly PropertyKey[], lines: LineCounter): number {
  let node: ParsedNode | null = root
  let line = 1
  for (const part of at) {
    if (node === null || !('items' in node)) break
    const pair: unknown = node.items.find((item) => 'key' in item && 'value' in item.key && item.key.value === part)
    if (!isPair(pair)) break
    line = lines.linePos(pair.key.range[0]).line
    node = pair.value
  }
  return line
}

function isPair(value: unknown): value is { key: ParsedNode; value: ParsedNode | null } {
  return typeof value === 'object' && value !== null && 'key' in value && 'value' in value
}

/** zod keeps an optional key that was given as undefined; YAML can't say undefined, so only the type needs this. */
function withoutAbsent(file: z.output<typeof File>): ConfigFile {
  const { store, model, logLevel, models } = file
  const named = Object.entries(models ?? {}).map(([name, { provider, baseURL, apiKeyEnv, contextWindow, model: served }]) => [
    name,
    {
      provider,
      ...(baseURL !== undefined && { baseURL }),
      ...(apiKeyEnv !== undefined && { apiKeyEnv }),
      ...(contextWindow !== undefined && { contextWindow }),
      ...(served !== undefined && { model: served }),
    },
  ])
  return {
    ...(store !== undefined && { store }),
    ...(model !== undefined && { model }),
    ...(logLevel !== undefined && { logLevel }),
    ...(models !== undefined && { models: Object.fromEntries(named) }),
  }
}

const firstLine = (text: string): string => text.split('\n')[0] ?? text
