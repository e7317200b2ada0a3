// Owns what the agent needs from outside: models, tools, time, ids, the process it lives in. Interfaces only.
import type { FactErrorOf, Fault, PermissionsOf, SessionConfigOf } from '@quiesce/schema'
import type { Clock } from '../base/clock.ts'
import type { Ids } from '../base/ids.ts'
import type { EventLog } from '../log/event-log.ts'
import type { ModelPart, ModelRequest, Outcome, ToolSpec } from '../models/model.ts'
import type { Owner, Store } from '../store/store.ts'
import type { Keeper, KeeperEvents, Watch } from '../store/upkeep.ts'
import type { PlannedCall, Spill, Tool, Verdict } from '../tools/tool.ts'

export interface AnswerHooks {
  newCallId(): string
  onPart(part: ModelPart): void
  /** Awaited before the pause. */
  onRetry(retry: { attempt: number; delayMs: number; error: FactErrorOf }): Promise<void>
}

export interface Models {
  /** *Contract:* throws Refusal `unknown_model` or `model_auth`. */
  check(name: string): void
  defaultModel(): string | null
  /** One step's request, retries and time limits included. *Contract:* never rejects. */
  answer(name: string, request: ModelRequest, hooks: AnswerHooks): Promise<Outcome>
}

export interface Tools {
  get(name: string): Tool | undefined
  /** What is wrong with a session's choice of tools, with the environment that it gives their processes, or with its rules. */
  faults(config: Pick<Partial<SessionConfigOf>, 'tools' | 'env' | 'permissions'>): readonly Fault[]
  enabled(patterns: readonly string[] | undefined): readonly Tool[]
  specs(patterns: readonly string[] | undefined): readonly ToolSpec[]
  validate(tool: Tool, input: unknown): { ok: true; input: unknown } | { ok: false; message: string }
  /** *Contract:* never rejects. */
  decide(permissions: PermissionsOf, call: PlannedCall): Verdict | Promise<Verdict>
  /** The environment of a tool's process. */
  environment(sessionEnv: Readonly<Record<string, string>> | undefined): Readonly<Record<string, string>>
}

/** What is kept of the outputs that were too long to be shown. */
export interface KeptOutputs {
  /** The place for a call's output, or null where nothing can be kept. */
  place(sessionId: string, callId: string): Spill | null
  /** Removes all that a session kept. *Contract:* never rejects. */
  remove(sessionId: string): Promise<void>
}

export interface Prompts {
  /** The system text of a session: the given or default one, AGENTS.md and instructions joined. *Contract:* never rejects. */
  system(config: SessionConfigOf): Promise<string>
}

export interface AgentPorts {
  log: EventLog
  store: Store
  clock: Clock
  ids: Ids
  models: Models
  tools: Tools
  prompts: Prompts
  outputs: KeptOutputs
  owner: Owner
  /** Keeps the leases that are held here (RE-5). */
  keep(events: KeeperEvents): Keeper
  /** Tells when another runtime may have committed (RE-3). */
  watch(onChange: () => void): Watch
  /** Is this owner's process surely gone? Only ever true for one of this host. */
  isDead(owner: Owner): boolean
  /**
   * Ends the processes that another runtime's tools left on this host: those of one session, and where that runtime is dead
   * those of all. *Contract:* never throws.
   */
  reap(owner: Owner, sessionId: string | null): void
  /** Ends the processes of a session's tools here, those in the background too. *Contract:* never throws. */
  endTools(sessionId: string): void
  /** A fault that belongs in the runtime's log. */
  report(what: string, error: unknown): void
}
