// Owns the store as callers see it: queues what writes so that a burst rides one transaction, and turns faults into refusals.
import { setImmediate as endOfTick } from 'node:timers/promises'
import type { AnyFact } from '@quiesce/schema'
import type { Clock } from '../base/clock.ts'
import { type Deferred, deferred } from '../base/deferred.ts'
import { Refusal } from '../log/refusal.ts'
import { type FaultData, StoreFault } from './fault.ts'
import type { Home } from './home.ts'
import { blindWatch, loopKeeper } from './lease-keeper.ts'
import type { Answer, AnswerOf, Operation, Query, Reply, StoreStats, Values } from './operations.ts'
import type { AcquireResult, CommitRequest, CommitResult, Lease, ListQuery, Owner, Store, StoredSession } from './store.ts'
import type { Keeper, KeeperEvents, Watch } from './upkeep.ts'

interface Waiting {
  /** The operation as JSON: what the caller changes afterwards doesn't count. */
  text: string
  answered: Deferred<Answer>
}

export class QueuedStore implements Store {
  readonly #home: Home
  #queue: Waiting[] = []
  #draining = false
  #drained = Promise.resolve()
  #closed: Promise<void> | null = null

  constructor(home: Home) {
    this.#home = home
  }

  async commit(request: CommitRequest): Promise<CommitResult> {
    return valueAs('commit', await this.#run({ kind: 'commit', request }))
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
    return valueAs('read', await this.#ask({ kind: 'read', sessionId, after, limit }))
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

  close(): Promise<void> {
    this.#closed ??= this.#drained.then(() => this.#home.close())
    return this.#closed
  }

  #run(operation: Operation): Promise<Answer> {
    this.#refuseIfClosed()
    const answered = deferred<Answer>()
    this.#queue.push({ text: JSON.stringify(operation), answered })
    if (!this.#draining) this.#drained = this.#drain()
    return answered.promise
  }

  async #ask(query: Query): Promise<Answer> {
    this.#refuseIfClosed()
    const [answer] = await this.#call(JSON.stringify({ ask: query }))
    if (answer === undefined) throw new Error(`the engine left the query ${query.kind} without an answer`)
    return answer
  }

  /** Flushes until nothing waits. What is queued before the end of a tick, or while a flush is under way, rides together. */
  async #drain(): Promise<void> {
    this.#draining = true
    while (this.#queue.length > 0) {
      await endOfTick()
      await this.#flush(this.#queue.splice(0))
    }
    this.#draining = false
  }

  async #flush(batch: readonly Waiting[]): Promise<void> {
    try {
      const reply = await this.#call(`{"run":[${batch.map((waiting) => waiting.text).join(',')}]}`)
      for (const [i, waiting] of batch.entries()) {
        const answer = reply[i]
        if (answer === undefined) throw new Error(`the engine answered ${reply.length} of ${batch.length} operations`)
        waiting.answered.resolve(answer)
      }
    } catch (error) {
      for (const waiting of batch) waiting.answered.reject(error)
    }
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
