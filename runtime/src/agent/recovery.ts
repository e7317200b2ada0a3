// Owns what a stop of the runtime leaves open: closing it, and going on from there (RE-2, RE-7).
import type { FactErrorOf } from '@quiesce/schema'
import { joiners } from '../inbox/delivery.ts'
import type { Condition } from '../log/conditions.ts'
import { fact, type NewFact, noUsage } from '../log/facts.ts'
import type { OpenCall, OpenTurn } from '../log/session-state.ts'
import type { Driver, OpenStep } from './driver.ts'
import { openingFacts } from './turn.ts'

/** The third resume of one activity in a row without a new `step/end` settles instead. */
const MAX_RESUMES = 2

/** Closes what a dead activation left open; the turn that goes on, or null. *Contract:* throws Halt. */
export async function recover(driver: Driver): Promise<OpenStep | null> {
  for (;;) {
    const { state, config } = driver
    const from = state.turn?.turnId ?? state.interrupted
    if (state.status !== 'running' || from === null) return null
    const exhausted = state.resumes >= MAX_RESUMES
    const closing = state.turn === null ? [] : closingFacts(driver, state.turn, exhausted)
    const atSeq: Condition = { kind: 'seq', is: state.seq }
    if (state.turn?.cancelledBy != null || (config.recovery ?? 'resume') === 'settle' || (exhausted && state.turn !== null)) {
      if (closing.length === 0 || (await driver.commit(closing, [atSeq])) === null) return null
      continue
    }
    const joining = exhausted ? [] : joiners(state.pending)
    const { facts, opened } = openingFacts(driver, { kind: 'recovery', turnId: from }, joining)
    if (exhausted) {
      const settled = [...facts.filter((made) => made.type !== 'step/start'), exhaustedEnd(driver, opened.turnId)]
      if ((await driver.commit(settled, [atSeq])) === null) return null
    } else if ((await driver.commit([...closing, ...facts], [atSeq])) === null) return opened
  }
}

/** Ends the open turn because the runtime stops; the next activation goes on with it (RE-7). */
export async function interruptTurn(driver: Driver): Promise<null> {
  for (;;) {
    const { turn, seq } = driver.state
    if (turn === null || (await driver.commit(closingFacts(driver, turn, false), [{ kind: 'seq', is: seq }])) === null) return null
  }
}

const exhaustedError = {
  code: 'recovery_exhausted',
  message: 'interrupted three times in a row without a finished step',
  retryable: false,
} as const

const exhaustedEnd = (driver: Driver, turnId: string): NewFact =>
  fact('turn/end', driver.now(), { turnId, reason: { kind: 'error', error: exhaustedError }, usage: noUsage })

function closingFacts(driver: Driver, turn: OpenTurn, exhausted: boolean): NewFact[] {
  const { turnId, usage, cancelledBy } = turn
  const reason =
    cancelledBy !== null
      ? { kind: 'cancelled' as const, by: cancelledBy }
      : exhausted
        ? { kind: 'error' as const, error: exhaustedError }
        : { kind: 'interrupted' as const }
  return [...turn.calls.map((call) => lostResult(call, driver.now())), fact('turn/end', driver.now(), { turnId, reason, usage })]
}

function lostResult(call: OpenCall, now: number): NewFact {
  const error: FactErrorOf = call.started
    ? {
        code: 'tool_outcome_unknown',
        message: 'the runtime stopped while the tool ran: whether it took effect is not known',
        retryable: false,
      }
    : { code: 'tool_not_started', message: 'the runtime stopped before the tool started: it had no effect', retryable: true }
  return fact('tool/result', now, { callId: call.callId, content: `No result: ${error.message}.`, isError: true, error, durationMs: 0 })
}
