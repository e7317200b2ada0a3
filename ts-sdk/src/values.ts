// Owns what the values of this package's own options must be. Refuses another at once, by its option and what would be right; leaves
// to the runtime what only the runtime reads.
import { isRecord } from './errors.ts'
import type { ContentInput } from './generated/protocol.ts'
import type { LaunchOptions } from './launch.ts'
import type { RunOptions } from './run.ts'
import type { CancelOptions, PromptOptions } from './session.ts'
import type { CreateOptions } from './sessions.ts'
import { isOpaque, kindOf, shown } from './shown.ts'
import type { EventsOptions } from './tail.ts'

interface Rule {
  /** What it must be, as the error says it. */
  what: string
  fits(value: unknown): boolean
  /** How a wrong value is told; `shown` where this isn't said. */
  told?(value: unknown): string
}

const text: Rule = { what: 'a string', fits: (value) => typeof value === 'string' }
const milliseconds: Rule = { what: 'a number of milliseconds', fits: (value) => typeof value === 'number' }
const isObject = (value: unknown): value is Record<string, unknown> => isRecord(value) && !isOpaque(value)
const record: Rule = { what: 'an object', fits: isObject }

function oneOf<Value extends string>(...values: readonly Value[]): Rule {
  return { what: values.map(quoted).join(' or '), fits: (value) => values.some((each) => each === value) }
}

const quoted = (value: string): string => `'${value}'`

const signal: Rule = {
  what: 'an AbortSignal',
  fits: isSignal,
  told: (value) => (isRecord(value) && isSignal(value.signal) ? `${shown(value)}: give its signal` : shown(value)),
}

function isSignal(value: unknown): boolean {
  return isRecord(value) && typeof value.aborted === 'boolean' && typeof value.addEventListener === 'function'
}

/** An environment may hold secrets, so no error shows what is in it. */
const environment: Rule = {
  what: 'an object of strings',
  fits: (value) => isObject(value) && Object.values(value).every((each) => each === undefined || typeof each === 'string'),
  told(value) {
    const odd = isRecord(value) ? Object.entries(value).find(([, each]) => each !== undefined && typeof each !== 'string') : undefined
    return odd === undefined ? kindOf(value) : `${kindOf(odd[1])} for ${odd[0]}`
  },
}

type Own = LaunchOptions &
  RunOptions &
  EventsOptions &
  Pick<CancelOptions, 'scope'> &
  Pick<PromptOptions, 'expect'> &
  Pick<CreateOptions, 'roots'>

/** One rule for a name, whichever call takes it: a name means the same everywhere. */
const rules: { readonly [Name in keyof Own]-?: Rule } = {
  runtime: text,
  store: text,
  logLevel: text,
  model: text,
  cwd: text,
  roots: { what: 'an array of strings', fits: (value) => Array.isArray(value) && value.every((root) => typeof root === 'string') },
  env: environment,
  onStderr: { what: 'a function', fits: (value) => typeof value === 'function' },
  requestTimeoutMs: milliseconds,
  timeoutMs: milliseconds,
  inactivityTimeoutMs: milliseconds,
  signal,
  until: oneOf<NonNullable<Own['until']>>('idle', 'quiescent'),
  onAbort: oneOf<NonNullable<Own['onAbort']>>('cancel', 'detach'),
  onBusy: oneOf<NonNullable<Own['onBusy']>>('join', 'reject'),
  scope: oneOf<NonNullable<Own['scope']>>('turn', 'session', 'tree'),
  expect: oneOf<NonNullable<Own['expect']>>('idle'),
  metadata: record,
  after: {
    what: "a seq (an integer from 0) or 'now'",
    fits: (value) => value === 'now' || (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0),
  },
  from: { what: 'an object with a messageId', fits: (value) => isRecord(value) && typeof value.messageId === 'string' },
}

const ruleOf = new Map<string, Rule>(Object.entries(rules))

/** @throws TypeError, which names the call, the option, its value and what would be right. An option that is undefined isn't given. */
export function checkValues(call: string, options: object): void {
  for (const [name, value] of Object.entries(options)) {
    const rule = ruleOf.get(name)
    if (value === undefined || rule === undefined || rule.fits(value)) continue
    throw new TypeError(`${call}(): ${name} must be ${rule.what}, got ${(rule.told ?? shown)(value)}`)
  }
}

/** What is in the blocks is the runtime's to judge. @throws TypeError where it is neither a text nor an array. */
export function checkContent(call: string, content: ContentInput): void {
  if (typeof content === 'string' || Array.isArray(content)) return
  throw new TypeError(`${call}(): the content must be a string or an array of content blocks, got ${shown(content)}`)
}
