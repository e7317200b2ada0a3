// Owns the store as callers see it: queues what writes so that a burst rides one transaction, and turns faults into refusals.
import type { AnyFact } from '@quiesce/schema'
import { type Clock, systemClock } from '../base/clock.ts'
import { Refusal } from '../log/refusal.ts'
import { areInPlace } from './fact-check.ts'
import { type FaultData, StoreFault } from './fault.ts'
import type { Home } from './home.ts'
import { blindWatch, loopKeeper } from './lease-keeper.ts'
import { type Answer, type AnswerOf, isLater, type Operation, type Query, type Reply, type StoreStats, type Values } from './operations.ts'
import { Batches, defaultPatience, type Patience } from './queued-store-batches.ts'
import type { AcquireResult, CommitRequest, CommitResult, Lease, ListQuery, Owner, Store, StoredSession } from './store.ts'
import type { Keeper, KeeperEvents, Watch } from './upkeep.ts'

/** A store at rest holds no process; one that waits for its lock does. */
const holdingClock: Patience['clock'] = {
  monotonic: systemClock.monotonic,
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
}

export class QueuedStore implements Store {
  readonly #home: Home
  readonly #patience: Patience
  readonly #batches: Batches
  #closed: Promise<void> | null = null
  /** Called where another process has held the store's lock for a while, and it is waited for: one line that says so. */
  onLocked: (message: string) => void = () => undefined

  constructor(home: Home, patience: Partial<Patience> = {}) {
    this.#home = home
    this.#patience = { clock: holdingClock, ...defaultPatience, ...patience }
    this.#batches = new Batches((batch) => this.#call(`{"run":${batch}}`), this.#patience)
    this.#batches.onLocked = ({ details }, waitedMs) => this.onLocked(lockedText(details.path, waitedMs, this.#patience.lockMs))
  }

  async commit(request: CommitRequest): Promise<CommitResult> {
    return valueAs('commit', await this.#run({ kind: 'commit', request }, !isFromClient(request)))
  }

  async acquire(sessionId: string, owner: Owner, at: { now: number; ttlMs: number; replacing?: number }): Promise<AcquireResult> {
    return valueAs('acquire', await this.#run({ kind: 'acquire', sessionId, owner, ...at }))
  }

  async renew(leases: readonly Lease[], at: { now: number; ttlMs: number }): Promise<(number | null)[]> {
    return valueAs('renew', await this.#run({ kind: 'renew', leases, ...at }))
  }

  async release(lease: Lease): Promise<void> {
    valueAs('release', await this.#run({ kind: 'release', lease }))
  }

  async delete(sessionId: string): Promise<boolean> {
    return valueAs('delete', await this.#run({ kind: 'delete', sessionId }))
  }

  async load(sessionId: string): Promise<StoredSession | null> {
    return valueAs('load', await this.#ask({ kind: 'load', sessionId }))
  }

  async list(query: ListQuery): Promise<{ sessions: StoredSession[]; nextCursor?: string }> {
    return valueAs('list', await this.#ask({ kind: 'list', query }))
  }

  async read(sessionId: string, after: number, limit: number): Promise<AnyFact[]> {
    const query: Query = { kind: 'read', sessionId, after, limit }
    try {
      const facts = valueAs('read', await this.#ask(query))
      if (areInPlace(facts, sessionId, after)) return facts
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
    }
    // One of them is damaged: read again up to that one, and told of it where it is the first.
    return valueAs('read', await this.#ask({ ...query, checked: true }))
  }

  async receiptSeq(sessionId: string, messageId: string): Promise<number | null> {
    return valueAs('receipt', await this.#ask({ kind: 'receipt', sessionId, messageId }))
  }

  async seqs(sessionIds: readonly string[]): Promise<(number | null)[]> {
    return valueAs('seqs', await this.#ask({ kind: 'seqs', sessionIds }))
  }

  /** Keeps leases, off the event loop where other processes share the store (RE-5). */
  keep(events: KeeperEvents, clock: Clock): Keeper {
    return this.#home.upkeep?.keep(events) ?? loopKeeper(this, clock, events)
  }

  /** Calls back soon after another process committed, where there can be one (RE-3). */
  watch(onChange: () => void): Watch {
    return this.#home.upkeep?.watch(onChange) ?? blindWatch(onChange)
  }

  /** Which driver is in use, and how many transactions were committed. *Contract:* rejects as commit. */
  async stats(): Promise<StoreStats> {
    return valueAs('stats', await this.#ask({ kind: 'stats' }))
  }

  /** What is wrong with the store, read whole and written to; empty where nothing is. *Contract:* rejects as commit, and waits for no lock. */
  async check(): Promise<string[]> {
    return valueAs('check', await this.#askOnce({ kind: 'check' }))
  }

  close(): Promise<void> {
    this.#closed ??= this.#batches.drained.then(() => this.#home.close())
    return this.#closed
  }

  async #run(operation: Operation, mayWait = true): Promise<Answer> {
    this.#refuseIfClosed()
    return this.#batches.push(operation, mayWait)
  }

  /** Waits for a lock as a commit does: while another process mends or closes the store, nothing can be read. */
  async #ask(query: Query): Promise<Answer> {
    const { clock, lockMs, pauseMs } = this.#patience
    const deadline = clock.monotonic() + lockMs
    for (;;) {
      const answer = await this.#askOnce(query)
      if (!isLater(answer) || clock.monotonic() >= deadline) return answer
      await new Promise<void>((resolve) => clock.after(pauseMs, resolve))
    }
  }

  async #askOnce(query: Query): Promise<Answer> {
    this.#refuseIfClosed()
    const [answer] = await this.#call(JSON.stringify({ ask: query }))
    if (answer === undefined) throw new Error(`the engine left the query ${query.kind} without an answer`)
    return answer
  }

  async #call(text: string): Promise<Reply> {
    try {
      const reply: Reply = JSON.parse(await this.#home.call(text))
      return reply
    } catch (error) {
      throw error instanceof StoreFault ? refusal(error.data) : error
    }
  }

  #refuseIfClosed(): void {
    if (this.#closed !== null) throw new Refusal('storage_unavailable', 'the store is closed: the runtime is shutting down')
  }
}

/** What clients bring may be much; what agents commit is little, and has to go on. */
function isFromClient({ facts }: CommitRequest): boolean {
  return facts.some(
    (made) =>
      made.type === 'session/create' ||
      made.type === 'session/update' ||
      (made.type === 'inbox/receipt' && made.data.message.origin.kind === 'user'),
  )
}

/** What is told while a lock is waited for. */
export function lockedText(path: unknown, waitedMs: number, limitMs: number): string {
  const had = `another process has had the lock of the store ${path} for ${Math.round(waitedMs / 1000)} s`
  return `${had}, and it is waited for, up to ${limitMs / 1000} s in all: end the backup or the database tool that has it open`
}

/** A fault as the caller sees it. */
export function refusal({ code, message, details }: FaultData): Refusal {
  return new Refusal(code, message, details)
}

function valueAs<K extends Exclude<keyof Values, 'fault'>>(kind: K, answer: Answer): Values[K] {
  if (isOf(kind, answer)) return answer.value
  if (answer.kind === 'fault') throw refusal(answer.value)
  throw new Error(`the engine answered ${answer.kind} where ${kind} was asked`)
}

function isOf<K extends keyof Values>(kind: K, answer: Answer): answer is Answer & AnswerOf<K> {
  return answer.kind === kind
}
