// Owns the contract of one session as an acceptor: each happening in its store is a legal step of the model, or names the rules that
// it breaks. For tests. Pure; decides on the model's own state alone.
import type { AnyFact } from '@quiesce/schema'
import { readDriven } from './reference-driver.fixture.ts'
import { type Draft, end, type Fact, reachOf, receive, type State, steersOf, wakingOf } from './reference-state.fixture.ts'

/** What the store did; `by` is the runtime that asked for it. */
export type Happening =
  /** `epoch` is null for an input. `acquired` is the lease that the commit took along. */
  | { kind: 'commit'; by: string; epoch: number | null; facts: readonly AnyFact[] }
  | { kind: 'fenced'; by: string; epoch: number }
  | { kind: 'acquired'; by: string; epoch: number; now: number; until: number }
  | { kind: 'renewed' | 'lost'; by: string; epoch: number; now: number; until: number }
  | { kind: 'released'; by: string; epoch: number }
  | { kind: 'deleted'; by: string }

export interface Processes {
  /** Known to be gone by everybody. */
  dead: ReadonlySet<string>
  /** Told to shut down. */
  stopping: ReadonlySet<string>
}

export interface Verdict {
  state: State
  /** Each begins with the rule's id. */
  broken: string[]
}

export function accept(state: State, happening: Happening, processes: Processes): Verdict {
  const draft: Draft = { ...state }
  const broken: string[] = []
  switch (happening.kind) {
    case 'commit':
      readCommit(draft, happening, processes, broken)
      break
    case 'fenced':
      if (holds(state, happening)) broken.push(`RE-4: ${happening.by} is fenced under the epoch ${happening.epoch}, which it holds`)
      break
    case 'acquired':
      readAcquired(draft, happening, processes, broken)
      break
    case 'renewed':
      if (!holds(state, happening)) broken.push(`RE-4: ${happening.by} renews the epoch ${happening.epoch}, which it does not hold`)
      draft.lease = { ...state.lease, until: happening.until, lapsed: state.lease.lapsed || state.lease.until <= happening.now }
      break
    case 'lost':
      if (holds(state, happening)) broken.push(`RE-5: ${happening.by} is told that it lost the epoch ${happening.epoch}, which it holds`)
      break
    case 'released':
      if (holds(state, happening)) draft.lease = { ...state.lease, holder: null, until: 0, lapsed: false }
      break
    case 'deleted':
      if (state.deleted) broken.push('DEL-1: deleted twice')
      draft.deleted = true
      draft.lease = { ...state.lease, holder: null, until: 0, lapsed: false }
  }
  return { state: draft, broken }
}

const holds = ({ lease, deleted }: State, { by, epoch }: { by: string; epoch: number }): boolean =>
  !deleted && lease.holder === by && lease.epoch === epoch

function readAcquired(draft: Draft, taken: Happening & { kind: 'acquired' }, { dead }: Processes, broken: string[]): void {
  const { holder, epoch, until } = draft.lease
  // One that was renewed only after it had run out may be taken all the same: who found it so may be on the way.
  const free = holder === null || until <= taken.now || draft.lease.lapsed || holder === taken.by || dead.has(holder)
  if (draft.deleted) broken.push(`DEL-1: ${taken.by} takes up a session that is deleted`)
  if (!free) broken.push(`RE-4: ${taken.by} takes the lease that ${holder} holds until ${until}, at ${taken.now}`)
  if (taken.epoch !== epoch + 1) broken.push(`RE-4: the epoch ${taken.epoch} follows ${epoch}`)
  draft.lease = { epoch: taken.epoch, holder: taken.by, until: taken.until, lapsed: false }
}

function readCommit(draft: Draft, commit: Happening & { kind: 'commit' }, processes: Processes, broken: string[]): void {
  const { by, epoch, facts } = commit
  if (draft.deleted) broken.push('DEL-1: a commit after the session was deleted')
  for (const [i, { seq }] of facts.entries()) if (seq !== draft.seq + 1 + i) broken.push(`IN-2: seq ${seq} follows ${draft.seq + i}`)
  if (epoch === null) readInput(draft, facts, broken)
  else {
    if (!holds(draft, { by, epoch }))
      broken.push(`RE-4: ${by} commits under the epoch ${epoch}; ${draft.lease.holder} holds ${draft.lease.epoch}`)
    readDriven({ draft, by, epoch, stopping: processes.stopping.has(by), facts, broken })
  }
  draft.seq += facts.length
  const { since, config } = draft
  const before = epoch === null ? since : { waking: false, steer: false, models: [] }
  draft.since = {
    waking: before.waking || wakingOf(draft).length > 0,
    steer: before.steer || steersOf(draft).length > 0,
    models: before.models.includes(config.model) ? before.models : [...before.models, config.model],
  }
}

/** RE-4: an input is one of a few things, and touches nothing else. */
function readInput(draft: Draft, facts: readonly AnyFact[], broken: string[]): void {
  const [first, ...others] = facts
  const last = facts.at(-1)
  if (first === undefined) return
  if (last?.type === 'agent/cancel') {
    readCancel(draft, facts, last, broken)
    return
  }
  if (others.length > 0) broken.push(`RE-4: ${facts.map(({ type }) => type).join(', ')} are committed without a lease`)
  switch (first.type) {
    case 'session/create': {
      const { recovery, limits, model, title } = first.data.config
      if (draft.exists) broken.push('DEL-1: the session is created twice')
      draft.exists = true
      const maxSteps = limits.perTurn?.maxSteps ?? limits.maxSteps ?? 200
      draft.config = { recovery: recovery ?? 'resume', maxSteps, model, title }
      return
    }
    case 'session/update': {
      const { model, title } = first.data.change
      draft.config = { ...draft.config, ...(model !== undefined && { model }), ...(title !== undefined && { title }) }
      return
    }
    case 'inbox/receipt':
      receive(draft, first, broken)
      return
    case 'inbox/cancelled':
      if (first.data.reason !== 'withdrawn') broken.push(`IN-8: ${first.data.messageId} is cancelled alone, by ${first.data.reason}`)
      end(draft, first.data.messageId, 'withdrawn', broken)
      return
    default:
      broken.push(`RE-4: ${first.type} is committed without a lease`)
  }
}

/** CAN-1, CAN-2: it names the open turn, withdraws all that is pending, and is never empty. */
function readCancel(draft: Draft, facts: readonly AnyFact[], cancel: Fact<'agent/cancel'>, broken: string[]): void {
  const { scope, turnId, by } = cancel.data
  const { turn, withdrawn } = reachOf(draft, scope, turnId)
  const gone = facts
    .slice(0, -1)
    .map((fact) => (fact.type === 'inbox/cancelled' && fact.data.reason === 'cancelled' ? fact.data.messageId : fact.type))
  if (gone.join() !== withdrawn.join())
    broken.push(`CAN-2: a cancel of the ${scope} withdraws ${gone.join() || 'nothing'}, pending: ${withdrawn.join() || 'nothing'}`)
  if (turnId !== undefined && turn === null) broken.push(`CAN-1: a cancel names ${turnId}, which is not open, or cancelled already`)
  if (turnId === undefined && gone.length === 0) broken.push('CAN-1: a cancel that reaches nothing is committed')
  for (const id of gone) end(draft, id, 'cancelled', broken)
  if (draft.turn !== null && draft.turn.id === turnId) draft.turn = { ...draft.turn, cancelledBy: by }
}
