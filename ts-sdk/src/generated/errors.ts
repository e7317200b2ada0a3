// Generated from schema/src by `make gen`: do not edit.

/** The codes of error responses: what each means, whether trying again can help, and the class that stands for it. */
export const errorCodes = {
  not_initialized: { retryable: false, className: 'RpcError', meaning: 'A request came before `initialize` was answered.' },
  unsupported_protocol: { retryable: false, className: 'UnsupportedProtocolError', meaning: 'No protocol version of the client\'s range is spoken here.' },
  session_not_found: { retryable: false, className: 'SessionNotFoundError', meaning: 'No session has this id, or it was deleted.' },
  session_exists: { retryable: false, className: 'SessionExistsError', meaning: 'A session with this id exists, or existed: ids are not used again.' },
  has_children: { retryable: false, className: 'RpcError', meaning: 'The session has children that are not deleted; deleting it needs `tree: true`.' },
  session_busy: { retryable: true, className: 'SessionBusyError', meaning: 'The agent is not idle with an empty queue, and the prompt said `expect: "idle"`.' },
  message_conflict: { retryable: false, className: 'MessageConflictError', meaning: 'The messageId stands for another message of this session.' },
  message_not_found: { retryable: false, className: 'MessageNotFoundError', meaning: 'No message of this session has this id.' },
  already_answered: { retryable: false, className: 'RpcError', meaning: 'The request was answered before, otherwise.' },
  request_closed: { retryable: false, className: 'RpcError', meaning: 'A cancel or a recovery ended the request before the answer came.' },
  revision_conflict: { retryable: true, className: 'RevisionConflictError', meaning: 'The goal changed since the given revision.' },
  subscription_not_found: { retryable: false, className: 'RpcError', meaning: 'No subscription of this connection has this id.' },
  not_parent: { retryable: false, className: 'RpcError', meaning: 'Only the direct parent may do this.' },
  not_driving: { retryable: true, className: 'RpcError', meaning: 'Another runtime drives the session.' },
  unknown_model: { retryable: false, className: 'UnknownModelError', meaning: 'The model is not configured, or no model was named.' },
  model_auth: { retryable: false, className: 'ModelAuthError', meaning: 'The key of the model\'s provider is missing.' },
  invalid_cursor: { retryable: false, className: 'RpcError', meaning: 'The cursor was not given by this method, or lies beyond the log.' },
  fenced: { retryable: true, className: 'FencedError', meaning: 'Another runtime took the session over, or it was deleted.' },
  limit_exceeded: { retryable: false, className: 'LimitExceededError', meaning: 'A limit named in the message was reached.' },
  frame_too_large: { retryable: false, className: 'FrameTooLargeError', meaning: 'The frame is longer than the limit in `limits.maxFrameBytes`.' },
  overloaded: { retryable: true, className: 'OverloadedError', meaning: 'Too many requests in flight.' },
  storage_unavailable: { retryable: true, className: 'StorageUnavailableError', meaning: 'The store failed: nothing of the request was kept.' },
  unauthorized: { retryable: false, className: 'UnauthorizedError', meaning: 'The token is missing or wrong.' },
  shutting_down: { retryable: true, className: 'ShuttingDownError', meaning: 'The runtime is shutting down.' },
  store_version: { retryable: false, className: 'StoreVersionError', meaning: 'The store was written by a newer runtime.' },
  internal: { retryable: false, className: 'RpcError', meaning: 'A fault of the runtime; its log says more.' },
} as const

export type ErrorCode = keyof typeof errorCodes
export type ErrorClassName = (typeof errorCodes)[ErrorCode]['className']
