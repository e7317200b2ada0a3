// Owns what a command sees of the runtime: the calls that clients make, and the end.
import type { ModelInfoOf, ToolInfoOf } from '@quiesce/schema'
import type { Sessions } from '../agent/sessions.ts'
import type { Sink, Subscriptions } from '../subscriptions/subscriptions.ts'

export interface Runtime {
  sessions: Sessions
  subscriptions(sink: Sink): Subscriptions
  models(provider?: string): ModelInfoOf[]
  /** Of a session, or of the runtime. *Contract:* rejects with Refusal `session_not_found`. */
  tools(sessionId: string | undefined): Promise<ToolInfoOf[]>
  /** Ends open turns as interrupted and closes the store. Safe to call twice. */
  close(): Promise<void>
}
