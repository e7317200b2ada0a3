// What the compiler must know of the generated types: that tags narrow, typing errors show, and unknown kinds have a branch.
import { expect, expectTypeOf, test } from 'vitest'
import { errorCodes } from './generated/errors.ts'
import type { Methods, Notifications } from './generated/methods.ts'
import type { ContentBlock, Fact, SessionPromptParams, TurnEndKind, UnknownEvent } from './generated/protocol.ts'
import type {
  CancelOptions,
  CreateOptions,
  DeleteOptions,
  EventsOptions,
  LaunchOptions,
  ModelListParams,
  PromptOptions,
  RunOptions,
  SessionListParams,
  Until,
  UpdateOptions,
} from './index.ts'

function told(event: Fact): string {
  switch (event.type) {
    case 'turn/end':
      expectTypeOf(event.data.reason.kind).toEqualTypeOf<TurnEndKind>()
      return event.data.reason.kind
    case 'inbox/receipt':
      return event.data.message.content.map(shown).join('')
    case 'tool/call':
      expectTypeOf(event.data.input).toEqualTypeOf<unknown>()
      return event.data.name
    case 'unknown':
      expectTypeOf(event).toEqualTypeOf<UnknownEvent>()
      return event.originalType
    // @ts-expect-error no fact has this type
    case 'turn/finished':
      return ''
    default:
      // @ts-expect-error no other fact has a reason
      event.data.reason
      return `${event.seq} ${event.data}`
  }
}

function shown(block: ContentBlock): string {
  if (block.type === 'text') return block.text
  if (block.type === 'unknown') return String(block.raw.type)
  // @ts-expect-error no other block is sure to have a text
  return block.text ?? block.type
}

test('a switch by type narrows', () => {
  const turnEnd: Fact = {
    type: 'turn/end',
    seq: 1,
    time: 1,
    data: { turnId: 't', reason: { kind: 'a kind of the future' }, usage: { inputTokens: 0, outputTokens: 0 } },
  }
  expect(told(turnEnd)).toBe('a kind of the future')
  expect(shown({ type: 'unknown', originalType: 'video', raw: { type: 'video' } })).toBe('video')
})

test('a misspelt field is an error of the compiler', () => {
  // @ts-expect-error `delivry` is no field of the params
  const params: SessionPromptParams = { sessionId: 's', content: 'x', delivry: 'steer' }
  expect(params).toBeDefined()
})

test('what may be left out may be undefined, in options and in what is inside them', () => {
  const maybe = <T>(value: T): T | undefined => value
  const run: RunOptions = {
    until: maybe<Until>('idle'),
    timeoutMs: maybe(1),
    inactivityTimeoutMs: maybe(1),
    signal: maybe(new AbortController().signal),
    onAbort: maybe<'detach'>('detach'),
    onBusy: maybe<'join'>('join'),
    metadata: maybe({}),
  }
  const create: CreateOptions = {
    cwd: maybe('.'),
    model: maybe('m'),
    permissions: maybe<'edit'>('edit'),
    limits: { maxSteps: maybe(1), perTurn: { maxCost: maybe(1) } },
    modelOptions: { temperature: maybe(1) },
  }
  const prompt: PromptOptions = { messageId: maybe('m'), expect: maybe<'idle'>('idle'), metadata: maybe({}) }
  const launch: LaunchOptions = {
    runtime: maybe('r'),
    store: maybe('s'),
    logLevel: maybe('warn'),
    model: maybe('m'),
    cwd: maybe('.'),
    env: maybe({}),
    onStderr: maybe(() => {}),
    requestTimeoutMs: maybe(1),
  }
  const events: EventsOptions = { after: maybe(1), from: maybe({ messageId: 'm' }), signal: maybe(new AbortController().signal) }
  const cancel: CancelOptions = { scope: maybe<'tree'>('tree'), turnId: maybe('t'), reason: maybe('r') }
  const update: UpdateOptions = { title: maybe('t'), permissions: maybe<'edit'>('edit') }
  const filters: [SessionListParams, ModelListParams, DeleteOptions] = [
    { limit: maybe(1) },
    { provider: maybe('p') },
    { tree: maybe(true) },
  ]
  expect([run, create, prompt, launch, events, cancel, update, filters]).toHaveLength(8)
})

test('the tables have their types', () => {
  expectTypeOf<Methods['session/prompt']['result']>().toHaveProperty('messageId')
  expectTypeOf<keyof Notifications>().toEqualTypeOf<'session.event' | 'session.status' | 'session.delta' | 'session.closed'>()
  expectTypeOf(errorCodes.session_busy.className).toEqualTypeOf<'SessionBusyError'>()
  expect(errorCodes.session_busy.retryable).toBe(true)
})
