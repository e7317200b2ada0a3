// Owns the models and tools of one runtime under test: they answer when the schedule says so, and judge what they are asked.
import { noUsage } from '../log/facts.ts'
import type { Outcome } from '../models/model.ts'
import { type Asked, type Called, fails, type Runtime } from './agent-rig.fixture.ts'
import { historyOf, lineOf, type Observed } from './observed.fixture.ts'
import type { How } from './schedules.fixture.ts'

const usage = { inputTokens: 10, outputTokens: 2 }

export class Effects {
  readonly #name: string
  readonly #runtime: Runtime
  readonly #observed: Observed
  readonly #note: (what: () => string) => void
  /** Requests that record a retry: they are not answered meanwhile. */
  readonly #retrying = new Set<Asked>()

  constructor(name: string, runtime: Runtime, observed: Observed, note: (what: () => string) => void) {
    this.#name = name
    this.#runtime = runtime
    this.#observed = observed
    this.#note = note
  }

  /** Requests that can be answered now. */
  get asked(): Asked[] {
    return this.#runtime.asked.filter((asked) => !this.#retrying.has(asked))
  }

  get called(): Called[] {
    return [...this.#runtime.called]
  }

  /** A request holds what was committed before its step began, no more and no less (IN-8, TU-8). */
  judgeAsk(asked: Asked, gone: boolean): void {
    const { state, facts, asking } = this.#observed
    this.#note(() => `asks the model with ${asked.request.messages.length} messages`)
    if (gone) this.#observed.broke(`RE-4: ${this.#name} is gone and asks the model`)
    if (state.lease.holder !== this.#name) return
    const expected = historyOf(facts.slice(0, asking.get(this.#name) ?? 0)).join('\n')
    const got = asked.request.messages.map(lineOf).join('\n')
    if (got !== expected) this.#observed.broke(`IN-8, TU-8: ${this.#name} asks with\n${got}\ncommitted is\n${expected}`)
  }

  judgeCall(called: Called): void {
    const id = callIdOf(called)
    this.#note(() => `runs ${called.tool} for ${id}`)
    if (!this.#observed.started.has(id)) this.#observed.broke(`TU-3: ${id} runs before its tool/start is committed`)
  }

  /** What works on in a turn whose cancel was committed here (TU-8). */
  deaf(): string[] {
    const { state, happenings } = this.#observed
    const { turn, lease } = state
    if (turn === null || turn.cancelledBy === null || lease.holder !== this.#name || lease.epoch !== turn.epoch) return []
    const heard = happenings.some(
      (made) =>
        made.kind === 'commit' &&
        made.by === this.#name &&
        made.facts.some((fact) => fact.type === 'agent/cancel' && fact.data.turnId === turn.id),
    )
    const deaf = [...this.#runtime.asked.map(({ request }) => request), ...this.#runtime.called].filter(({ signal }) => !signal.aborted)
    return heard && deaf.length > 0 ? [`TU-8: ${this.#name} works on in ${turn.id}, which is cancelled`] : []
  }

  answer(asked: Asked, how: How): void {
    const { aborted } = asked.request.signal
    this.#note(() => `its model: ${aborted ? 'aborted' : how}`)
    if (aborted) asked.answer({ kind: 'aborted', content: [{ type: 'text', text: 'half' }], usage: noUsage })
    else if (how !== 'retry') asked.answer(outcomeOf(asked, how))
    else {
      const error = { code: 'model_overloaded', message: 'busy', retryable: true } as const
      this.#retrying.add(asked)
      asked.hooks.onRetry({ attempt: 1, delayMs: 500, error }).then(
        () => this.#retrying.delete(asked),
        () => asked.answer(fails('internal')),
      )
    }
  }

  finish(called: Called, how: 'ok' | 'error'): void {
    const id = callIdOf(called)
    const isError = how === 'error' || called.signal.aborted
    this.#note(() => `${called.tool} for ${id} ${isError ? 'fails' : 'ends well'}`)
    called.finish({ content: isError ? `${id} failed` : `result of ${id}`, isError })
  }
}

function callIdOf({ input }: Called): string {
  const { callId } = input as { callId: string }
  return callId
}

function outcomeOf(asked: Asked, how: Exclude<How, 'retry'>): Outcome {
  const uses = (...names: string[]) =>
    names.map((name) => {
      const callId = asked.hooks.newCallId()
      return { type: 'tool_use' as const, callId, name, input: { callId } }
    })
  const text = { type: 'text' as const, text: `text ${asked.request.messages.length}` }
  switch (how) {
    case 'text':
      return { kind: 'answer', content: [text], finish: 'stop', usage }
    case 'parallel':
      return { kind: 'answer', content: uses('work', 'more'), finish: 'tool_calls', usage }
    case 'serial':
      return { kind: 'answer', content: [text, ...uses('work', 'solo')], finish: 'tool_calls', usage }
    case 'unknown':
      return { kind: 'answer', content: uses('nosuch'), finish: 'tool_calls', usage }
    case 'cut':
      return { kind: 'answer', content: [text, ...uses('work')], finish: 'length', usage }
    case 'length':
      return { kind: 'answer', content: [text], finish: 'length', usage }
    case 'refused':
      return { kind: 'answer', content: [text], finish: 'content_filter', usage }
    case 'failure':
      return fails()
    case 'empty':
      return fails('model_empty')
  }
}
