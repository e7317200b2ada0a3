// Owns the reading of a reducer's vector as a case of layer L0: its facts are played to an SDK that collects, or runs, its message.
import { type Case, isObject, type Json, type JsonObject, type Step } from './case.ts'

/** A vector says what comes of facts; see cases/README.md. */
export const isVector = (data: unknown): data is JsonObject => isObject(data) && Array.isArray(data.facts) && isObject(data.expect)

/** The id that the SDK gave its prompt, where it chooses one. */
const chosen = `\${prompt.params.messageId}`

export function caseOfVector(data: JsonObject): Case {
  const { name, about, covers, sessionId = 's-1', messageId = 'm-1', until = 'idle', after, expect } = data
  const runs = typeof after === 'number'
  const renamed = (value: Json | undefined): Json => (runs ? rename(value ?? null, String(messageId), chosen) : (value ?? null))
  const { result, finish_reason: finish, partial, error, done } = isObject(expect) ? expect : {}
  const begin: [string, Json][] = runs
    ? [
        ['run', { as: 'a', input: 'hello', until }],
        ['peer.expect', { method: 'session/prompt', as: 'prompt' }],
      ]
    : [['collect', { as: 'a', messageId, until }]]
  const events: [string, Json] = ['peer.events', { facts: renamed(data.facts), subscription: 1 }]
  const answer: [string, Json][] = runs ? [['peer.answer', { to: 'prompt', result: { messageId: chosen } }]] : []
  const goesOn = done === false && error === undefined
  const end: [string, Json][] = goesOn
    ? [
        ['pending', 'a'],
        ['abort', 'a'],
      ]
    : [['await', 'a']]
  const steps = [['get', { sessionId }] as [string, Json], ...begin, events, ...answer, ...end].map(
    ([step, args]): Step => ({ name: step, args }),
  )
  const whole = renamed(goesOn ? partial : result)
  const place = goesOn ? 'a.error.partial' : 'a.result'
  return {
    id: `reducer/${String(name)}`,
    title: String(about),
    covers: Array.isArray(covers) ? covers.map(String) : [],
    layer: 'L0',
    transport: 'scripted',
    uncompared: null,
    ...{ model: [], files: {}, env: {}, session: {}, same: [] },
    peer: runs ? { seq: after } : {},
    steps,
    expect: isObject(error) ? { 'a.error.class': error.class ?? null } : goesOn ? { [place]: whole } : { 'a.result': whole },
    only:
      isObject(error) || goesOn
        ? {}
        : {
            typescript: { 'a.result': { $exact: whole } },
            python: { 'a.result': { $exact: { ...(whole as JsonObject), finish_reason: finish ?? null } } },
          },
  }
}

function rename(value: Json, from: string, to: string): Json {
  if (value === from) return to
  if (Array.isArray(value)) return value.map((each) => rename(each, from, to))
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, rename(each, from, to)])) : value
}
