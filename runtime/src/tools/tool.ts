// Owns the interface of every tool, and what a call may see of its session.
import type { FactErrorOf, ImageBlockOf, PermissionsOf } from '@quiesce/schema'
import type * as z from 'zod/mini'

export interface ToolContext {
  /** Whose call it is: names the processes that a tool starts. */
  sessionId: string
  /** The session's working directory, absolute. */
  cwd: string
  /** Absolute paths that file tools stay inside (FR-7); the cwd is one of them. */
  roots: readonly string[]
  /** The whole environment of a process that a tool starts. */
  env: Readonly<Record<string, string>>
  /** Aborts when the turn is cancelled or the runtime stops: the tool kills what it started, then settles. */
  signal: AbortSignal
}

export interface ToolOutcome {
  /** What the model sees. */
  content: string
  /** Beside the words: each with `data` and `mediaType`. */
  images?: ImageBlockOf[]
  isError: boolean
  error?: FactErrorOf
}

/** What a tool touches, for the permission modes (CB-5). */
export type Access = 'read' | 'edit' | 'execute'

export interface Tool<Input = unknown> {
  readonly name: string
  readonly description: string
  readonly access: Access
  /** May run beside other calls of its step (TU-7). */
  readonly parallel: boolean
  readonly input: z.ZodMiniType<Input>
  /** One line that says what a call would do, for a permission request and for progress. */
  summary(input: Input): string
  /**
   * *Contract:* may throw: the caller makes an error result of it (TU-6). Settles soon after an abort, with nothing
   * left running.
   */
  execute(input: Input, context: ToolContext): Promise<ToolOutcome>
}

/** The verdict on one call. */
export type Verdict = { action: 'allow' } | { action: 'ask'; reason: string } | { action: 'deny'; reason: string }

/** Decides on a call before it starts. */
export type Policy = (permissions: PermissionsOf, tool: Tool, input: unknown) => Verdict
