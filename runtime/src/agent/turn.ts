// Owns the boundaries of turns and steps: how they open, go on and end, each in one conditional commit (TU-1, TU-3, IN-5).
import type { TriggerOf, TurnEndReasonOf, UsageOf } from '@quiesce/schema'
import { hasSteer, joiners } from '../inbox/delivery.ts'
import type { Condition } from '../log/conditions.ts'
import { addUsage, fact, type NewFact, noUsage } from '../log/facts.ts'
import { isWaking, type PendingMessage } from '../log/session-state.ts'
import { admissions, type Driver, exactly, type OpenStep, runningFacts } from './driver.ts'

export const DEFAULT_MAX_STEPS = 200

/** The facts that open a turn with its first step: `running` first where the agent was idle. */
export function openingFacts(
  driver: Driver,
  trigger: TriggerOf,
  joining: readonly PendingMessage[],
): { facts: NewFact[]; opened: OpenStep } {
  const now = driver.now()
  const { activityId, facts } = runningFacts(driver.state, () => driver.id('act'), now)
  const opened = { turnId: driver.id('turn'), stepId: driver.id('step') }
  return {
    opened,
    facts: [
      ...facts,
      fact('turn/start', now, { turnId: opened.turnId, activityId, trigger }),
      ...admissions(joining, opened, now),
      fact('step/start', now, { ...opened, model: driver.config.model }),
    ],
  }
}

/** Opens a turn for a pending message; null where it was withdrawn in between. */
export async function openTurn(driver: Driver, opener: PendingMessage): Promise<OpenStep | null> {
  const joining = [opener, ...joiners(driver.state.pending, opener)]
  const { facts, opened } = openingFacts(driver, { kind: 'message', messageId: opener.id }, joining)
  return (await driver.commit(facts, exactly(joining))) === null ? opened : null
}

/** What a step leaves to commit: facts before `step/end`, and the step's usage. */
export interface StepRest {
  facts: readonly NewFact[]
  usage: UsageOf
}

const stepEnd = (driver: Driver, step: OpenStep, usage: UsageOf): NewFact => fact('step/end', driver.now(), { ...step, usage })

/** Ends the step and goes on with the next one, for the results or the steer that it is to see; null where the turn ended instead. */
export async function continueTurn(
  driver: Driver,
  step: OpenStep,
  rest: StepRest,
  why: 'results' | 'steer' = 'results',
): Promise<OpenStep | null> {
  const limit = driver.config.limits.perTurn?.maxSteps ?? driver.config.limits.maxSteps ?? DEFAULT_MAX_STEPS
  for (;;) {
    // It was withdrawn meanwhile: another step would have nothing to answer.
    if (why === 'steer' && !hasSteer(driver.state.pending)) return endTurn(driver, step, rest, { kind: 'completed' })
    if ((driver.state.turn?.steps ?? 0) >= limit) return endTurn(driver, step, rest, { kind: 'max_steps', limit })
    const joining = joiners(driver.state.pending)
    const next = { turnId: step.turnId, stepId: driver.id('step') }
    const now = driver.now()
    const facts = [
      ...rest.facts,
      stepEnd(driver, step, rest.usage),
      ...admissions(joining, next, now),
      fact('step/start', now, { ...next, model: driver.config.model }),
    ]
    const unmet = await driver.commit(facts, [{ kind: 'turn-live', turnId: step.turnId }, ...exactly(joining)])
    if (unmet === null) return next
    if (unmet.kind === 'turn-live') return closeTurn(driver, step, rest)
  }
}

/**
 * Ends the turn, and the activity with it where nothing waits. A turn that completes with a steer pending goes on
 * instead: the next step is answered.
 */
export async function endTurn(driver: Driver, step: OpenStep, rest: StepRest, reason: TurnEndReasonOf): Promise<OpenStep | null> {
  const completes = reason.kind === 'completed'
  for (;;) {
    if (completes && hasSteer(driver.state.pending)) return continueTurn(driver, step, rest, 'steer')
    const usage = addUsage(driver.state.turn?.usage ?? noUsage, rest.usage)
    const facts = [...rest.facts, stepEnd(driver, step, rest.usage), fact('turn/end', driver.now(), { turnId: step.turnId, reason, usage })]
    const when: Condition[] = [{ kind: 'turn-live', turnId: step.turnId }]
    if (completes) when.push({ kind: 'no-steer' })
    const unmet = await commitWithIdle(driver, facts, when)
    if (unmet === null) return null
    if (unmet.kind === 'turn-live') return closeTurn(driver, step, rest)
  }
}

/** Commits the facts and an idle behind them; without the idle where a waking message is pending (ST-2, ST-4). */
async function commitWithIdle(driver: Driver, facts: readonly NewFact[], when: readonly Condition[]): Promise<Condition | null> {
  if (!driver.state.pending.some(isWaking)) {
    const unmet = await driver.commit([...facts, idleFact(driver)], [...when, { kind: 'no-waking' }])
    if (unmet?.kind !== 'no-waking') return unmet
  }
  return driver.commit(facts, when)
}

function idleFact(driver: Driver): NewFact {
  return fact('agent/status', driver.now(), { status: 'idle', activityId: driver.state.activityId ?? '', waitingOn: [] })
}

/** Closes a turn that was cancelled: what had arrived is committed, every open call answered (TU-8, CAN-1). */
export async function closeTurn(driver: Driver, step: OpenStep, rest: StepRest): Promise<null> {
  const now = driver.now()
  const { turn } = driver.state
  const answered = new Set(rest.facts.flatMap((made) => (made.type === 'tool/result' ? [made.data.callId] : [])))
  const calls = [...(turn?.calls.map((call) => call.callId) ?? []), ...callsIn(rest.facts)]
  const usage = addUsage(turn?.usage ?? noUsage, rest.usage)
  const facts: NewFact[] = [
    ...rest.facts.filter((made) => made.type !== 'tool/start').map(asInterrupted),
    ...calls.filter((callId) => !answered.has(callId)).map((callId) => cancelledResult(callId, now)),
    ...(turn?.stepId != null ? [stepEnd(driver, step, rest.usage)] : []),
    fact('turn/end', now, { turnId: step.turnId, reason: { kind: 'cancelled', by: turn?.cancelledBy ?? 'runtime' }, usage }),
  ]
  await commitWithIdle(driver, facts, [])
  return null
}

const callsIn = (facts: readonly NewFact[]): string[] => facts.flatMap((made) => (made.type === 'tool/call' ? [made.data.callId] : []))

/** In a closing commit an answer is marked, and a call that was open when the cancel came has an error result. */
function asInterrupted(made: NewFact): NewFact {
  if (made.type === 'assistant/message') return { ...made, data: { ...made.data, interrupted: true } }
  if (made.type !== 'tool/result' || made.data.isError) return made
  const error = { code: 'tool_cancelled', message: 'the turn was cancelled while it ran', retryable: false } as const
  return { ...made, data: { ...made.data, isError: true, error } }
}

function cancelledResult(callId: string, now: number): NewFact {
  const error = { code: 'tool_cancelled', message: 'the turn was cancelled', retryable: false } as const
  return fact('tool/result', now, { callId, content: 'Cancelled before it was done.', isError: true, error, durationMs: 0 })
}

/** Commits an idle alone, `running` before it where the agent only owes one (ST-12); false where a message came in. */
export async function commitIdle(driver: Driver): Promise<boolean> {
  const now = driver.now()
  const { activityId, facts } = runningFacts(driver.state, () => driver.id('act'), now)
  const idle = fact('agent/status', now, { status: 'idle', activityId, waitingOn: [] })
  return (await driver.commit([...facts, idle], [{ kind: 'no-waking' }])) === null
}
