// Owns the rules that any committed log must keep, read off the facts alone: for tests.
import type { AnyFact } from '@quiesce/schema'

interface Message {
  id: string
  delivery: string
  end: 'pending' | 'admitted' | 'cancelled'
}

interface Reading {
  messages: Message[]
  status: 'running' | 'idle'
  turn: { turnId: string; cancelled: boolean; admitted: boolean; recovery: boolean } | null
  step: string | null
  calls: Map<string, 'asked' | 'started'>
  owed: string[]
  bad: string[]
}

/** Every broken rule of the log, by its id; an empty list is a good log. `settled`: nothing may be open at its end. */
export function brokenRules(facts: readonly AnyFact[], settled: boolean): string[] {
  const reading: Reading = { messages: [], status: 'idle', turn: null, step: null, calls: new Map(), owed: [], bad: [] }
  for (const [i, fact] of facts.entries()) {
    if (fact.seq !== i + 1) reading.bad.push(`seq ${fact.seq} at place ${i + 1}`)
    read(reading, fact)
  }
  if (settled) {
    if (reading.status === 'running') reading.bad.push('ST-1: running for ever')
    for (const id of reading.owed) reading.bad.push(`ST-3: no idle follows the receipt of ${id}`)
    for (const message of waking(reading)) reading.bad.push(`IN-5: ${message.id} is stranded`)
  }
  return reading.bad
}

const pending = (reading: Reading): Message[] => reading.messages.filter((message) => message.end === 'pending')
const waking = (reading: Reading): Message[] => pending(reading).filter((message) => message.delivery !== 'inject')

function read(reading: Reading, fact: AnyFact): void {
  const { bad } = reading
  switch (fact.type) {
    case 'inbox/receipt': {
      const { id, delivery } = fact.data.message
      if (reading.messages.some((message) => message.id === id)) bad.push(`IN-2: a second receipt of ${id}`)
      reading.messages.push({ id, delivery, end: 'pending' })
      if (delivery !== 'inject') reading.owed.push(id)
      return
    }
    case 'inbox/admitted':
    case 'inbox/cancelled':
      readEnd(reading, fact)
      return
    case 'agent/status':
      readStatus(reading, fact)
      return
    case 'agent/cancel':
      if (reading.turn !== null && fact.data.turnId === reading.turn.turnId) reading.turn.cancelled = true
      return
    case 'turn/start':
      if (reading.status !== 'running') bad.push('ST-1: a turn starts while idle')
      if (reading.turn !== null) bad.push('TU-1: a turn starts inside another')
      reading.turn = { turnId: fact.data.turnId, cancelled: false, admitted: false, recovery: fact.data.trigger.kind === 'recovery' }
      return
    case 'turn/end':
      readTurnEnd(reading, fact)
      return
    default:
      readStep(reading, fact)
  }
}

function readEnd(reading: Reading, fact: Extract<AnyFact, { type: 'inbox/admitted' | 'inbox/cancelled' }>): void {
  const { bad, turn } = reading
  const { messageId } = fact.data
  const message = reading.messages.find(({ id }) => id === messageId)
  if (message?.end !== 'pending') bad.push(`IN-2: ${messageId} is ${message?.end ?? 'unknown'}, then ${fact.type}`)
  if (message === undefined) return
  if (fact.type === 'inbox/cancelled') {
    message.end = 'cancelled'
    return
  }
  const first = pending(reading).find(({ delivery }) => delivery === message.delivery)
  if (first !== undefined && first !== message) bad.push(`IN-4/5: ${messageId} overtakes ${first.id}`)
  if (turn === null) bad.push(`IN-2: ${messageId} is admitted outside a turn`)
  else if (turn.cancelled) bad.push(`CAN-1: ${messageId} joins a cancelled turn`)
  else if (message.delivery === 'followup' && turn.admitted) bad.push(`IN-4: the follow-up ${messageId} joins an open turn`)
  if (turn !== null) turn.admitted = true
  message.end = 'admitted'
}

function readStatus(reading: Reading, fact: Extract<AnyFact, { type: 'agent/status' }>): void {
  const { bad } = reading
  const { status } = fact.data
  if (status === reading.status) bad.push(`ST-1: ${status} twice`)
  if (status === 'idle') {
    if (reading.turn !== null) bad.push('ST-2: idle in an open turn')
    for (const message of waking(reading)) bad.push(`ST-2: idle over the pending ${message.id}`)
    reading.owed = []
  }
  reading.status = status === 'running' ? 'running' : 'idle'
}

function readTurnEnd(reading: Reading, fact: Extract<AnyFact, { type: 'turn/end' }>): void {
  const { bad, turn } = reading
  const { kind } = fact.data.reason
  if (turn?.turnId !== fact.data.turnId) bad.push('TU-1: the end of a turn that is not open')
  if (turn !== null && turn.cancelled !== (kind === 'cancelled')) bad.push(`CAN-1: a turn ends ${kind}, cancelled: ${turn.cancelled}`)
  if (turn !== null && !turn.admitted && !turn.recovery) bad.push('TU-1: a turn without its opener')
  for (const callId of reading.calls.keys()) bad.push(`TU-8: ${callId} has no result at its turn's end`)
  if (reading.step !== null && kind !== 'interrupted' && kind !== 'cancelled' && fact.data.reason.error?.code !== 'recovery_exhausted')
    bad.push(`TU-1: a turn ends ${kind} in an open step`)
  const steer = pending(reading).find(({ delivery }) => delivery === 'steer')
  if (kind === 'completed' && steer !== undefined) bad.push(`IN-5: completed over the pending steer ${steer.id}`)
  reading.turn = null
  reading.step = null
  reading.calls.clear()
}

function readStep(reading: Reading, fact: AnyFact): void {
  const { bad, turn, calls } = reading
  const closing = turn?.cancelled === true
  switch (fact.type) {
    case 'step/start':
      if (turn === null || reading.step !== null) bad.push('TU-1: a step starts without a turn, or inside another')
      if (closing) bad.push('CAN-1: a step starts in a cancelled turn')
      for (const left of pending(reading))
        if (left.delivery !== 'followup') bad.push(`IN-5/6: a step starts without the pending ${left.id}`)
      reading.step = fact.data.stepId
      return
    case 'assistant/message':
      if (reading.step !== fact.data.stepId) bad.push('TU-1: an answer outside its step')
      if (closing && fact.data.interrupted !== true) bad.push('CAN-1: a whole answer in a cancelled turn')
      return
    case 'tool/call':
      if (closing && reading.step === null) bad.push('CAN-1: a call in a cancelled turn')
      calls.set(fact.data.callId, 'asked')
      return
    case 'tool/start':
      if (closing) bad.push(`CAN-1: ${fact.data.callId} starts in a cancelled turn`)
      if (calls.get(fact.data.callId) !== 'asked') bad.push(`TU-1: ${fact.data.callId} starts unasked, or twice`)
      calls.set(fact.data.callId, 'started')
      return
    case 'tool/result':
      if (!calls.delete(fact.data.callId)) bad.push(`TU-1: a result of ${fact.data.callId}, which is not open`)
      if (closing && !fact.data.isError) bad.push(`TU-8: ${fact.data.callId} succeeds in a cancelled turn`)
      return
    case 'step/end':
      if (reading.step !== fact.data.stepId) bad.push('TU-1: the end of a step that is not open')
      if (calls.size > 0) bad.push('TU-1: a step ends over open calls')
      reading.step = null
  }
}
