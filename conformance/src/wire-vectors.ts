// Owns the reading of a list of wire vectors as one case of layer L0: each value is played to an SDK at the place where its type reaches
// a caller, must come out as it went in, or be a ProtocolError that names the place.
import { type Case, isObject, type Json, type JsonObject, type Step } from './case.ts'

/** A value, its type, and the verdict; see cases/README.md. */
interface Vector {
  readonly name: string
  readonly type: string
  readonly verdict: 'valid' | 'unknown' | 'invalid'
  readonly path: string
  readonly value: Json
}

/** How a value is played: the steps that leave `as`, and what is expected of it where the value is good. */
interface Played {
  steps: readonly [string, Json][]
  expect: JsonObject
  /** Where the value lies within what the SDK reads as one. */
  prefix: string
}
type Play = (as: string, value: Json, nth: number) => Played

export const isWire = (data: unknown): data is JsonObject[] =>
  Array.isArray(data) && data.length > 0 && data.every((each) => isObject(each) && typeof each.verdict === 'string' && 'value' in each)

export function caseOfWire(id: string, data: readonly JsonObject[]): Case {
  const steps: [string, Json][] = [
    ['get', { as: 'session', sessionId: 's-1', wait: false }],
    ['peer.expect', { method: 'session/get', as: 'got' }],
    ['peer.accept', 'got'],
    ['await', 'session'],
  ]
  const expect: { [path: string]: Json } = {}
  let subscriptions = 0
  for (const { name, type, verdict, path, value } of data.map(vectorOf)) {
    const play = plays[type]
    if (play === undefined) continue
    const as = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
    const played = play(as, value, subscriptions + 1)
    if (played.steps.some(([step]) => step === 'events' || step === 'stream')) subscriptions += 1
    steps.push(...played.steps.flatMap((step) => (verdict === 'invalid' ? refused(step, as) : [step])))
    const place = [played.prefix, path.replace(/^event\./, '')]
      .filter((part) => part !== '')
      .join('.')
      .replaceAll('.[', '[')
    expect[as] =
      verdict === 'invalid'
        ? { error: { class: 'ProtocolError', ...(path !== '' && { message: { $matches: escaped(place) } }) } }
        : played.expect
  }
  return {
    ...{ id, title: `Values of the wire, as an SDK's caller meets them: ${id}.`, covers: ['FR-4'], layer: 'L0' },
    ...{ transport: 'scripted', uncompared: null, model: [], files: {}, env: {}, session: {}, same: [], only: {} },
    peer: { manual: ['session/get', 'session/messages', 'session/status', 'session/delete', 'model/list', 'tool/list'] },
    steps: steps.map(([step, args]): Step => ({ name: step, args })),
    expect,
  }
}

const vectorOf = ({ name, type, verdict, path = '', value = null }: JsonObject): Vector => ({
  name: String(name),
  type: String(type),
  verdict: verdict === 'invalid' || verdict === 'unknown' ? verdict : 'valid',
  path: String(path),
  value,
})

/** What is refused ends by itself: nobody waits for an item of it, or gives it up. */
function refused([step, args]: [string, Json], as: string): [string, Json][] {
  if (step === 'abort') return []
  return step === 'await' && isObject(args) && args.item === as ? [] : [[step, args]]
}

const escaped = (text: string): string => text.replaceAll(/[.[\]]/g, '\\$&')

/** As a fact of the session, to somebody who watches it from a message on: there the first one may have any seq. */
const asFact =
  (within: (value: Json) => Json, prefix: string): Play =>
  (as, value, nth) => {
    const event = within(value)
    return {
      steps: [
        ['events', { as, from: { messageId: 'm-1' } }],
        ['peer.events', { facts: [event], subscription: nth, verbatim: true }],
        ['await', { item: as }],
        ['abort', as],
        ['await', as],
      ],
      expect: { items: [{ $exact: { sessionId: 's-1', ...(isObject(event) && event) } }] },
      prefix,
    }
  }

const fact = (type: string, data: JsonObject): Json => ({ sessionId: 's-1', seq: 7, type, time: 1, data })
const receipt = (message: JsonObject): Json =>
  fact('inbox/receipt', { message: { id: 'm-1', delivery: 'followup', origin: { kind: 'user' }, content: [], ...message } })
const usage = { inputTokens: 1, outputTokens: 1 }

/** As the answer to an operation that asks for it. */
const asAnswer =
  (operation: [string, JsonObject], method: string, result: (value: Json) => Json, expected: (value: Json) => Json, prefix = ''): Play =>
  (as, value) => ({
    steps: [
      [operation[0], { ...operation[1], as, wait: false }],
      ['peer.expect', { method, as: `asked-${as}` }],
      ['peer.answer', { to: `asked-${as}`, result: result(value) }],
      ['await', as],
    ],
    expect: { result: { $exact: expected(value) } },
    prefix,
  })

const itself = (value: Json): Json => value
const memberOf =
  (name: string) =>
  (value: Json): Json =>
    isObject(value) ? (value[name] ?? null) : null

/** As a notification to somebody who watches; one that ends the watching is waited for. */
const asNotification =
  (method: string, ends: boolean, expected: (value: JsonObject) => JsonObject): Play =>
  (as, value, nth) => ({
    steps: [
      ['events', { as, from: { messageId: 'm-1' } }],
      ['peer.notify', { method, params: value, subscription: nth }],
      ...((ends
        ? []
        : [
            ['await', { item: as }],
            ['abort', as],
          ]) as [string, Json][]),
      ['await', as],
    ],
    expect: expected(isObject(value) ? value : {}),
    prefix: '',
  })

/** The kinds of delta that a caller is shown; one of another kind may be left out, as any delta may (TU-4). */
const shownDeltas = ['text', 'reasoning', 'tool_input']

/** As a delta of a run whose message was received. */
const asDelta: Play = (as, value, nth) => {
  const id = `\${asked-${as}.params.messageId}`
  const { kind = null, text = null } = isObject(value) ? value : {}
  const shows = shownDeltas.includes(String(kind))
  return {
    steps: [
      ['stream', { as, input: 'hello', onAbort: 'detach' }],
      ['peer.expect', { method: 'session/prompt', as: `asked-${as}` }],
      ['peer.answer', { to: `asked-${as}`, result: { messageId: id } }],
      ['peer.events', { facts: [{ ...(receipt({ id }) as JsonObject), seq: 1 }], subscription: nth }],
      ['peer.notify', { method: 'session.delta', params: value, subscription: nth }],
      shows ? ['await', { item: as, where: { kind: 'delta' } }] : ['pending', as],
      ['abort', as],
      ['await', as],
    ],
    expect: {
      items: shows ? [{ kind: 'event' }, { kind: 'delta', text }] : { $first: { kind: 'event' } },
      error: { class: { $not: 'ProtocolError' } },
    },
    prefix: '',
  }
}

const asError =
  (error: (value: Json) => Json, code: (value: Json) => Json): Play =>
  (as, value) => ({
    steps: [
      ['models', { as, wait: false }],
      ['peer.expect', { method: 'model/list', as: `asked-${as}` }],
      ['peer.answer', { to: `asked-${as}`, error: error(value) }],
      ['await', as],
    ],
    expect: { error: { code: code(value) } },
    prefix: '',
  })

const codeOfReason: Readonly<Record<string, string>> = {
  ...{ deleted: 'session_not_found', fenced: 'fenced', storage: 'storage_unavailable', shutdown: 'shutting_down' },
}

/** By type, where it reaches a caller. What an SDK only sends, and what it keeps to itself, is not here. */
const plays: Readonly<Record<string, Play>> = {
  Fact: asFact(itself, ''),
  Content: asFact((content) => receipt({ content }), 'data.message.content'),
  ContentBlock: asFact((block) => receipt({ content: [block] }), 'data.message.content[0]'),
  Origin: asFact((origin) => receipt({ origin }), 'data.message.origin'),
  Trigger: asFact((trigger) => fact('turn/start', { turnId: 't-1', activityId: 'a-1', trigger }), 'data.trigger'),
  WaitingOn: asFact((waits) => fact('agent/status', { status: 'idle', activityId: 'a-1', waitingOn: [waits] }), 'data.waitingOn[0]'),
  TurnEndReason: asFact((reason) => fact('turn/end', { turnId: 't-1', reason, usage }), 'data.reason'),
  SessionEventParams: asNotification('session.event', false, ({ event }) => ({
    items: [{ $exact: { sessionId: 's-1', ...(isObject(event) && event) } }],
  })),
  SessionClosedParams: asNotification('session.closed', true, ({ reason, error }) => {
    const code = memberOf('code')(memberOf('data')(error ?? null))
    return { error: { class: { $not: 'ProtocolError' }, code: code ?? codeOfReason[String(reason)] ?? 'internal' } }
  }),
  SessionDeltaParams: asDelta,
  SessionMessagesResult: asAnswer(['messages', {}], 'session/messages', itself, memberOf('messages')),
  SessionStatusResult: asAnswer(['status', {}], 'session/status', itself, itself),
  BlockedOn: asAnswer(
    ['status', {}],
    'session/status',
    (blocked) => status(blocked),
    (blocked) => status(blocked),
    'blockedOn[0]',
  ),
  SessionCreateResult: asAnswer(['describe', {}], 'session/get', itself, memberOf('session')),
  SessionPromptResult: asAnswer(['prompt', { input: 'hello' }], 'session/prompt', itself, itself),
  SessionCancelResult: asAnswer(['cancel', {}], 'session/cancel', itself, itself),
  SessionDeleteResult: asAnswer(['delete', { sessionId: 's-1' }], 'session/delete', itself, () => ({})),
  ShutdownResult: asAnswer(['delete', { sessionId: 's-1' }], 'session/delete', itself, () => ({})),
  ModelListResult: asAnswer(['models', {}], 'model/list', itself, memberOf('models')),
  ToolInfo: asAnswer(
    ['tools', {}],
    'tool/list',
    (tool) => ({ tools: [tool] }),
    (tool) => [tool],
    'tools[0]',
  ),
  RpcErrorObject: asError(itself, () => 'invalid_params'),
  RpcErrorData: asError((data) => ({ code: -32000, message: 'no', data }), memberOf('code')),
}

const status = (blocked: Json): Json => ({
  ...{ status: 'running', seq: 7, activityId: 'a-1', waitingOn: [], blockedOn: [blocked] },
  ...{ pending: { followup: 0, steer: 0, inject: 0 }, resident: true },
})

/** The types that are played, for the documentation's test. */
export const playedTypes = Object.keys(plays)
