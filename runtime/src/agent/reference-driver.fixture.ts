// Owns the reference model's rules for what the holder of the lease commits: activities, turns, admissions. For tests.
import type { AnyFact } from '@quiesce/schema'
import {
  type Draft,
  end,
  type Fact,
  isBusy,
  isDue,
  isExhausted,
  isWaking,
  messageOf,
  mustResume,
  pendingOf,
  type Reading,
  receive,
  steersOf,
  type Turn,
  wakingOf,
} from './reference-state.fixture.ts'
import { goesOn, readStep, readStepStart } from './reference-step.fixture.ts'

export function readDriven(reading: Reading): void {
  const { draft, facts, broken, epoch } = reading
  const before = { ...draft }
  if (draft.stopped === epoch) broken.push('RE-7: the runtime interrupted its turn to stop, and commits once more')
  for (const [i, fact] of facts.entries()) readFact(reading, fact, facts[i + 1])
  readWhole(reading, before)
}

function readFact(reading: Reading, fact: AnyFact, next: AnyFact | undefined): void {
  const { draft, broken } = reading
  switch (fact.type) {
    case 'inbox/receipt':
      if (isBusy(draft)) broken.push(`TU-3: ${fact.data.message.id} is received and opened together while the agent is busy`)
      receive(draft, fact, broken)
      break
    case 'inbox/admitted':
      readAdmitted(reading, fact)
      break
    case 'agent/status':
      if (fact.data.status === 'running') readRunning(reading, fact, next)
      else readIdle(reading, fact)
      break
    case 'turn/start':
      readTurnStart(reading, fact)
      break
    case 'turn/end':
      readTurnEnd(reading, fact)
      break
    case 'step/start':
      readStepStart(reading, fact)
      break
    case 'model/retry':
    case 'assistant/message':
    case 'tool/call':
    case 'tool/start':
    case 'tool/result':
    case 'step/end':
    case 'permission/request':
    case 'permission/decision':
      readStep(reading, fact)
      break
    default:
      broken.push(`RE-4: ${fact.type} is committed under the lease`)
  }
}

function readRunning({ draft, broken }: Reading, fact: Fact<'agent/status'>, next: AnyFact | undefined): void {
  if (draft.status === 'running') broken.push('ST-1: running twice')
  if (!isDue(draft)) broken.push('ST-12: an activity begins though nothing is due')
  if (next?.type !== 'turn/start' && next?.type !== 'agent/status') broken.push('TU-3: running is committed without what it is for')
  draft.status = 'running'
  draft.activityId = fact.data.activityId
  draft.activities += 1
  draft.resumes = 0
}

function readIdle({ draft, broken }: Reading, fact: Fact<'agent/status'>): void {
  if (draft.status === 'idle') broken.push('ST-1: idle twice')
  if (draft.turn !== null) broken.push('ST-2: idle in an open turn')
  if (fact.data.activityId !== draft.activityId) broken.push(`ST-1: ${fact.data.activityId} ends, ${draft.activityId} runs`)
  for (const { id } of wakingOf(draft)) broken.push(`ST-2: idle over the pending ${id}`)
  if (mustResume(draft)) broken.push(`RE-2: idle, and ${draft.interrupted?.id} was not resumed`)
  if ((fact.data.waitingOn ?? []).length > 0) broken.push('ST-5: idle waits on something, and there is nothing')
  draft.status = 'idle'
  draft.lastIdle = fact.seq
  draft.resumes = 0
  draft.interrupted = null
}

function readTurnStart({ draft, broken, epoch }: Reading, fact: Fact<'turn/start'>): void {
  const { turnId, activityId, trigger } = fact.data
  if (draft.status !== 'running' || activityId !== draft.activityId) broken.push('ST-1: a turn starts outside its activity')
  if (draft.turn !== null) broken.push('TU-1: a turn starts inside another')
  if (draft.turns.includes(turnId)) broken.push(`TU-1: ${turnId} starts twice`)
  let opener: string | null = null
  if (trigger.kind === 'recovery') {
    if (trigger.turnId !== draft.interrupted?.id) broken.push(`RE-2: ${trigger.turnId} is resumed, and it was not interrupted just now`)
    else if (draft.interrupted.epoch === epoch) broken.push('RE-2: a turn is resumed by the activation that it was interrupted in')
    if (!mustResume(draft)) broken.push('RE-2: a turn is resumed where the session settles')
    draft.resumes += 1
  } else {
    opener = String(trigger.messageId)
    const first = pendingOf(draft).find(isWaking)
    if (first?.id !== opener) broken.push(`IN-5: ${opener} opens a turn before ${first?.id ?? 'anything waits'}`)
    if (mustResume(draft)) broken.push(`RE-2: ${opener} opens a turn before ${draft.interrupted?.id} goes on`)
  }
  draft.interrupted = null
  draft.turns = [...draft.turns, turnId]
  draft.turn = { id: turnId, epoch, opener, cancelledBy: null, steps: 0, step: null, last: null, calls: [], joining: null }
}

/** IN-4 to IN-6, IN-8: at a boundary of a live turn; the opener first, then each kind in receipt order, follow-ups never. */
function readAdmitted({ draft, broken, epoch }: Reading, fact: Fact<'inbox/admitted'>): void {
  const { messageId, turnId, stepId } = fact.data
  const { turn } = draft
  if (turn === null || turn.step !== null || turn.id !== turnId) {
    broken.push(`TU-1: ${messageId} is admitted outside a boundary of ${turnId}`)
    return
  }
  if (turn.epoch !== epoch) broken.push(`RE-2: ${messageId} joins a turn of an earlier activation`)
  if (turn.cancelledBy !== null) broken.push(`CAN-1: ${messageId} joins a cancelled turn`)
  const message = messageOf(draft, messageId)
  const isOpener = turn.opener === messageId && turn.steps === 0 && turn.joining === null
  if (!isOpener && turn.opener !== null && turn.steps === 0 && turn.joining === null)
    broken.push(`TU-1: ${messageId} is admitted before the opener`)
  if (!isOpener && message?.delivery === 'followup') broken.push(`IN-4: the follow-up ${messageId} joins a turn that it does not open`)
  const first = pendingOf(draft).find(({ delivery }) => delivery === message?.delivery)
  if (first !== undefined && first.id !== messageId) broken.push(`IN-4/5: ${messageId} overtakes ${first.id}`)
  if (turn.joining !== null && turn.joining.stepId !== stepId)
    broken.push(`TU-1: ${messageId} is admitted to another step than the one before it`)
  end(draft, messageId, 'admitted', broken)
  draft.turn = { ...turn, joining: { stepId, deliveries: [...(turn.joining?.deliveries ?? []), message?.delivery ?? ''] } }
}

function readTurnEnd({ draft, broken, epoch, stopping }: Reading, fact: Fact<'turn/end'>): void {
  const { turnId, reason } = fact.data
  const { turn } = draft
  if (turn?.id !== turnId) {
    broken.push(`TU-1: the end of ${turnId}, which is not open`)
    return
  }
  const { kind } = reason
  const recovered = turn.epoch !== epoch
  const exhausted = kind === 'error' && reason.error?.code === 'recovery_exhausted'
  for (const { id } of turn.calls) broken.push(`TU-8: ${id} has no result at its turn's end`)
  if ((turn.cancelledBy !== null) !== (kind === 'cancelled'))
    broken.push(`CAN-1: ${turnId} ends ${kind}, cancelled by ${turn.cancelledBy ?? 'nobody'}`)
  if (kind === 'cancelled' && reason.by !== turn.cancelledBy)
    broken.push(`CAN-1: ${turnId} was cancelled by ${turn.cancelledBy}, not by ${reason.by}`)
  if (exhausted) {
    // A resume that is not made counts: its turn ends before its first step.
    const resumes = turn.opener === null && turn.steps === 0 && !recovered ? draft.resumes - 1 : draft.resumes
    if (resumes < 2) broken.push(`RE-2: exhausted after ${resumes} resumes`)
  } else if (recovered || kind === 'interrupted' || (kind === 'cancelled' && stopping && turn.step !== null)) {
    if (kind !== 'interrupted' && kind !== 'cancelled') broken.push(`RE-2: a recovery ends a turn ${kind}`)
    if (kind === 'interrupted' && !recovered && !stopping) broken.push('RE-7: a runtime that goes on interrupts its own turn')
    if (kind === 'interrupted' && recovered && isExhausted(draft)) broken.push('RE-2: a third resume in a row')
    if (!recovered) draft.stopped = epoch
  } else if (turn.step !== null) broken.push(`TU-1: ${turnId} ends ${kind} in an open step`)
  else readReason(draft, turn, kind, broken)
  draft.turn = null
  draft.interrupted = kind === 'interrupted' ? { id: turnId, epoch: turn.epoch } : null
}

/** TU-2: the kind is what the last step came to. */
function readReason(draft: Draft, { last, steps, joining }: Turn, kind: string, broken: string[]): void {
  if (kind === 'cancelled') return
  const finish = last?.finish ?? null
  const called = last !== null && goesOn(last)
  const right =
    finish === null
      ? ['error']
      : finish === 'length'
        ? ['max_tokens']
        : finish === 'content_filter'
          ? ['refused']
          : called
            ? ['max_steps']
            : ['completed', 'max_steps']
  if (!right.includes(kind)) broken.push(`TU-2: a turn ends ${kind} after the finish ${finish}${called ? ' with calls' : ''}`)
  if (joining !== null) broken.push('TU-1: messages were admitted to a step that does not start')
  if (kind === 'max_steps' && steps < draft.config.maxSteps) broken.push(`TU-2: max_steps after ${steps} of ${draft.config.maxSteps}`)
  if (kind === 'max_steps' && !called && !draft.since.steer) broken.push('TU-2: max_steps for a turn that had its answer')
  if (kind === 'completed') for (const { id } of steersOf(draft)) broken.push(`IN-5: completed over the pending steer ${id}`)
}

/** What has to be in one commit is (TU-1, TU-3, CAN-1). */
function readWhole({ draft, broken, epoch, facts }: Reading, before: Draft): void {
  const { turn } = draft
  if (turn !== null) {
    if (turn.cancelledBy !== null) broken.push('CAN-1: a commit in a cancelled turn does not close it')
    if (turn.epoch !== epoch) broken.push('RE-2: a commit of another activation leaves the old turn open')
    if (turn.step === null && steersOf(draft).length === 0) broken.push('TU-3: a commit ends between two steps')
    if (turn.joining !== null) broken.push('TU-3: messages are admitted without their step')
    if (turn.opener === null && draft.resumes > 2) broken.push('RE-2: a third resume in a row')
    if (turn.step !== null && turn.step.asked.length > 0) broken.push(`TU-1: an answer is committed without its call ${turn.step.asked[0]}`)
  }
  const ends = facts.some(({ type }) => type === 'turn/end') && before.turn?.epoch === epoch && draft.stopped !== epoch
  if (ends && turn === null && draft.status === 'running' && !before.since.waking && wakingOf(draft).length === 0)
    broken.push('TU-3: the last turn ends without its idle in the same commit')
}
