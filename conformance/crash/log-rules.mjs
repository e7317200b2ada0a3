// Owns a second reading of the contract: what any committed log must keep, told from the facts alone. Shares no code with the
// runtime, so that the two don't agree on a mistake.

/** What a log says so far, and each rule that it broke. */
export class LogReading {
  broken = []
  seq = 0
  status = 'idle'
  /** Seqs of the last idle and of the last receipt that wakes. */
  lastIdle = 0
  lastWaking = 0
  /** By id, in receipt order: {id, seq, delivery, content, fate: 'pending' | 'admitted' | 'cancelled'}. */
  messages = new Map()
  /** The open turn: {turnId, steps, cancelledBy, recovers, admitted, completedAStep}. */
  turn = null
  step = null
  /** Of the open turn, in order: {callId, name, input, started}. */
  calls = new Map()
  /** Every call of the log: {callId, name, input, started, result}. */
  allCalls = new Map()
  /** The last turn, where it was interrupted and nothing has followed it. */
  interrupted = null
  /** Recoveries in a row since the last finished step. */
  resumes = 0
  config = null
  /** The reasons with which turns ended, in order. */
  ends = []
  #activity = null
  #used = new Set()
  #asked = []

  static of(facts) {
    const reading = new LogReading()
    for (const fact of facts) reading.read(fact)
    return reading
  }

  get pending() {
    return [...this.messages.values()].filter(({ fate }) => fate === 'pending')
  }

  get waking() {
    return this.pending.filter(({ delivery }) => delivery !== 'inject')
  }

  /** Nothing is left to do: idle, nobody waits, every waking receipt has its idle (ST-3). */
  get settled() {
    return this.status === 'idle' && this.waking.length === 0 && this.lastIdle >= this.lastWaking
  }

  /** What a log that is over may not leave. */
  get unfinished() {
    const found = []
    if (this.status !== 'idle') found.push('ST-1: it runs for ever')
    for (const { id } of this.waking) found.push(`IN-5: ${id} waits for ever`)
    if (this.lastIdle < this.lastWaking) found.push(`ST-3: no idle follows the receipt ${this.lastWaking}`)
    return found
  }

  read(fact) {
    if (fact.seq !== this.seq + 1) this.#break(fact, `seq ${fact.seq} after ${this.seq}`)
    this.seq = fact.seq
    const handler = handlers[fact.type]
    if (handler === undefined) this.#break(fact, 'a type that no rule knows')
    else handler.call(this, fact.data, fact, (why) => this.#break(fact, why))
  }

  #break(fact, why) {
    this.broken.push(`${why} (seq ${fact.seq}, ${fact.type})`)
  }

  /** Ids are never used twice. */
  fresh(id, say) {
    if (this.#used.has(id)) say(`the id ${id} is used again`)
    this.#used.add(id)
  }

  beginActivity(activityId, say) {
    this.fresh(activityId, say)
    this.#activity = activityId
  }

  isActivity(activityId) {
    return this.#activity === activityId
  }

  /** The calls that the answer of the open step asked for, until each has its fact. */
  ask(blocks) {
    this.#asked = blocks.map(({ callId }) => callId)
  }

  takeAsked(callId) {
    return this.#asked[0] === callId && this.#asked.shift() !== undefined
  }

  get leftAsked() {
    return this.#asked
  }
}

const handlers = {
  'session/create'({ config }, { seq }, say) {
    if (seq !== 1) say('a session is created once, first')
    this.config = config
  },

  'session/update'({ change }) {
    this.config = { ...this.config, ...change }
  },

  'inbox/receipt'({ message }, { seq }, say) {
    const { id, delivery, content } = message
    if (this.messages.has(id)) say(`IN-2: a second receipt of ${id}`)
    this.messages.set(id, { id, seq, delivery, content, fate: 'pending' })
    if (delivery !== 'inject') this.lastWaking = seq
  },

  'inbox/admitted'({ messageId, turnId }, _, say) {
    const message = this.messages.get(messageId)
    if (message?.fate !== 'pending') return say(`IN-2: ${messageId} is ${message?.fate ?? 'unknown'}, and is admitted`)
    if (this.turn?.turnId !== turnId) return say(`TU-1: ${messageId} is admitted to a turn that is not open`)
    if (this.turn.cancelledBy !== null) say(`CAN-1: ${messageId} joins a cancelled turn`)
    if (this.step !== null) say(`IN-5: ${messageId} is admitted in the middle of a step`)
    const overtaken = this.pending.find((other) => other.delivery === message.delivery && other.seq < message.seq)
    if (overtaken !== undefined) say(`IN-5: ${messageId} overtakes ${overtaken.id}`)
    if (message.delivery === 'followup' && (this.turn.admitted || this.turn.recovers !== null))
      say(`IN-4: ${messageId} joins a turn that another message opened`)
    this.turn.admitted = true
    message.fate = 'admitted'
  },

  'inbox/cancelled'({ messageId }, _, say) {
    const message = this.messages.get(messageId)
    if (message?.fate !== 'pending') return say(`IN-2: ${messageId} is ${message?.fate ?? 'unknown'}, and is cancelled`)
    message.fate = 'cancelled'
  },

  'agent/status'({ status, activityId, waitingOn }, { seq }, say) {
    if (status === this.status) say(`ST-1: ${status} twice in a row`)
    if (status === 'running') this.beginActivity(activityId, say)
    else {
      if (!this.isActivity(activityId)) say('ST-1: the idle of another activity')
      if (this.turn !== null) say('ST-2: idle in an open turn')
      for (const { id } of this.waking) say(`ST-2: idle over ${id}, which waits`)
      if (this.interrupted !== null && (this.config.recovery ?? 'resume') === 'resume') say('RE-7: idle where a turn should go on')
      if (!Array.isArray(waitingOn)) say('ST-5: idle without waitingOn')
      this.lastIdle = seq
      this.interrupted = null
      this.resumes = 0
    }
    this.status = status
  },

  'agent/cancel'({ turnId, by, scope }, _, say) {
    if (turnId !== undefined && this.turn?.turnId !== turnId) say('CAN-1: a cancel names a turn that is not open')
    if (turnId !== undefined && this.turn?.turnId === turnId) this.turn.cancelledBy ??= by
    if (scope !== 'turn') for (const { id } of this.pending) say(`CAN-2: ${id} still waits`)
  },

  'turn/start'({ turnId, activityId, trigger }, _, say) {
    this.fresh(turnId, say)
    if (this.status !== 'running' || !this.isActivity(activityId)) say('ST-1: a turn outside its activity')
    if (this.turn !== null) say('TU-1: a turn inside another')
    const recovers = trigger.kind === 'recovery' ? trigger.turnId : null
    if (recovers !== null && recovers !== this.interrupted) say(`RE-2: it goes on from ${recovers}, which was not interrupted just before`)
    if (recovers !== null && this.config.recovery === 'settle') say('RE-2: a turn goes on where it should settle')
    if (recovers === null && this.interrupted !== null && (this.config.recovery ?? 'resume') === 'resume')
      say('RE-2: another turn starts where one should go on')
    this.turn = { turnId, steps: 0, cancelledBy: null, recovers, admitted: false }
    if (recovers !== null) this.resumes += 1
    this.interrupted = null
  },

  'step/start'({ turnId, stepId }, _, say) {
    this.fresh(stepId, say)
    if (this.turn?.turnId !== turnId || this.step !== null) return say('TU-1: a step out of place')
    if (this.turn.cancelledBy !== null) say('CAN-1: a step in a cancelled turn')
    if (!this.turn.admitted && this.turn.recovers === null) say('TU-1: a step before its opener')
    for (const { id, delivery } of this.pending) if (delivery !== 'followup') say(`IN-5: the step starts without ${id}`)
    this.turn.steps += 1
    this.step = { stepId, answered: false }
  },

  'model/retry'({ stepId }, _, say) {
    if (this.step?.stepId !== stepId || this.step.answered) say('TU-5: a retry outside its request')
  },

  'assistant/message'({ stepId, content, interrupted }, _, say) {
    if (this.step?.stepId !== stepId || this.step.answered) return say('TU-1: an answer outside its step')
    if (this.turn.cancelledBy !== null && interrupted !== true) say('CAN-1: a whole answer in a cancelled turn')
    this.step.answered = true
    this.ask(content.filter(({ type }) => type === 'tool_use'))
  },

  'tool/call'({ callId, stepId, name, input }, _, say) {
    this.fresh(callId, say)
    if (this.step?.stepId !== stepId) say('TU-1: a call outside its step')
    if (!this.takeAsked(callId)) say('TU-1: a call that the answer does not ask for next')
    const call = { callId, name, input, started: false, result: null }
    this.calls.set(callId, call)
    this.allCalls.set(callId, call)
  },

  'permission/request'({ callId }, _, say) {
    if (!this.calls.has(callId) || this.calls.get(callId).started) say('CB-1: a request about a call that is not waiting')
  },

  'permission/decision'() {},

  'tool/start'({ callId }, _, say) {
    const call = this.calls.get(callId)
    if (call === undefined || call.started) return say(`TU-1: ${callId} starts unasked, or twice`)
    if (this.turn?.cancelledBy != null) say(`CAN-1: ${callId} starts in a cancelled turn`)
    call.started = true
  },

  'tool/result'(data, _, say) {
    const call = this.calls.get(data.callId)
    if (call === undefined) return say(`TU-1: a result of ${data.callId}, which is not open`)
    if (!call.started && !data.isError) say(`TU-1: ${data.callId} succeeds and never started`)
    if (this.turn?.cancelledBy != null && !data.isError) say(`TU-8: ${data.callId} succeeds in a cancelled turn`)
    const code = data.error?.code
    if (code === 'tool_not_started' && call.started) say(`RE-2: ${data.callId} started, and is called not started`)
    if (code === 'tool_outcome_unknown' && !call.started) say(`RE-2: ${data.callId} never started, and its outcome is called unknown`)
    if (data.isError !== (data.error !== undefined)) say(`TU-6: ${data.callId} has isError ${data.isError}, and error ${code}`)
    call.result = data
    this.calls.delete(data.callId)
  },

  'step/end'({ stepId }, _, say) {
    if (this.step?.stepId !== stepId) say('TU-1: the end of a step that is not open')
    for (const callId of this.calls.keys()) say(`TU-1: the step ends, and ${callId} is open`)
    this.step = null
    this.resumes = 0
  },

  'turn/end'({ turnId, reason }, _, say) {
    const { kind, error } = reason
    const { turn } = this
    if (turn?.turnId !== turnId) return say('TU-1: the end of a turn that is not open')
    if ((turn.cancelledBy !== null) !== (kind === 'cancelled')) say(`CAN-1: it ends ${kind}, cancelled by ${turn.cancelledBy}`)
    for (const callId of this.calls.keys()) say(`TU-8: ${callId} has no result at the end of its turn`)
    if (this.leftAsked.length > 0) say(`TU-8: no fact about the calls ${this.leftAsked} that the answer asks for`)
    const exhausted = error?.code === 'recovery_exhausted'
    if (this.step !== null && !['interrupted', 'cancelled'].includes(kind) && !exhausted) say(`TU-1: it ends ${kind} in an open step`)
    if (!turn.admitted && turn.recovers === null) say('TU-1: a turn without its opener')
    const steer = this.pending.find(({ delivery }) => delivery === 'steer')
    if (kind === 'completed' && steer !== undefined) say(`IN-5: completed over the steer ${steer.id}`)
    if (exhausted && this.resumes < 2) say(`RE-2: given up after ${this.resumes} resumes`)
    if (!exhausted && this.resumes > 2) say(`RE-2: resumed ${this.resumes} times in a row`)
    this.ends.push(exhausted ? 'recovery_exhausted' : kind)
    this.interrupted = kind === 'interrupted' ? turnId : null
    this.turn = null
    this.step = null
    this.calls.clear()
    this.ask([])
  },
}
