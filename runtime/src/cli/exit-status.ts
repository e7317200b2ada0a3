// Owns the exit status of a run: it comes from the facts, and from whether they could be told (CLI-4).
import type { AnyFact } from '@quiesce/schema'
import type { RunFold } from '../log/run.ts'
import type { Loss } from './terminal.ts'

export const exitStatus = { answered: 0, unanswered: 1, usage: 2, cancelled: 3, denied: 4, failed: 5 } as const

export interface Verdict {
  status: number
  /** For stderr; null where there is nothing to say. */
  why: string | null
}

/** `gaveUp` says why the run itself stopped waiting or cancelled, or is null; `loss` what stdout did not take. */
export function verdictOf(fold: RunFold, gaveUp: string | null, loss: Loss | null): Verdict {
  const verdict = factsVerdict(fold, gaveUp)
  const failed = verdict.status !== exitStatus.answered && verdict.status !== exitStatus.cancelled
  // What went wrong with the turn is worth more than that nobody reads on.
  return loss === null || (loss.kind === 'unread' && failed) ? verdict : lossVerdict(loss)
}

/** An answer that nobody got is no success; of a reader that left, as `head` does, nothing is said. */
export function lossVerdict(loss: Loss): Verdict {
  return loss.kind === 'unread' ? { status: exitStatus.cancelled, why: null } : { status: exitStatus.failed, why: loss.why }
}

function factsVerdict(fold: RunFold, gaveUp: string | null): Verdict {
  const result = fold.result()
  const reason = fold.lastTurnEnd?.reason
  if (reason?.kind === 'completed' && result.finalResponse !== '') return { status: exitStatus.answered, why: null }
  if (gaveUp !== null || reason?.kind === 'cancelled')
    return { status: exitStatus.cancelled, why: gaveUp ?? `cancelled by ${reason?.by ?? 'another client'}` }
  const denied = deniedTools(result.events)
  if (result.finalResponse === '' && denied.length > 0)
    return { status: exitStatus.denied, why: `no answer; denied: ${denied.join(', ')} (--permissions says what runs without asking)` }
  if (reason === undefined) return { status: exitStatus.unanswered, why: 'no turn ended' }
  if (reason.kind === 'completed') return { status: exitStatus.unanswered, why: 'the agent ended without text' }
  const error = reason.error === undefined ? '' : ` (${reason.error.code}): ${reason.error.message}`
  const limit = reason.limit === undefined ? '' : ` (the limit is ${reason.limit})`
  return { status: exitStatus.unanswered, why: `the turn ended with ${reason.kind}${error}${limit}` }
}

/** The tools of which a call was denied, each once. */
function deniedTools(events: readonly AnyFact[]): string[] {
  const names = new Map(events.flatMap((event) => (event.type === 'tool/call' ? [[event.data.callId, event.data.name] as const] : [])))
  const denied = events.flatMap((event) =>
    event.type === 'tool/result' && event.data.error?.code === 'permission_denied'
      ? [names.get(event.data.callId) ?? event.data.callId]
      : [],
  )
  return [...new Set(denied)]
}
