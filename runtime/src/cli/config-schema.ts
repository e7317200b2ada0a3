// Owns what a config file may say: its keys, their values, and the words for what is wrong. Refuses unknown keys. Repeats no value that
// may be a secret in the wrong place.
import { isAbsolute } from 'node:path'
import { faultsOf } from '@quiesce/schema/faults'
import * as z from 'zod/mini'
import { modelOptionFaults } from '../agent/model-options.ts'
import { logLevels } from '../base/logger.ts'
import { addressFault } from '../models/endpoint.ts'
import { type NamedModel, openAIApis, providerKinds } from '../models/providers.ts'
import type { RetryPolicy } from '../models/retry.ts'

/** quiesce.yaml comes with its directory, and may be anybody's; config.yaml is the user's own. */
export type FileKind = 'workspace' | 'user'

export interface FileFault {
  at: readonly PropertyKey[]
  message: string
}

const counted = (least: number, most: number) => z.exactOptional(z.int().check(z.minimum(least), z.maximum(most)))
const hourMs = 3_600_000

const Retry = z.strictObject({
  attempts: counted(1, 20),
  firstDelayMs: counted(0, hourMs),
  maxDelayMs: counted(0, hourMs),
  maxRetryAfterMs: counted(0, hourMs),
  firstByteMs: counted(1, hourMs),
  betweenBytesMs: counted(1, hourMs),
} satisfies Record<keyof RetryPolicy, unknown>)

const Named = z.strictObject({
  provider: z.enum(providerKinds),
  baseURL: z.exactOptional(z.string()),
  apiKeyEnv: z.exactOptional(z.string()),
  api: z.exactOptional(z.enum(openAIApis)),
  contextWindow: z.exactOptional(z.int().check(z.minimum(1))),
  model: z.exactOptional(z.string().check(z.minLength(1))),
  modelOptions: z.exactOptional(z.record(z.string(), z.unknown())),
  retry: z.exactOptional(Retry),
} satisfies Record<keyof NamedModel, unknown>)

const everywhere = {
  model: z.exactOptional(z.string()),
  logLevel: z.exactOptional(z.enum(logLevels)),
  store: z.exactOptional(z.string()),
  models: z.exactOptional(z.record(z.string(), Named)),
  retry: z.exactOptional(Retry),
}
const files = {
  workspace: z.strictObject({ ...everywhere, trust: z.exactOptional(z.never()) }),
  user: z.strictObject({
    ...everywhere,
    trust: z.exactOptional(z.array(z.string().check(z.refine(isAbsolute, 'must be an absolute path')))),
  }),
}

export type ConfigFile = z.output<typeof files.user>

/** A file's content, or everything that is wrong with it. */
export function checkFile(value: unknown, kind: FileKind): { ok: true; content: ConfigFile } | { ok: false; faults: FileFault[] } {
  const verdict = files[kind].safeParse(value, { reportInput: true })
  const faults = verdict.success ? entryFaults(verdict.data.models ?? {}) : verdict.error.issues.flatMap((issue) => describe(issue, kind))
  if (!verdict.success || faults.length > 0) return { ok: false, faults }
  return { ok: true, content: verdict.data }
}

function describe(issue: z.core.$ZodIssue, kind: FileKind): FileFault[] {
  if (kind === 'workspace' && issue.path[0] === 'trust')
    return [{ at: issue.path, message: "trust: a workspace can't ask for trust itself; this belongs into your own config.yaml" }]
  if (issue.code !== 'unrecognized_keys')
    return faultsOf([issue]).map(({ path, message }) => ({ at: issue.path, message: `${path || 'the file'}: ${message}` }))
  const where = issue.path.length === 0 ? '' : ` in ${issue.path.join('.')}`
  const allowed = keysAt(issue.path, kind).join(', ')
  return issue.keys.map((key) => ({
    at: [...issue.path, key],
    message: `unknown key ${JSON.stringify(key)}${where}; allowed are ${allowed}`,
  }))
}

function keysAt(path: readonly PropertyKey[], kind: FileKind): string[] {
  if (path.at(-1) === 'retry') return Object.keys(Retry.shape)
  if (path.length > 0) return Object.keys(Named.shape)
  return Object.keys(kind === 'user' ? files.user.shape : everywhere)
}

type Entry = z.output<typeof Named>

function entryFaults(models: Readonly<Record<string, Entry>>): FileFault[] {
  return Object.entries(models).flatMap(([name, entry]) => {
    const at = ['models', name]
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name))
      return [{ at, message: `models: ${JSON.stringify(name)} can't be named: a provider's name is of letters, digits, ".", "_" and "-"` }]
    const wrong = (key: keyof Entry, message: string) => ({ at: [...at, key], message: `models.${name}.${key}: ${message}` })
    return [...misplaced(entry, wrong), ...valueFaults(entry, wrong), ...optionFaults(entry, name)]
  })
}

type Wrong = (key: keyof Entry, message: string) => FileFault

function misplaced(entry: Entry, wrong: Wrong): FileFault[] {
  const { provider } = entry
  const faults = (['baseURL', 'apiKeyEnv', 'contextWindow', 'retry'] as const).flatMap((key) =>
    provider === 'scripted' && entry[key] !== undefined ? [wrong(key, 'a scripted model has none: it asks no server')] : [],
  )
  if (entry.api !== undefined && provider !== 'openai') faults.push(wrong('api', `it is for provider openai alone, not for ${provider}`))
  return faults
}

/** What is put into these by mistake may be a key: it isn't repeated. */
function valueFaults({ baseURL, apiKeyEnv }: Entry, wrong: Wrong): FileFault[] {
  const address = baseURL === undefined ? null : addressFault(baseURL)
  const faults = address === null ? [] : [wrong('baseURL', address)]
  if (apiKeyEnv !== undefined && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(apiKeyEnv))
    faults.push(
      wrong('apiKeyEnv', 'must be the name of an environment variable, for example MY_SERVER_API_KEY; a key itself has no place here'),
    )
  return faults
}

function optionFaults({ modelOptions }: Entry, name: string): FileFault[] {
  const path = `models.${name}.modelOptions`
  return modelOptionFaults(modelOptions, path).map((fault) => ({
    at: ['models', name, 'modelOptions', fault.path.slice(path.length + 1)],
    message: `${fault.path}: ${fault.message}`,
  }))
}
