// Owns the one history of a session under test: what its store did, judged by the reference model as it happens, in every runtime's sight.
import { isDeepStrictEqual } from 'node:util'
import type { AnyFact } from '@quiesce/schema'
import { placed } from '../log/facts.ts'
import type { SessionState } from '../log/session-state.ts'
import { Engine } from '../store/engine.ts'
import { MemoryRows } from '../store/memory/memory-rows.ts'
import type { Answer, Call, Operation, Reply } from '../store/operations.ts'
import { accept, type Happening, type Processes } from './reference-model.fixture.ts'
import { owesIdle, pendingOf, type State, unborn } from './reference-state.fixture.ts'

export const SESSION = 's'

export class Observed {
  readonly processes = { dead: new Set<string>(), stopping: new Set<string>() } satisfies Processes
  readonly facts: AnyFact[] = []
  /** `states[i]` is what `happenings[i]` led away from. */
  readonly states: State[] = [unborn]
  readonly happenings: Happening[] = []
  readonly broken: string[] = []
  readonly started = new Set<string>()
  /** The last `step/start` that each runtime committed. */
  readonly asking = new Map<string, number>()
  /** Who took which epoch. */
  readonly held = new Map<number, string>()
  readonly #rows = new MemoryRows()
  readonly #engine = new Engine(this.#rows)
  readonly #note: (by: string, what: () => string) => void

  constructor(note: (by: string, what: () => string) => void) {
    this.#note = note
  }

  get state(): State {
    return this.states.at(-1) ?? unborn
  }

  /** Lets the engine answer a runtime's call, and judges what it did. */
  perform(by: string, text: string): string {
    const reply = this.#engine.call(text)
    const call: Call = JSON.parse(text)
    if ('run' in call) {
      const answers: Reply = JSON.parse(reply)
      for (const [i, operation] of call.run.entries()) {
        const answer = answers[i]
        if (answer !== undefined) this.#observe(by, operation, answer)
      }
      this.broken.push(...this.#different())
    }
    return reply
  }

  /** The same call refused as by a store that fails: nothing of it is kept. */
  refuse(by: string, text: string): string {
    const call: Call = JSON.parse(text)
    this.#note(by, () => 'its store fails')
    const fault: Answer = { kind: 'fault', value: { code: 'storage_unavailable', message: 'the disk is full', details: {} } }
    return JSON.stringify('run' in call ? call.run.map(() => fault) : [fault])
  }

  #observe(by: string, operation: Operation, { kind, value }: Answer): void {
    if (kind === 'fault') this.broken.push(`the engine could not decide: ${value.message}`)
    if (operation.kind === 'commit' && kind === 'commit') {
      const { lease, facts } = operation.request
      if (value.ok) {
        const made = facts.map((fact, i) => placed(SESSION, value.first + i, fact))
        this.#happen({ kind: 'commit', by, epoch: lease?.epoch ?? null, facts: made })
      } else {
        this.#note(by, () => `store refuses ${typesOf(facts)}: ${value.refused === 'unmet' ? value.condition.kind : value.refused}`)
        if (value.refused === 'fenced' && lease !== undefined) this.#happen({ kind: 'fenced', by, epoch: lease.epoch })
      }
    }
    if (operation.kind === 'acquire' && kind === 'acquire' && value.ok) {
      const { now, ttlMs } = operation
      this.#happen({ kind: 'acquired', by, epoch: value.lease.epoch, now, until: now + ttlMs })
    }
    if (operation.kind === 'renew' && kind === 'renew')
      for (const [i, { epoch }] of operation.leases.entries())
        this.#happen({
          kind: value[i] === null ? 'lost' : 'renewed',
          by,
          epoch,
          now: operation.now,
          until: operation.now + operation.ttlMs,
        })
    if (operation.kind === 'release') this.#happen({ kind: 'released', by, epoch: operation.lease.epoch })
    if (operation.kind === 'delete' && kind === 'delete' && value) this.#happen({ kind: 'deleted', by })
  }

  #happen(happening: Happening): void {
    this.#note(happening.by, () =>
      happening.kind === 'commit'
        ? `store commits ${shown(happening.facts)}${happening.epoch === null ? '' : ` under ${happening.epoch}`}`
        : `store: ${JSON.stringify(happening)}`,
    )
    const { state, broken } = accept(this.state, happening, this.processes)
    this.states.push(state)
    this.happenings.push(happening)
    if (happening.kind === 'acquired') this.held.set(happening.epoch, happening.by)
    if (happening.kind === 'commit')
      for (const fact of happening.facts) {
        this.facts.push(fact)
        if (fact.type === 'step/start') this.asking.set(happening.by, fact.seq)
        if (fact.type === 'tool/start') this.started.add(fact.data.callId)
      }
    this.broken.push(...broken)
  }

  /** The runtime's own fold, as its store keeps it, agrees with the model. */
  #different(): string[] {
    const row = this.#rows.find(SESSION)
    const model = this.state
    if (row === null || row.deleted) return (row?.deleted ?? false) === model.deleted ? [] : ['DEL-1: the store and the model disagree']
    const [kept, expected] = [seenIn(this.#rows.state(row)), seenBy(model)]
    if (isDeepStrictEqual(kept, expected)) return []
    return [`fold: the store keeps ${JSON.stringify(kept)}, the model ${JSON.stringify(expected)}`]
  }

  /** What the store would answer to whoever reads it now. */
  read(): AnyFact[] {
    const row = this.#rows.find(SESSION)
    return row === null || row.deleted ? [] : this.#rows.factTexts(row, 0, row.seq).map((text): AnyFact => JSON.parse(text))
  }

  broke(...what: string[]): void {
    this.broken.push(...what)
  }
}

function seenIn(state: SessionState): unknown {
  const { seq, status, activityId, pending, turn, interrupted, resumes, lastIdle, owedAt, usage } = state
  return {
    seq,
    status,
    activityId,
    pending: pending.map(({ id, delivery }) => [id, delivery]),
    turn:
      turn === null
        ? null
        : [turn.turnId, turn.cancelledBy, turn.stepId, turn.steps, turn.calls.map(({ callId, started }) => [callId, started])],
    interrupted,
    resumes,
    lastIdle,
    owed: owedAt > lastIdle,
    tokens: usage.inputTokens + usage.outputTokens,
  }
}

function seenBy(state: State): unknown {
  const { seq, status, activityId, turn, interrupted, resumes, lastIdle, tokens } = state
  return {
    seq,
    status,
    activityId,
    pending: pendingOf(state).map(({ id, delivery }) => [id, delivery]),
    turn:
      turn === null
        ? null
        : [turn.id, turn.cancelledBy, turn.step?.id ?? null, turn.steps, turn.calls.map(({ id, started }) => [id, started])],
    interrupted: interrupted?.id ?? null,
    resumes,
    lastIdle,
    owed: owesIdle(state),
    tokens,
  }
}

const typesOf = (facts: readonly { type: string }[]): string => facts.map(({ type }) => type).join(', ')

function shown(facts: readonly AnyFact[]): string {
  return facts.map((fact) => `${fact.seq} ${fact.type}${detail(fact)}`).join(', ')
}

function detail(fact: AnyFact): string {
  switch (fact.type) {
    case 'inbox/receipt':
      return `(${fact.data.message.id} ${fact.data.message.delivery})`
    case 'inbox/admitted':
    case 'inbox/cancelled':
      return `(${fact.data.messageId})`
    case 'agent/status':
      return `(${fact.data.status})`
    case 'agent/cancel':
      return `(${fact.data.scope}, names ${fact.data.turnId ?? 'none'})`
    case 'turn/start':
      return `(${fact.data.turnId}, ${fact.data.trigger.kind})`
    case 'turn/end':
      return `(${fact.data.turnId}, ${fact.data.reason.kind})`
    case 'step/start':
    case 'step/end':
      return `(${fact.data.stepId})`
    case 'assistant/message':
      return `(${fact.data.finish}${fact.data.interrupted === true ? ', interrupted' : ''})`
    case 'tool/call':
    case 'tool/start':
      return `(${fact.data.callId})`
    case 'tool/result':
      return `(${fact.data.callId}${fact.data.isError ? `, ${fact.data.error?.code ?? 'error'}` : ''})`
    default:
      return ''
  }
}

/** The conversation that a log makes, one line per message of the model's request: what a request must hold, no more and no less. */
export function historyOf(facts: readonly AnyFact[]): string[] {
  const texts = new Map<string, string>()
  const lines: string[] = []
  let open: { calls: string[]; results: Map<string, string> } | null = null
  const close = () => {
    if (open !== null) lines.push(`tool ${open.calls.map((id) => `${id}=${open?.results.get(id)}`).join(' ')}`)
    open = null
  }
  for (const fact of facts) {
    if (fact.type === 'inbox/receipt') texts.set(fact.data.message.id, blocksText(fact.data.message.content))
    if (fact.type === 'inbox/admitted' || fact.type === 'step/start' || fact.type === 'turn/end') close()
    if (fact.type === 'inbox/admitted') lines.push(`user ${texts.get(fact.data.messageId)}`)
    if (fact.type === 'assistant/message') {
      lines.push(`assistant ${blocksText(fact.data.content)}`)
      const calls = fact.data.content.flatMap((block) => (block.type === 'tool_use' ? [block.callId] : []))
      if (calls.length > 0) open = { calls, results: new Map() }
    }
    if (fact.type === 'tool/result') (open as { results: Map<string, string> } | null)?.results.set(fact.data.callId, fact.data.content)
  }
  return lines
}

/** A message of a request in the same words. */
export function lineOf(message: { role: string; content: readonly { type: string }[] }): string {
  return `${message.role} ${blocksText(message.content as never)}`
}

function blocksText(content: Extract<AnyFact, { type: 'assistant/message' }>['data']['content']): string {
  return content
    .map((block) => {
      if (block.type === 'text') return block.text
      if (block.type === 'tool_use') return block.callId
      return block.type === 'tool_result' ? `${block.callId}=${block.content}` : block.type
    })
    .join(' ')
}
