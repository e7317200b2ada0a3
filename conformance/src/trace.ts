// Owns the trace of a case: what it left, without what differs from run to run, so that two languages can be compared.
import { type Case, isObject, type Json } from './case.ts'
import type { Values } from './values.ts'

/** Ids by which things are known; each gets a name by its first appearance. */
const ids = new Set([
  'sessionId',
  'messageId',
  'id',
  'turnId',
  'stepId',
  'activityId',
  'outputId',
  'callId',
  'requestId',
  'vendorCallId',
  'opener',
])
const moments = new Set(['time', 'createdAt', 'updatedAt', 'durationMs', 'delayMs', 'sinceMs'])
/** What one language has on purpose and the other hasn't (RUN-4). */
const ofOneLanguage = new Set(['finish_reason'])

export function traceOf(of: Case, values: Values): string {
  const names = new Map<string, string>()
  const plain = (value: unknown, key = ''): Json => {
    if (Array.isArray(value)) return value.map((each) => plain(each, key))
    if (isObject(value))
      return Object.fromEntries(
        Object.keys(value)
          .filter((each) => !ofOneLanguage.has(each))
          .sort()
          .map((each) => [each, plain(value[each], each)]),
      )
    if (moments.has(key)) return 0
    if (typeof value !== 'string') return value as Json
    if (!ids.has(key)) return value
    if (!names.has(value)) names.set(value, `${key} ${names.size + 1}`)
    return names.get(value) ?? value
  }
  const results = of.steps.flatMap(({ name, args }) => {
    const as = isObject(args) && typeof args.as === 'string' ? args.as : null
    const value = as === null || name === 'stream' || name === 'events' ? undefined : values.at(as)
    return value === undefined ? [] : [[as, plain(value)]]
  })
  const cwd = values.at('cwd')
  const trace = JSON.stringify([results, plain(values.at('log') ?? null)])
  // Each language works in a directory of its own.
  return typeof cwd === 'string' ? trace.replaceAll(cwd, '/work') : trace
}
