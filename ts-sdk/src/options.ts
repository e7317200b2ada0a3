// Owns the names of the options that each public call takes. A name that a call doesn't have is refused, never ignored: a misspelt
// restriction would be none. What users keep (metadata, environments, schemas) has names of its own.
import { isRecord } from './errors.ts'
import type { Limits, ModelListParams, ModelOptions, PermissionPolicy, SessionListParams, ToolListParams } from './generated/protocol.ts'
import type { LaunchOptions } from './launch.ts'
import type { CollectOptions, RunOptions } from './run.ts'
import type { CancelOptions, DeliveryOptions, PromptOptions, UpdateOptions } from './session.ts'
import type { CreateOptions, DeleteOptions } from './sessions.ts'
import { isOpaque, shown } from './shown.ts'
import type { EventsOptions } from './tail.ts'
import { checkValues } from './values.ts'

/** Every public call that takes options, and their type. */
export interface OptionsOf {
  'new Quiesce': LaunchOptions
  'Quiesce.launch': LaunchOptions
  'quiesce.models': ModelListParams
  'quiesce.tools': ToolListParams
  'sessions.create': CreateOptions
  'sessions.list': SessionListParams
  'sessions.delete': DeleteOptions
  'session.run': RunOptions
  'session.stream': RunOptions
  'session.collect': CollectOptions
  'session.prompt': PromptOptions
  'session.steer': DeliveryOptions
  'session.inject': DeliveryOptions
  'session.cancel': CancelOptions
  'session.events': EventsOptions
  'session.update': UpdateOptions
}

type ObjectIn<V> = V extends readonly (infer Item)[] ? ObjectIn<Item> : V extends object ? V : never

/** Every name of `T` and no other: the compiler refuses a table that has drifted. `true` leaves what is inside alone. */
type Names<T> = { readonly [Name in keyof T]-?: true | Names<ObjectIn<T[Name]>> }

interface NameTable {
  readonly [name: string]: true | NameTable
}

const limits: Names<Limits> = {
  maxSteps: true,
  maxTotalTokens: true,
  maxCost: true,
  perTurn: { maxSteps: true, maxTotalTokens: true, maxCost: true },
}
const permissions: Names<PermissionPolicy> = { mode: true, rules: { tool: true, pattern: true, action: true } }
const modelOptions: Names<ModelOptions> = {
  temperature: true,
  maxOutputTokens: true,
  reasoningEffort: true,
  stop: true,
  seed: true,
  providerOptions: true,
}
const launch: Names<LaunchOptions> = {
  runtime: true,
  store: true,
  logLevel: true,
  model: true,
  cwd: true,
  env: true,
  onStderr: true,
  requestTimeoutMs: true,
}
const collect: Names<CollectOptions> = { until: true, timeoutMs: true, inactivityTimeoutMs: true, signal: true, onAbort: true }
const run: Names<RunOptions> = { ...collect, onBusy: true, metadata: true }
const delivery: Names<DeliveryOptions> = { messageId: true, metadata: true }
const update: Names<UpdateOptions> = {
  title: true,
  metadata: true,
  model: true,
  modelOptions,
  permissions,
  limits,
  outputSchema: true,
}

export const optionNames: { readonly [Call in keyof OptionsOf]: Names<OptionsOf[Call]> } = {
  'new Quiesce': launch,
  'Quiesce.launch': launch,
  'quiesce.models': { provider: true },
  'quiesce.tools': { sessionId: true },
  'sessions.create': {
    ...update,
    sessionId: true,
    cwd: true,
    roots: true,
    system: true,
    instructions: true,
    tools: true,
    clientTools: true,
    mcpServers: true,
    env: true,
    recovery: true,
  },
  'sessions.list': { cursor: true, limit: true, parentId: true, status: true, metadata: true },
  'sessions.delete': { tree: true },
  'session.run': run,
  'session.stream': run,
  'session.collect': collect,
  'session.prompt': { ...delivery, expect: true },
  'session.steer': delivery,
  'session.inject': delivery,
  'session.cancel': { scope: true, turnId: true, reason: true },
  'session.events': { after: true, from: { messageId: true }, signal: true },
  'session.update': update,
}

/**
 * @throws TypeError, which names the call and the option that it doesn't have, with the one that was probably meant; or the option
 * of this package's own whose value is wrong.
 */
export function checkOptions<Call extends keyof OptionsOf>(call: Call, options: OptionsOf[Call]): void {
  if (!isRecord(options) || isOpaque(options)) {
    throw new TypeError(`${call}(): the options must be an object, got ${shown(options)}`)
  }
  checkNames(call, '', options, optionNames[call])
  checkValues(call, options)
}

/** Inherited names count too. */
function checkNames(call: string, place: string, value: object, known: NameTable): void {
  for (const name in value) {
    const inside = Object.hasOwn(known, name) ? known[name] : undefined
    if (inside === undefined) throw new TypeError(`${call}(): unknown option ${place}${name}; ${advice(name, place, Object.keys(known))}`)
    if (inside !== true) checkInside(call, place + name, Reflect.get(value, name), inside)
  }
}

function checkInside(call: string, place: string, value: unknown, known: NameTable): void {
  if (Array.isArray(value)) for (const [index, item] of value.entries()) checkInside(call, `${place}[${index}]`, item, known)
  else if (isRecord(value)) checkNames(call, `${place}.`, value, known)
}

function advice(name: string, place: string, known: readonly string[]): string {
  const meant = nearest(name, known)
  return meant === undefined ? `known are ${known.map((each) => place + each).join(', ')}` : `did you mean ${place}${meant}?`
}

const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '')

/** The known name that takes the fewest letters to come to, if these are few; else one that holds the given name. */
function nearest(name: string, known: readonly string[]): string | undefined {
  const given = plain(name)
  let [best, fewest] = ['', Number.POSITIVE_INFINITY]
  for (const each of known) {
    const edits = distance(given, plain(each))
    if (edits < fewest) [best, fewest] = [each, edits]
  }
  if (fewest <= Math.max(1, given.length * 0.4)) return best
  return given.length < 3 ? undefined : known.find((each) => plain(each).includes(given))
}

/** How many letters must be put in, left out or replaced. */
function distance(from: string, to: string): number {
  let above = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [row, letter] of [...from].entries()) {
    const line = [row + 1]
    for (let column = 1; column <= to.length; column++) {
      const [replaced = 0, removed = 0, added = 0] = [above[column - 1], above[column], line[column - 1]]
      line.push(Math.min(replaced + (letter === to[column - 1] ? 0 : 1), removed + 1, added + 1))
    }
    above = line
  }
  return above[to.length] ?? 0
}
