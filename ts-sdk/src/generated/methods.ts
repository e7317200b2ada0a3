// Generated from schema/src by `make gen`: do not edit.

import type {
  InitializeParams,
  InitializeResult,
  ModelListParams,
  ModelListResult,
  ServerPingParams,
  ServerPingResult,
  SessionCancelParams,
  SessionCancelResult,
  SessionClosedParams,
  SessionCreateParams,
  SessionCreateResult,
  SessionDeleteParams,
  SessionDeleteResult,
  SessionDeltaParams,
  SessionEventParams,
  SessionEventsParams,
  SessionEventsResult,
  SessionGetParams,
  SessionGetResult,
  SessionListParams,
  SessionListResult,
  SessionMessagesParams,
  SessionMessagesResult,
  SessionPromptParams,
  SessionPromptResult,
  SessionStatusNotice,
  SessionStatusParams,
  SessionStatusResult,
  SessionSubscribeParams,
  SessionSubscribeResult,
  SessionUnsubscribeParams,
  SessionUnsubscribeResult,
  SessionUpdateParams,
  SessionUpdateResult,
  SessionWithdrawParams,
  SessionWithdrawResult,
  ShutdownParams,
  ShutdownResult,
  ToolListParams,
  ToolListResult,
} from './protocol.ts'

export const protocolVersion = 1

/** Every request: its params and its result. */
export interface Methods {
  /** Comes first, once (FR-3). */
  'initialize': { params: InitializeParams; result: InitializeResult }
  /** Creates a session. */
  'session/create': { params: SessionCreateParams; result: SessionCreateResult }
  /** Describes a session. */
  'session/get': { params: SessionGetParams; result: SessionGetResult }
  /** Lists sessions, newest first. */
  'session/list': { params: SessionListParams; result: SessionListResult }
  /** Changes the configuration; absent fields stay. */
  'session/update': { params: SessionUpdateParams; result: SessionUpdateResult }
  /** Deletes a session (DEL-1). */
  'session/delete': { params: SessionDeleteParams; result: SessionDeleteResult }
  /** Enqueues a message; answers as soon as its receipt is durable (IN-1). */
  'session/prompt': { params: SessionPromptParams; result: SessionPromptResult }
  /** Cancels a pending message (IN-8). */
  'session/withdraw': { params: SessionWithdrawParams; result: SessionWithdrawResult }
  /** Cancels the open turn, the session or its tree (CAN-1 to CAN-3). */
  'session/cancel': { params: SessionCancelParams; result: SessionCancelResult }
  /** Tells the whole-agent status now. */
  'session/status': { params: SessionStatusParams; result: SessionStatusResult }
  /** Reads facts. */
  'session/events': { params: SessionEventsParams; result: SessionEventsResult }
  /** Reads the conversation as the model sees it. */
  'session/messages': { params: SessionMessagesParams; result: SessionMessagesResult }
  /** Starts a cursor (SUB-1). */
  'session/subscribe': { params: SessionSubscribeParams; result: SessionSubscribeResult }
  /** Ends a subscription. */
  'session/unsubscribe': { params: SessionUnsubscribeParams; result: SessionUnsubscribeResult }
  /** Lists the models. */
  'model/list': { params: ModelListParams; result: ModelListResult }
  /** Lists the tools, of a session or of the runtime. */
  'tool/list': { params: ToolListParams; result: ToolListResult }
  /** Answers at once. */
  'server/ping': { params: ServerPingParams; result: ServerPingResult }
  /** Answers once everything is committed; then the runtime exits. */
  'shutdown': { params: ShutdownParams; result: ShutdownResult }
}

export type MethodName = keyof Methods

/** Every notification of the server: its params. */
export interface Notifications {
  /** One fact, after it was committed (TU-3). */
  'session.event': SessionEventParams
  /** Mirrors an `agent/status` fact, after it (ST-6). */
  'session.status': SessionStatusNotice
  /** A piece of text on its way; not a fact, and it may be dropped (TU-4). */
  'session.delta': SessionDeltaParams
  /** The subscription ended (SUB-5). */
  'session.closed': SessionClosedParams
}

export type NotificationName = keyof Notifications

export const notificationNames: readonly NotificationName[] = ['session.event', 'session.status', 'session.delta', 'session.closed']
