// Owns the delivery rules: which pending message opens a turn, which join a step (IN-4 to IN-6). Pure.
import { isWaking, type PendingMessage } from '../log/session-state.ts'

/** With no turn open the waking message with the lowest receipt opens one. */
export function opener(pending: readonly PendingMessage[]): PendingMessage | null {
  return pending.find(isWaking) ?? null
}

/** At a step boundary every pending steer joins, and every inject with it; each kind in receipt order. */
export function joiners(pending: readonly PendingMessage[], opened: PendingMessage | null = null): PendingMessage[] {
  const others = pending.filter((message) => message.id !== opened?.id)
  return [...others.filter((message) => message.delivery === 'steer'), ...others.filter((message) => message.delivery === 'inject')]
}

export const hasSteer = (pending: readonly PendingMessage[]): boolean => pending.some((message) => message.delivery === 'steer')
