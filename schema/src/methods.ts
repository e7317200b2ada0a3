// Owns the requests: name, params and result of each.
import * as z from 'zod/mini'
import { ContentInput, Message } from './content.ts'
import { Fact } from './facts.ts'
import { field, named } from './registry.ts'
import { JsonSchema, MessageId, Metadata, Seq, SessionId, UnixMs } from './scalars.ts'
import { AgentStatusName, BlockedOn, Session, SessionChange, SessionCreateOptions, WaitingOn } from './session.ts'

const methodId = (name: string): string => name.replace(/(^|\/)([a-z])/g, (_, __, letter: string) => letter.toUpperCase())

function method<P extends z.ZodMiniType, R extends z.ZodMiniType>(name: string, description: string, params: P, result: R) {
  const id = methodId(name)
  return {
    description,
    params: named(`${id}Params`, `Params of \`${name}\`. ${description}`, params),
    result: named(`${id}Result`, `Result of \`${name}\`.`, result),
  }
}

const empty = () => z.looseObject({})
const limit = (max: number) => z.optional(z.int().check(z.minimum(1), z.maximum(max)))
const ofSession = () => z.looseObject({ sessionId: SessionId })
const session = () => z.looseObject({ session: Session })

export const Model = named(
  'ModelInfo',
  'A model that can be named in `session/create`.',
  z.looseObject({
    model: field('`provider/model`.', z.string()),
    provider: z.string(),
    available: field('False where something is missing, for example its key.', z.boolean()),
    reason: z.optional(z.string()),
    contextWindow: z.optional(z.int()),
    default: z.optional(z.boolean()),
  }),
)
export const ToolInfo = named(
  'ToolInfo',
  'A tool that the model may call.',
  z.looseObject({ name: z.string(), description: z.string(), parameters: JsonSchema }),
)
export const ServerLimits = named(
  'ServerLimits',
  'Limits of the server.',
  z.looseObject({ maxFrameBytes: z.int(), maxInFlight: z.int(), maxPendingMessages: z.int() }),
)
export const ServerCapabilities = named(
  'ServerCapabilities',
  'What this server can do: the methods that it serves.',
  z.looseObject({ methods: z.array(z.string()), deltas: z.boolean() }),
)
export const After = named(
  'After',
  'Where a subscription starts: behind a `seq`, at `"now"`, or with one cursor per session.',
  z.union([Seq, z.literal('now'), z.record(z.string(), Seq)]),
)
export const From = named('FromMessage', "The cursor just before a message's receipt.", z.looseObject({ messageId: MessageId }))

const ProtocolRange = named(
  'ProtocolRange',
  'The protocol versions that a client speaks, both ends included.',
  z.looseObject({ min: z.int(), max: z.int() }),
)
const PeerInfo = named('PeerInfo', 'The name and version of a program.', z.looseObject({ name: z.string(), version: z.string() }))
const WithdrawnMessage = named(
  'WithdrawnMessage',
  'A pending message that a cancel withdrew.',
  z.looseObject({ sessionId: SessionId, messageId: MessageId }),
)
const PendingCounts = named(
  'PendingCounts',
  'How many messages are pending, by delivery.',
  z.looseObject({ followup: z.int(), steer: z.int(), inject: z.int() }),
)

export const methods = {
  initialize: method(
    'initialize',
    'Comes first, once (FR-3).',
    z.looseObject({
      protocol: ProtocolRange,
      client: PeerInfo,
      capabilities: z.optional(Metadata),
    }),
    z.looseObject({
      protocol: z.int(),
      server: PeerInfo,
      capabilities: ServerCapabilities,
      limits: ServerLimits,
    }),
  ),
  'session/create': method('session/create', 'Creates a session.', z.looseObject(SessionCreateOptions.shape), session()),
  'session/get': method('session/get', 'Describes a session.', ofSession(), session()),
  'session/list': method(
    'session/list',
    'Lists sessions, newest first.',
    z.looseObject({
      cursor: z.optional(z.string()),
      limit: limit(1000),
      parentId: z.optional(SessionId),
      status: z.optional(z.enum(['running', 'idle'])),
      metadata: z.optional(Metadata),
    }),
    z.looseObject({ sessions: z.array(Session), nextCursor: z.optional(z.string()) }),
  ),
  'session/update': method(
    'session/update',
    'Changes the configuration; absent fields stay.',
    z.looseObject({ ...SessionChange.shape, sessionId: SessionId }),
    session(),
  ),
  'session/delete': method(
    'session/delete',
    'Deletes a session (DEL-1).',
    z.looseObject({ sessionId: SessionId, tree: z.optional(z.boolean()) }),
    empty(),
  ),
  'session/prompt': method(
    'session/prompt',
    'Enqueues a message; answers as soon as its receipt is durable (IN-1).',
    z.looseObject({
      sessionId: SessionId,
      content: ContentInput,
      messageId: z.optional(MessageId),
      delivery: z.optional(z.enum(['followup', 'steer', 'inject'])),
      expect: z.optional(z.literal('idle')),
      metadata: z.optional(Metadata),
    }),
    z.looseObject({ messageId: MessageId }),
  ),
  'session/withdraw': method(
    'session/withdraw',
    'Cancels a pending message (IN-8).',
    z.looseObject({ sessionId: SessionId, messageId: MessageId }),
    z.looseObject({ withdrawn: z.boolean() }),
  ),
  'session/cancel': method(
    'session/cancel',
    'Cancels the open turn, the session or its tree (CAN-1 to CAN-3).',
    z.looseObject({
      sessionId: SessionId,
      scope: z.optional(z.enum(['turn', 'session', 'tree'])),
      turnId: z.optional(z.string()),
      reason: z.optional(z.string()),
    }),
    z.looseObject({
      cancelled: z.boolean(),
      withdrawn: z.array(WithdrawnMessage),
    }),
  ),
  'session/status': method(
    'session/status',
    'Tells the whole-agent status now.',
    ofSession(),
    z.looseObject({
      status: AgentStatusName,
      seq: Seq,
      activityId: z.optional(z.string()),
      waitingOn: z.array(WaitingOn),
      blockedOn: z.array(BlockedOn),
      pending: PendingCounts,
      resident: z.boolean(),
    }),
  ),
  'session/events': method(
    'session/events',
    'Reads facts.',
    z.looseObject({ sessionId: SessionId, after: z.optional(Seq), from: z.optional(From), limit: limit(1000) }),
    z.looseObject({ events: z.array(Fact), nextAfter: Seq, more: z.boolean() }),
  ),
  'session/messages': method(
    'session/messages',
    'Reads the conversation as the model sees it.',
    z.looseObject({ sessionId: SessionId, cursor: z.optional(z.string()), limit: limit(1000) }),
    z.looseObject({ messages: z.array(Message), nextCursor: z.optional(z.string()) }),
  ),
  'session/subscribe': method(
    'session/subscribe',
    'Starts a cursor (SUB-1).',
    z.looseObject({
      sessionId: SessionId,
      subscriptionId: z.optional(z.string().check(z.minLength(1), z.maxLength(200))),
      after: z.optional(After),
      from: z.optional(From),
      activate: z.optional(z.boolean()),
      deltas: z.optional(z.boolean()),
      tree: z.optional(z.boolean()),
    }),
    z.looseObject({
      subscriptionId: z.string(),
      status: AgentStatusName,
      seq: Seq,
      activityId: z.optional(z.string()),
      waitingOn: z.array(WaitingOn),
    }),
  ),
  'session/unsubscribe': method('session/unsubscribe', 'Ends a subscription.', z.looseObject({ subscriptionId: z.string() }), empty()),
  'model/list': method(
    'model/list',
    'Lists the models.',
    z.looseObject({ provider: z.optional(z.string()) }),
    z.looseObject({ models: z.array(Model) }),
  ),
  'tool/list': method(
    'tool/list',
    'Lists the tools, of a session or of the runtime.',
    z.looseObject({ sessionId: z.optional(SessionId) }),
    z.looseObject({ tools: z.array(ToolInfo) }),
  ),
  'server/ping': method('server/ping', 'Answers at once.', empty(), z.looseObject({ time: z.optional(UnixMs) })),
  shutdown: method('shutdown', 'Answers once everything is committed; then the runtime exits.', empty(), empty()),
} as const

export type MethodName = keyof typeof methods
