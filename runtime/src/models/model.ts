// Owns the interface of every model: a request in, a stream of parts out. Failures are values, never throws.
import type { ContentBlockOf, FactErrorOf, FinishOf, ModelOptionsOf, UsageOf } from '@quiesce/schema'

/** A message as models see it: user and assistant content, or the results of one step's calls in call order. */
export interface ModelMessage {
  role: 'user' | 'assistant' | 'tool'
  content: readonly ContentBlockOf[]
}

export interface ToolSpec {
  name: string
  description: string
  /** JSON Schema. */
  parameters: Readonly<Record<string, unknown>>
}

export interface ModelRequest {
  system: string
  /** Append-only from step to step (TU-9). */
  messages: readonly ModelMessage[]
  tools: readonly ToolSpec[]
  options: ModelOptionsOf
  /** The same for every request of a session: a vendor may find its cache by it. */
  sessionId?: string
  signal: AbortSignal
  /** To be called as bytes come, also where they make no part (keep-alive comments): a stream that shows life isn't stalled. */
  onBytes?: () => void
}

/** A `signature` ends its block, and goes back with it verbatim; it is the vendor's own, and nobody else reads it. */
export type ModelPart =
  | { type: 'text'; text: string; signature?: string }
  | { type: 'reasoning'; text: string; signature?: string }
  /** A piece of a call's input on its way; `index` counts the calls of this answer. */
  | { type: 'tool_input'; index: number; text: string }
  /** A whole call. `input` is the parsed JSON; where the model wrote no JSON, `invalid` is its text. */
  | { type: 'tool_call'; vendorCallId: string; name: string; input: unknown; invalid?: string; signature?: string }
  /** The vendor's own finish: only with it the stream counts as finished (TU-5). */
  | { type: 'finish'; finish: FinishOf; usage: UsageOf }
  /** The end of a failed stream. `error.retryable` says that it is transient (TU-5); `usage` is what it cost, where known. */
  | { type: 'failure'; error: FactErrorOf; retryAfterMs?: number; usage?: UsageOf }

export interface Model {
  /** `provider/model`. */
  readonly name: string
  readonly contextWindow?: number
  /**
   * *Contract:* never throws or rejects; ends with exactly one `finish` or `failure`, except after an abort of the
   * request's signal, when it just ends soon. Blocks as long as the vendor does: time limits are the caller's.
   */
  stream(request: ModelRequest): AsyncIterable<ModelPart>
}

/** What one step's request came to, retries included. */
export type Outcome =
  /** Never empty, but for `content_filter`. Calls are to be executed with `tool_calls` alone: any other finish may have cut them. */
  | { kind: 'answer'; content: ContentBlockOf[]; finish: FinishOf; usage: UsageOf }
  | { kind: 'failure'; error: FactErrorOf; usage: UsageOf }
  /** The signal aborted; `content` is the text that had arrived. */
  | { kind: 'aborted'; content: ContentBlockOf[]; usage: UsageOf }
