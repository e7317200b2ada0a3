// Owns the trace of a case: what it left, without what differs from run to run, so that two languages, and two ways to the model, can be
// compared.
import { dirname } from 'node:path'
import { type Case, isObject, type Json, type JsonObject } from './case.ts'
import type { Values } from './values.ts'
import type { Trace } from './verdict.ts'

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
  'nextCursor',
  // Who cancelled: a client, by the name that it gave itself.
  'by',
])
/** Whose name is the same in every language. */
const known = new Set(['runtime'])
const moments = new Set(['time', 'createdAt', 'updatedAt', 'durationMs', 'delayMs', 'sinceMs'])
/** What one language has on purpose and the other hasn't (RUN-4). */
const ofOneLanguage = new Set(['finish_reason'])
/** Of an error: its words are those of a language, and how much had come by then is a matter of speed. */
const ofAnError = new Set(['message', 'partial', 'lastStatus', 'lastEvent', 'stderr'])
/** An id that may stand within other texts, too: paths, the words of an error. */
const LONG_ID = 12

export function traceOf(of: Case, values: Values): Trace {
  const results = of.steps.flatMap(({ args }) => {
    const as = isObject(args) && typeof args.as === 'string' ? args.as : null
    const value = as === null ? undefined : values.at(as)
    return value === undefined ? [] : [[as, comparable(value as Json)]]
  })
  const left: Json = [results as Json, comparable((values.at('log') ?? null) as Json)]
  const places = [dirname(String(values.at('cwd'))), String(values.at('model'))]
  return { whole: written(left, places), common: written(withoutWordsOfModels(left), places) }
}

/** What a step left, as far as it is the same each time. */
function comparable(value: Json): Json {
  if (!isObject(value)) return ordered(value)
  const { items, error, ...rest } = value
  return {
    ...(ordered(rest) as JsonObject),
    ...(isObject(error) && { error: Object.fromEntries(Object.entries(error).filter(([name]) => !ofAnError.has(name))) }),
    ...(error !== undefined && !isObject(error) && { error }),
    // How a text was cut into pieces on its way is nobody's promise (TU-4); nor is how much still comes where it was given up.
    ...(Array.isArray(items) &&
      error === undefined && { items: ordered(items.filter((item) => !isObject(item) || item.kind !== 'delta')) }),
  }
}

/** Tools that run side by side end in any order (TU-7): in a row of their results, that of their calls. */
function ordered(value: Json): Json {
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, ordered(each)]))
  if (!Array.isArray(value)) return value
  const list = value.map(ordered)
  const calls = list.flatMap((each) => (typeOf(each) === 'tool/call' ? [callOf(each)] : []))
  for (let from = 0; from < list.length; from += 1) {
    let end = from
    while (end < list.length && typeOf(list[end]) === 'tool/result') end += 1
    if (end - from < 2) continue
    const row = list.slice(from, end)
    const sorted = row.toSorted((a, b) => calls.indexOf(callOf(a)) - calls.indexOf(callOf(b)))
    for (const [i, fact] of sorted.entries()) list[from + i] = withSeq(fact, row[i])
    from = end
  }
  return list
}

/** A stream's items hold their facts within. */
const factOf = (item: Json | undefined): JsonObject => {
  const found = isObject(item) && isObject(item.event) ? item.event : item
  return isObject(found) ? found : {}
}
const typeOf = (item: Json | undefined): Json | undefined => factOf(item).type
const callOf = (item: Json | undefined): string => {
  const { data } = factOf(item)
  return isObject(data) ? String(data.callId) : ''
}

/** The item at the place of another. */
function withSeq(item: Json, place: Json | undefined): Json {
  const moved: JsonObject = { ...factOf(item), seq: factOf(place).seq ?? null }
  return isObject(item) && isObject(item.event) ? { ...item, event: moved } : moved
}

/** The runtime tells the failure of each model in that model's words. */
function withoutWordsOfModels(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutWordsOfModels)
  if (!isObject(value)) return value
  const isModels = typeof value.code === 'string' && value.code.startsWith('model_')
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !isModels || key !== 'message')
      .map(([key, each]) => [key, withoutWordsOfModels(each)]),
  )
}

/** As text, with names for ids and places; each language works in a directory of its own. */
function written(value: Json, [home = '', model = '']: readonly string[]): string {
  const names = new Map<string, string>()
  const plain = (each: Json, key = ''): Json => {
    if (Array.isArray(each)) return each.map((inner) => plain(inner, key))
    if (isObject(each))
      return Object.fromEntries(
        Object.keys(each)
          .filter((name) => !ofOneLanguage.has(name))
          .sort()
          .map((name) => [name, plain(each[name] ?? null, name)]),
      )
    if (moments.has(key)) return 0
    if (typeof each !== 'string' || !ids.has(key) || known.has(each)) return each
    if (!names.has(each)) names.set(each, `${key} ${names.size + 1}`)
    return names.get(each) ?? each
  }
  let text = JSON.stringify(plain(value)).replaceAll(home, '/home').replaceAll(`"${model}"`, '"/model"')
  for (const [id, name] of names) if (id.length >= LONG_ID) text = text.replaceAll(id, name)
  return text
}
