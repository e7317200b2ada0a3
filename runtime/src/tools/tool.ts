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
  /** What the session's rules say of a file by where it really is. Absent: nothing, they speak of no file. */
  guard?: PathGuard
  /** Where an output is kept that is too long to be shown; null where nothing is kept. */
  spill: Spill | null
  /** Aborts when the turn is cancelled or the runtime stops: the tool kills what it started, then settles. */
  signal: AbortSignal
}

export interface Spill {
  /** Absolute, and perhaps not there yet: the session's own, outside its roots. Tools that read may read what is in it. */
  directory: string
  /** The name of this call's output in it. */
  name: string
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
  /** What the patterns of rules are matched against. Absent: the summary. */
  subject?(input: Input): Subject
  /**
   * *Contract:* may throw: the caller makes an error result of it (TU-6). Settles soon after an abort, with nothing
   * left running.
   */
  execute(input: Input, context: ToolContext): Promise<ToolOutcome>
}

/** A file or directory as the call spells it, or a command of the shell. */
export type Subject = { path: string } | { command: string }

/** A call that may start, in its session's surroundings. */
export type PlannedCall = Pick<ToolContext, 'cwd' | 'roots'> & { tool: Tool; input: unknown }

/** The verdict on one call. One that starts, now or after an answer, gets the guard in its context. */
export type Verdict =
  | { action: 'allow'; guard?: PathGuard }
  | { action: 'ask'; reason: string; guard?: PathGuard }
  | { action: 'deny'; reason: string }

/** Why a call may not touch a file, by its real path: absolute, without symbolic links. Undefined: it may. */
export type PathGuard = (real: string) => string | undefined

/** Decides on a call before it starts. */
export type Policy = (permissions: PermissionsOf, call: PlannedCall) => Verdict | Promise<Verdict>
