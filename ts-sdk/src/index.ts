// The public surface of @quiesce/sdk: what is exported here is what there is.
export type { RunResult, RunUsage, SessionEvent, TokenUsage, Until } from './collect.ts'
export {
  type AbortOutcome,
  ConnectionClosedError,
  FencedError,
  FrameTooLargeError,
  LimitExceededError,
  MessageConflictError,
  MessageNotFoundError,
  ModelAuthError,
  OverloadedError,
  ProtocolError,
  QuiesceError,
  RequestTimeoutError,
  RevisionConflictError,
  RpcError,
  RunAbortedError,
  RunTimeoutError,
  RuntimeNotFoundError,
  SessionBusyError,
  SessionExistsError,
  SessionNotFoundError,
  ShuttingDownError,
  StorageUnavailableError,
  StoreVersionError,
  UnauthorizedError,
  UnknownModelError,
  UnsupportedProtocolError,
} from './errors.ts'
export type * from './generated/protocol.ts'
export type { Session as SessionDescription } from './generated/protocol.ts'
export type { LaunchOptions } from './launch.ts'
export { Quiesce } from './quiesce.ts'
export type { CollectOptions, RunOptions } from './run.ts'
export type { CancelOptions, DeliveryOptions, PromptOptions, Session, UpdateOptions } from './session.ts'
export type { CreateOptions, DeleteOptions, Sessions } from './sessions.ts'
export type { DeltaItem, EventItem, RunStream, StreamItem } from './stream.ts'
export type { EventsOptions } from './tail.ts'
