// The wire types of protocol version 1: zod schemas, and the types inferred from them.
import type * as z from 'zod/mini'
import type { Content, ContentBlock, Finish, ImageBlock, Message, Usage } from './content.ts'
import type { FactError } from './errors.ts'
import type { Fact, facts, InboxMessage, Origin, Trigger, TurnEndReason } from './facts.ts'
import type { MethodName, Model, methods, ServerLimits, ToolInfo } from './methods.ts'
import type { NotificationName, notifications } from './notifications.ts'
import type {
  Limits,
  ModelOptions,
  Permissions,
  Session,
  SessionChange,
  SessionConfig,
  SessionCreateOptions,
  WaitingOn,
} from './session.ts'

export * from './content.ts'
export { type ErrorCode, ErrorCodeName, errorCodes, FactError, FactErrorCode } from './errors.ts'
export { Delivery, Fact, facts, InboxMessage, Origin, Trigger, TurnEndKind, TurnEndReason } from './facts.ts'
export { check, type Fault, faultsOf, pathText } from './faults.ts'
export { After, From, type MethodName, methods } from './methods.ts'
export { type NotificationName, notifications } from './notifications.ts'
export { openEnums, openUnions } from './open.ts'
export { registry, wireTypes } from './registry.ts'
export { MessageId, SessionId } from './scalars.ts'
export * from './session.ts'

export const PROTOCOL_VERSION = 1

export type FactType = keyof typeof facts
export type FactOf<T extends FactType> = z.output<(typeof facts)[T]>
export type AnyFact = z.output<typeof Fact>
export type FactData<T extends FactType> = FactOf<T>['data']
export type ImageBlockOf = z.output<typeof ImageBlock>
export type ContentBlockOf = z.output<typeof ContentBlock>
export type ContentOf = z.output<typeof Content>
export type UsageOf = z.output<typeof Usage>
export type FinishOf = z.output<typeof Finish>
export type MessageOf = z.output<typeof Message>
export type FactErrorOf = z.output<typeof FactError>
export type InboxMessageOf = z.output<typeof InboxMessage>
export type OriginOf = z.output<typeof Origin>
export type TriggerOf = z.output<typeof Trigger>
export type TurnEndReasonOf = z.output<typeof TurnEndReason>
export type WaitingOnOf = z.output<typeof WaitingOn>
export type SessionOf = z.output<typeof Session>
export type SessionConfigOf = z.output<typeof SessionConfig>
export type SessionChangeOf = z.output<typeof SessionChange>
export type SessionCreateOptionsOf = z.output<typeof SessionCreateOptions>
export type PermissionsOf = z.output<typeof Permissions>
export type LimitsOf = z.output<typeof Limits>
export type ModelOptionsOf = z.output<typeof ModelOptions>
export type ServerLimitsOf = z.output<typeof ServerLimits>
export type ToolInfoOf = z.output<typeof ToolInfo>
export type ModelInfoOf = z.output<typeof Model>
export type Params<M extends MethodName> = z.output<(typeof methods)[M]['params']>
export type Result<M extends MethodName> = z.output<(typeof methods)[M]['result']>
export type NotificationParams<N extends NotificationName> = z.output<(typeof notifications)[N]>
