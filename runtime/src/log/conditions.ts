// Owns what a commit may be conditional on: small data, decided on the state inside the transaction.
import { isWaking, type SessionState } from './session-state.ts'

export type Condition =
  /** The session doesn't exist and never did. */
  | { kind: 'absent' }
  /** No message of the session has this id yet (IN-3). Decided on the store's index. */
  | { kind: 'new-message'; messageId: string }
  /** Idle, and no waking message pending (IN-7). */
  | { kind: 'idle' }
  /** Every one of these messages is still pending (IN-8). */
  | { kind: 'pending'; messageIds: readonly string[] }
  /** No steer and no inject is pending but these: whatever came before the boundary joins it (IN-5, IN-6). */
  | { kind: 'joined-by'; messageIds: readonly string[] }
  /** No waking message is pending (ST-2). */
  | { kind: 'no-waking' }
  /** No steer is pending (IN-5). */
  | { kind: 'no-steer' }
  /** The turn is open and no cancel names it (CAN-1). */
  | { kind: 'turn-live'; turnId: string }
  /** Fewer messages than this are pending. */
  | { kind: 'room'; below: number }
  /** The log ends at this seq: nothing came in between. */
  | { kind: 'seq'; is: number }

/** The first condition that doesn't hold, or null. `absent` and `new-message` are the store's to decide. */
export function firstUnmet(state: SessionState, conditions: readonly Condition[]): Condition | null {
  return conditions.find((condition) => !holds(state, condition)) ?? null
}

function holds(state: SessionState, condition: Condition): boolean {
  switch (condition.kind) {
    case 'absent':
    case 'new-message':
      return true
    case 'idle':
      return state.status === 'idle' && !state.pending.some(isWaking)
    case 'pending':
      return condition.messageIds.every((id) => state.pending.some((message) => message.id === id))
    case 'joined-by':
      return state.pending.every((message) => message.delivery === 'followup' || condition.messageIds.includes(message.id))
    case 'no-waking':
      return !state.pending.some(isWaking)
    case 'no-steer':
      return !state.pending.some((message) => message.delivery === 'steer')
    case 'turn-live':
      return state.turn?.turnId === condition.turnId && state.turn.cancelledBy === null
    case 'room':
      return state.pending.length < condition.below
    case 'seq':
      return state.seq === condition.is
  }
}
