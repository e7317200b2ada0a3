// Owns what each method does: one row per method, from valid params to a result. Decides nothing itself.
import {
  type MethodName,
  type ModelInfoOf,
  methods,
  PROTOCOL_VERSION,
  type Result,
  type ServerLimitsOf,
  type ToolInfoOf,
} from '@quiesce/schema'
import type * as z from 'zod/mini'
import type { Sessions } from '../agent/sessions.ts'
import { VERSION } from '../base/version.ts'
import { Refusal } from '../log/refusal.ts'
import type { Subscriptions } from '../subscriptions/subscriptions.ts'
import { checkParams } from './check-params.ts'
import type { Answer } from './peer.ts'

/** What the methods are made of. */
export interface ServerPorts {
  sessions: Sessions
  limits: ServerLimitsOf
  models(provider: string | undefined): ModelInfoOf[]
  /** Of a session, or of the runtime. *Contract:* rejects with Refusal `session_not_found`. */
  tools(sessionId: string | undefined): Promise<ToolInfoOf[]>
  now(): number
}

/** A request whose params fit, ready to run. */
export interface Prepared {
  /** The session that it is about, or null. */
  sessionId: string | null
  /** `any-size` where the answer holds what was stored, so that a small request may have a large one. */
  answer: 'small' | 'any-size'
  run(): Promise<Answer>
}

/** *Contract:* throws InvalidParams. */
export type Prepare = (params: unknown) => Prepared

/** What a connection adds: its own subscriptions, who it is, for a cancel, and the way to stop the runtime. */
export interface Connected {
  subscriptions: Subscriptions
  by(): string
  /** Called within the dispatch of `initialize`, so that what was sent along with it finds the connection open. */
  initialized(client: string): void
  /** Resolves once everything is committed. */
  stop(): Promise<void>
  /** The runtime is stopped and the client knows. */
  stopped(): void
}

export function serveMethods(ports: ServerPorts, connected: Connected): Readonly<Record<MethodName, Prepare>> {
  const { sessions } = ports
  const { subscriptions } = connected
  return {
    initialize: row(methods.initialize, async ({ protocol, client }) => {
      const result = welcome(protocol, ports.limits)
      connected.initialized(client.name)
      return { result }
    }),
    'session/create': row(methods['session/create'], async (params) => ({ result: { session: await sessions.create(params) } })),
    'session/get': stored(methods['session/get'], async ({ sessionId }) => ({ result: { session: await sessions.describe(sessionId) } })),
    'session/list': stored(methods['session/list'], async (params) => ({ result: await sessions.list(params) })),
    'session/update': stored(methods['session/update'], async (params) => ({ result: { session: await sessions.update(params) } })),
    'session/delete': row(methods['session/delete'], async ({ sessionId }) => {
      await sessions.delete(sessionId)
      return { result: {} }
    }),
    'session/prompt': row(methods['session/prompt'], async (params) => ({ result: await sessions.prompt(params) })),
    'session/withdraw': row(methods['session/withdraw'], async ({ sessionId, messageId }) => ({
      result: { withdrawn: await sessions.withdraw(sessionId, messageId) },
    })),
    'session/cancel': row(methods['session/cancel'], async (params) => ({ result: await sessions.cancel(params, connected.by()) })),
    'session/status': row(methods['session/status'], async ({ sessionId }) => ({ result: await sessions.status(sessionId) })),
    'session/events': stored(methods['session/events'], async (params) => ({ result: await sessions.events(params) })),
    'session/messages': stored(methods['session/messages'], async (params) => ({ result: await sessions.messages(params) })),
    'session/subscribe': row(methods['session/subscribe'], async (params) => {
      const { result, start } = await subscriptions.subscribe(params)
      return { result, afterwards: start }
    }),
    'session/unsubscribe': row(methods['session/unsubscribe'], async ({ subscriptionId }) => {
      await subscriptions.unsubscribe(subscriptionId)
      return { result: {} }
    }),
    'model/list': row(methods['model/list'], async ({ provider }) => ({ result: { models: ports.models(provider) } })),
    'tool/list': row(methods['tool/list'], async ({ sessionId }) => ({ result: { tools: await ports.tools(sessionId) } })),
    'server/ping': row(methods['server/ping'], async () => ({ result: { time: ports.now() } })),
    shutdown: row(methods.shutdown, async () => {
      await connected.stop()
      return { result: {}, afterwards: connected.stopped }
    }),
  }
}

interface Method<P extends z.ZodMiniType, R extends z.ZodMiniType> {
  params: P
  result: R
}

/** One row: params are checked here and nowhere else. */
function row<P extends z.ZodMiniType, R extends z.ZodMiniType>(
  method: Method<P, R>,
  handler: (params: z.output<P>) => Promise<{ result: z.output<R>; afterwards?: () => void }>,
): Prepare {
  return (params) => {
    const valid = checkParams(method.params, params)
    return { sessionId: sessionOf(params), answer: 'small', run: () => handler(valid) }
  }
}

/** A row whose answer holds what was stored. */
function stored<P extends z.ZodMiniType, R extends z.ZodMiniType>(...of: Parameters<typeof row<P, R>>): Prepare {
  const prepare = row(...of)
  return (params) => ({ ...prepare(params), answer: 'any-size' })
}

function sessionOf(params: unknown): string | null {
  if (typeof params !== 'object' || params === null || !('sessionId' in params)) return null
  return typeof params.sessionId === 'string' ? params.sessionId : null
}

export const methodNames = Object.keys(methods)

export const isMethod = (name: string): name is MethodName => Object.hasOwn(methods, name)

function welcome(range: { min: number; max: number }, limits: ServerLimitsOf): Result<'initialize'> {
  if (range.min > PROTOCOL_VERSION || range.max < PROTOCOL_VERSION)
    throw new Refusal(
      'unsupported_protocol',
      `this runtime (${VERSION}) speaks protocol ${PROTOCOL_VERSION}, the client speaks ${range.min} to ${range.max}`,
      { supported: { min: PROTOCOL_VERSION, max: PROTOCOL_VERSION } },
    )
  return {
    protocol: PROTOCOL_VERSION,
    server: { name: 'quiesce', version: VERSION },
    capabilities: { methods: methodNames, deltas: true },
    limits,
  }
}
