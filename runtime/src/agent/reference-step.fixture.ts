// Owns the reference model's rules for steps: requests, answers, calls and their results. For tests.
import { type Fact, pendingOf, type Reading, type Turn } from './reference-state.fixture.ts'

/** The one tool whose calls run alone. */
export const SERIAL_TOOL = 'solo'

export function readStepStart({ draft, broken, epoch }: Reading, fact: Fact<'step/start'>): void {
  const { turnId, stepId, model } = fact.data
  const { turn } = draft
  if (turn === null || turn.id !== turnId || turn.step !== null) {
    broken.push('TU-1: a step starts without its turn, or inside another')
    return
  }
  if (turn.epoch !== epoch) broken.push('RE-2: a step starts in a turn of an earlier activation')
  if (turn.cancelledBy !== null) broken.push('CAN-1: a step starts in a cancelled turn')
  if (turn.joining !== null && turn.joining.stepId !== stepId) broken.push('TU-1: messages were admitted to another step')
  if (turn.steps === 0 && turn.opener !== null && turn.joining === null) broken.push('TU-1: a turn starts without its opener')
  for (const { id, delivery } of pendingOf(draft))
    if (delivery !== 'followup') broken.push(`IN-5/6: a step starts without the pending ${id}`)
  if (turn.steps >= draft.config.maxSteps) broken.push(`TU-2: step ${turn.steps + 1} of ${draft.config.maxSteps}`)
  const { last } = turn
  if (last !== null && last.finish === null) broken.push('TU-5: a turn goes on after a failed step')
  if (last !== null && !goesOn(last)) {
    if (last.finish !== 'stop') broken.push(`TU-2: a turn goes on after the finish ${last.finish}`)
    else if (!turn.joining?.deliveries.includes('steer')) broken.push('IN-5: a turn that had its answer goes on without a steer')
  }
  if (!draft.since.models.includes(model)) broken.push(`TU-1: a step asks ${model}, configured: ${draft.since.models.join()}`)
  draft.turn = { ...turn, steps: turn.steps + 1, step: { id: stepId, finish: null, asked: [], called: false }, joining: null }
}

/** Calls that were executed, or refused one by one, are for the model to see. */
export const goesOn = ({ finish, called }: { finish: string | null; called: boolean }): boolean =>
  called && finish !== 'length' && finish !== 'content_filter'

type StepFact = Fact<
  | 'model/retry'
  | 'assistant/message'
  | 'tool/call'
  | 'tool/start'
  | 'tool/result'
  | 'step/end'
  | 'permission/request'
  | 'permission/decision'
>

export function readStep(reading: Reading, fact: StepFact): void {
  const { draft, broken, epoch } = reading
  const { turn } = draft
  const step = turn?.step
  if (turn === null || step == null) {
    broken.push(`TU-1: ${fact.type} outside a step`)
    return
  }
  const live = turn.cancelledBy === null
  if (turn.epoch !== epoch && fact.type !== 'tool/result') broken.push(`RE-2: ${fact.type} in a turn of an earlier activation`)
  switch (fact.type) {
    case 'model/retry':
      if (step.finish !== null || fact.data.stepId !== step.id) broken.push('TU-5: a retry outside its request')
      if (!live) broken.push('CAN-1: a retry in a cancelled turn')
      return
    case 'assistant/message': {
      const { stepId, finish, interrupted, content } = fact.data
      if (step.finish !== null || stepId !== step.id) broken.push('TU-1: a second answer, or one outside its step')
      if (live && interrupted === true) broken.push('TU-8: an answer is marked interrupted in a live turn')
      if (!live && interrupted !== true) broken.push('CAN-1: a whole answer in a cancelled turn')
      const asked = content.flatMap((block) => (block.type === 'tool_use' ? [block.callId] : []))
      draft.turn = { ...turn, step: { ...step, finish, asked, called: asked.length > 0 } }
      return
    }
    case 'tool/call': {
      const { callId, name } = fact.data
      const [next, ...asked] = step.asked
      if (next !== callId) broken.push(`TU-1: ${callId} is called, the answer asks for ${next ?? 'nothing more'}`)
      draft.turn = {
        ...turn,
        step: { ...step, asked },
        calls: [...turn.calls, { id: callId, started: false, parallel: name !== SERIAL_TOOL }],
      }
      return
    }
    case 'tool/start': {
      const call = turn.calls.find(({ id }) => id === fact.data.callId)
      if (call === undefined || call.started) broken.push(`TU-1: ${fact.data.callId} starts unasked, or twice`)
      if (!live) broken.push(`CAN-1: ${fact.data.callId} starts in a cancelled turn`)
      if (turn.calls.some(({ started }) => started) && !turn.calls.every(({ parallel }) => parallel))
        broken.push(`TU-7: ${fact.data.callId} starts beside another, and not each of them may`)
      if (step.finish === 'length') broken.push(`TU-5: ${fact.data.callId} starts, and the length limit cut it off`)
      draft.turn = { ...turn, calls: turn.calls.map((other) => (other.id === fact.data.callId ? { ...other, started: true } : other)) }
      return
    }
    case 'tool/result':
      readResult(reading, turn, fact)
      return
    case 'step/end':
      if (fact.data.stepId !== step.id) broken.push('TU-1: the end of a step that is not open')
      if (turn.calls.length > 0 || step.asked.length > 0) broken.push('TU-1: a step ends over open calls')
      draft.turn = { ...turn, step: null, last: step }
      draft.resumes = 0
      draft.tokens += fact.data.usage.inputTokens + fact.data.usage.outputTokens
      return
    default:
      if (!turn.calls.some(({ started }) => !started)) broken.push(`CB-2: ${fact.type} without a call that waits`)
  }
}

const beforeStart = new Set(['tool_unknown', 'tool_input', 'permission_denied', 'tool_not_started', 'tool_cancelled'])

function readResult({ draft, broken, epoch, stopping }: Reading, turn: Turn, fact: Fact<'tool/result'>): void {
  const { callId, isError, content, error } = fact.data
  const call = turn.calls.find(({ id }) => id === callId)
  if (call === undefined) broken.push(`TU-1: a result of ${callId}, which is not open`)
  const code = error?.code ?? 'none'
  const lost = code === 'tool_outcome_unknown' || (code === 'tool_not_started' && turn.step?.finish !== 'length')
  if (turn.epoch !== epoch || lost) {
    const right = call?.started === true ? 'tool_outcome_unknown' : 'tool_not_started'
    if (code !== right) broken.push(`RE-2: the lost call ${callId} gets ${code}, ${right} would be right`)
    if (turn.epoch === epoch && !stopping) broken.push(`RE-2: ${callId} is given up by a runtime that goes on`)
  } else if (call?.started === false && !beforeStart.has(code)) broken.push(`TU-3: ${callId} has a result, and it never started`)
  if (!isError && content !== `result of ${callId}`) broken.push(`TU-7: ${callId} gets the result of another call: ${content}`)
  if (turn.cancelledBy !== null && !isError) broken.push(`TU-8: ${callId} succeeds in a cancelled turn`)
  draft.turn = { ...turn, calls: turn.calls.filter(({ id }) => id !== callId) }
}
