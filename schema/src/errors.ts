// Owns the one list of error codes: meaning, retryable, and the exception class of each SDK.
import * as z from 'zod/mini'
import { openEnum } from './open.ts'
import { field, named } from './registry.ts'

export interface ErrorCode {
  code: string
  meaning: string
  retryable: boolean
  /** Exception class in both SDKs; `RpcError` where nobody branches on it. */
  className: string
}

const row = (code: string, retryable: boolean, className: string, meaning: string): ErrorCode => ({ code, meaning, retryable, className })

export const errorCodes: readonly ErrorCode[] = [
  row('not_initialized', false, 'RpcError', 'A request came before `initialize` was answered.'),
  row('unsupported_protocol', false, 'UnsupportedProtocolError', "No protocol version of the client's range is spoken here."),
  row('session_not_found', false, 'SessionNotFoundError', 'No session has this id, or it was deleted.'),
  row('session_exists', false, 'SessionExistsError', 'A session with this id exists, or existed: ids are not used again.'),
  row('has_children', false, 'RpcError', 'The session has children that are not deleted; deleting it needs `tree: true`.'),
  row('session_busy', true, 'SessionBusyError', 'The agent is not idle with an empty queue, and the prompt said `expect: "idle"`.'),
  row('message_conflict', false, 'MessageConflictError', 'The messageId stands for another message of this session.'),
  row('message_not_found', false, 'MessageNotFoundError', 'No message of this session has this id.'),
  row('already_answered', false, 'RpcError', 'The request was answered before, otherwise.'),
  row('request_closed', false, 'RpcError', 'A cancel or a recovery ended the request before the answer came.'),
  row('revision_conflict', true, 'RevisionConflictError', 'The goal changed since the given revision.'),
  row('subscription_not_found', false, 'RpcError', 'No subscription of this connection has this id.'),
  row('not_parent', false, 'RpcError', 'Only the direct parent may do this.'),
  row('not_driving', true, 'RpcError', 'Another runtime drives the session.'),
  row('unknown_model', false, 'UnknownModelError', 'The model is not configured, or no model was named.'),
  row('model_auth', false, 'ModelAuthError', "The key of the model's provider is missing."),
  row('invalid_cursor', false, 'RpcError', 'The cursor was not given by this method, or lies beyond the log.'),
  row('fenced', true, 'FencedError', 'Another runtime took the session over, or it was deleted.'),
  row('limit_exceeded', false, 'LimitExceededError', 'A limit named in the message was reached.'),
  row('frame_too_large', false, 'FrameTooLargeError', 'The frame is longer than the limit in `limits.maxFrameBytes`.'),
  row('overloaded', true, 'OverloadedError', 'Too many requests in flight.'),
  row('storage_unavailable', true, 'StorageUnavailableError', 'The store failed: nothing of the request was kept.'),
  row('unauthorized', false, 'UnauthorizedError', 'The token is missing or wrong.'),
  row('shutting_down', true, 'ShuttingDownError', 'The runtime is shutting down.'),
  row('store_version', false, 'StoreVersionError', 'The store was written by a newer runtime.'),
  row('internal', false, 'RpcError', 'A fault of the runtime; its log says more.'),
]

export const ErrorCodeName = openEnum(
  'ErrorCodeName',
  'The codes of error responses; new ones may be added.',
  errorCodes.map((entry) => entry.code),
)

export const RpcErrorData = named(
  'RpcErrorData',
  'The `data` of an error response with code -32000; further fields are details.',
  z.looseObject({ code: ErrorCodeName, retryable: z.boolean() }),
)

export const ParamFault = named(
  'ParamFault',
  'One fault of bad params (-32602): where it is and what is wrong.',
  z.looseObject({ path: field('For example `content[0].text`.', z.string()), message: z.string() }),
)

export const RpcError = named(
  'RpcErrorObject',
  'The `error` of a JSON-RPC response. Code -32000 carries RpcErrorData; -32602 carries `{faults: ParamFault[]}`.',
  z.looseObject({ code: z.int(), message: z.string(), data: z.optional(z.unknown()) }),
)

export const FactErrorCode = openEnum('FactErrorCode', 'The codes of errors inside facts.', [
  'tool_not_started',
  'tool_outcome_unknown',
  'tool_unavailable',
  'tool_timeout',
  'tool_input',
  'tool_failed',
  'tool_unknown',
  'tool_cancelled',
  'permission_denied',
  'recovery_exhausted',
  'model_auth',
  'model_request',
  'model_rate_limit',
  'model_overloaded',
  'model_network',
  'model_stalled',
  'model_stream',
  'model_empty',
  'model_context_length',
  'model_internal',
  'internal',
])

export const FactError = named(
  'FactError',
  'An error recorded in a fact.',
  z.looseObject({ code: FactErrorCode, message: z.string(), retryable: z.boolean() }),
)
