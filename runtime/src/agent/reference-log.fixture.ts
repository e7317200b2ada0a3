// Owns the writing of logs by hand, for the tests of the reference model: short words for facts, commits and what befalls a lease.
import type { AnyFact } from '@quiesce/schema'
import { fact, type NewFact, placed } from '../log/facts.ts'
import { created } from '../store/store.fixture.ts'
import { accept, type Happening, type Processes } from './reference-model.fixture.ts'
import { type State, unborn } from './reference-state.fixture.ts'

const T = 1_000
const usage = { inputTokens: 10, outputTokens: 2 }

export const receipt = (id: string, delivery: 'followup' | 'steer' | 'inject' = 'followup', text = id): NewFact =>
  fact('inbox/receipt', T, { message: { id, delivery, origin: { kind: 'user' }, content: [{ type: 'text', text }] } })
export const admitted = (messageId: string, stepId = 's1', turnId = 't1'): NewFact =>
  fact('inbox/admitted', T, { messageId, turnId, stepId })
export const withdrawn = (messageId: string, reason: 'withdrawn' | 'cancelled' = 'withdrawn'): NewFact =>
  fact('inbox/cancelled', T, { messageId, reason })
export const cancel = (scope: 'turn' | 'session', turnId?: string): NewFact =>
  fact('agent/cancel', T, { scope, by: 'c', ...(turnId !== undefined && { turnId }) })
export const retitled = (title: string): NewFact => fact('session/update', T, { change: { title } })
export const running = (activityId = 'a1'): NewFact => fact('agent/status', T, { status: 'running', activityId })
export const idle = (activityId = 'a1'): NewFact => fact('agent/status', T, { status: 'idle', activityId, waitingOn: [] })
export const opens = (messageId: string, turnId = 't1', activityId = 'a1'): NewFact =>
  fact('turn/start', T, { turnId, activityId, trigger: { kind: 'message', messageId } })
export const resumes = (of: string, turnId: string, activityId = 'a1'): NewFact =>
  fact('turn/start', T, { turnId, activityId, trigger: { kind: 'recovery', turnId: of } })
export const steps = (stepId = 's1', turnId = 't1', model = 'scripted/one'): NewFact => fact('step/start', T, { turnId, stepId, model })
export const retries = (stepId = 's1'): NewFact =>
  fact('model/retry', T, { stepId, attempt: 1, delayMs: 1, error: { code: 'model_overloaded', message: 'busy', retryable: true } })

type Finish = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'interrupted'

export function says(finish: Finish = 'stop', calls: readonly string[] = [], stepId = 's1', turnId = 't1'): NewFact {
  const uses = calls.map((callId) => ({ type: 'tool_use' as const, callId, name: 'work', input: {} }))
  const content = [{ type: 'text' as const, text: 'x' }, ...uses]
  const marked = finish === 'interrupted' && { interrupted: true }
  return fact('assistant/message', T, { turnId, stepId, outputId: 'o', content, model: 'scripted/one', finish, usage, ...marked })
}

export const call = (callId: string, name = 'work', stepId = 's1', turnId = 't1'): NewFact =>
  fact('tool/call', T, { turnId, stepId, callId, name, input: {}, provider: 'runtime' })
export const start = (callId: string): NewFact => fact('tool/start', T, { callId })
export const result = (callId: string, content = `result of ${callId}`): NewFact =>
  fact('tool/result', T, { callId, content, isError: false, durationMs: 0 })
export const failed = (callId: string, code: 'tool_outcome_unknown' | 'tool_not_started' | 'tool_cancelled' | 'tool_failed'): NewFact =>
  fact('tool/result', T, { callId, content: 'no', isError: true, error: { code, message: 'no', retryable: false }, durationMs: 0 })
export const stepEnds = (stepId = 's1', turnId = 't1'): NewFact => fact('step/end', T, { turnId, stepId, usage })

type Kind = 'completed' | 'max_tokens' | 'max_steps' | 'refused' | 'cancelled' | 'error' | 'interrupted'

export function ends(kind: Kind = 'completed', turnId = 't1', code: 'model_request' | 'recovery_exhausted' = 'model_request'): NewFact {
  const by = kind === 'cancelled' && { by: 'c' }
  const error = kind === 'error' && { error: { code, message: 'no', retryable: false } }
  return fact('turn/end', T, { turnId, reason: { kind, ...by, ...error }, usage })
}

/** A session that A holds under the epoch 1, and what happens to it. */
export class Story {
  readonly processes = { dead: new Set<string>(), stopping: new Set<string>() } satisfies Processes
  readonly broken: string[] = []
  readonly states: State[] = [unborn]
  readonly happenings: Happening[] = []

  constructor(config: { recovery?: 'resume' | 'settle'; limits?: { maxSteps: number } } = {}) {
    this.input(...created('s', { config }).facts)
    this.takes('A', 1, 0)
  }

  get state(): State {
    return this.states.at(-1) ?? unborn
  }

  happens(...happenings: Happening[]): this {
    for (const happening of happenings) {
      const { state, broken } = accept(this.state, happening, this.processes)
      this.happenings.push(happening)
      this.states.push(state)
      this.broken.push(...broken)
    }
    return this
  }

  input(...facts: NewFact[]): this {
    return this.happens({ kind: 'commit', by: 'X', epoch: null, facts: this.#placed(facts) })
  }

  /** A commit of the holder, or of whoever thinks that it is. */
  drives(facts: readonly NewFact[], by = 'A', epoch = 1): this {
    return this.happens({ kind: 'commit', by, epoch, facts: this.#placed(facts) })
  }

  takes(by: string, epoch: number, now: number): this {
    return this.happens({ kind: 'acquired', by, epoch, now, until: now + 10_000 })
  }

  /** A dies, and B takes the session up under the epoch 2. */
  crashes(): this {
    this.processes.dead.add('A')
    return this.takes('B', 2, 1)
  }

  /** A prompt that opened its turn in one commit, and is being answered. */
  prompted(): this {
    return this.drives([receipt('m1'), running(), opens('m1'), admitted('m1'), steps()])
  }

  #placed(facts: readonly NewFact[]): AnyFact[] {
    return facts.map((made, i) => placed('s', this.state.seq + 1 + i, made))
  }
}

export const answered = [says(), stepEnds(), ends(), idle()]
/** An answer that asks for calls, which run together. */
export const asks = (...ids: string[]) => [says('tool_calls', ids), ...ids.map((id) => call(id)), ...ids.map(start)]

export const begun = (limits?: { maxSteps: number }) => new Story(limits === undefined ? {} : { limits })
export const settling = () => new Story({ recovery: 'settle' })
export const asked = () => begun().prompted()
export const received = (...facts: NewFact[]) => begun().input(...facts)
export const crashed = () => asked().crashes()
export const cancelled = () => asked().input(cancel('turn', 't1'))
export const calling = (...ids: string[]) => asked().drives(asks(...ids))

/** Two resumes in a row, and the holder of the second is gone. */
export function exhausted(): Story {
  const story = crashed()
  story.drives([ends('interrupted'), resumes('t1', 't2'), steps('s2', 't2')], 'B', 2)
  story.processes.dead.add('B')
  story.takes('C', 3, 2).drives([ends('interrupted', 't2'), resumes('t2', 't3'), steps('s3', 't3')], 'C', 3)
  story.processes.dead.add('C')
  return story.takes('D', 4, 3)
}
