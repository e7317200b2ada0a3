// Owns the one door to a session's log: every fact goes in through `commit` and comes out to whoever follows, in order.
import type { AnyFact, SessionConfigOf } from '@quiesce/schema'
import { failpoint } from '../base/failpoint.ts'
import type { CommitRequest, CommitResult, Store, StoredSession } from '../store/store.ts'
import { placed } from './facts.ts'
import { applyConfig, applyFact, type SessionState } from './session-state.ts'
import { fitting, sizeOf } from './size.ts'

/** A piece of an answer on its way; never a fact (TU-4). */
export interface Delta {
  turnId: string
  stepId: string
  kind: 'text' | 'reasoning' | 'tool_input'
  index: number
  text: string
}

export type ClosedReason = 'deleted' | 'fenced' | 'storage' | 'shutdown'

/** Somebody who follows one session. Every method is called synchronously and must not throw. */
export interface Follower {
  /** Facts were committed; `session.state` includes them. */
  facts(facts: readonly AnyFact[]): void
  delta?(delta: Delta): void
  /** The session can't go on in this runtime (SUB-5). */
  closed?(reason: ClosedReason, error: Error | null): void
}

/** Recent facts kept of a session: at least this many and at most twice that, while their texts are no longer than this. */
const RING = 512
const RING_CHARS = 16 * 1024 * 1024
const PAGE = 500

/** A session that this runtime follows: its state as of the last fact seen, and its recent facts. */
export class FollowedSession {
  readonly sessionId: string
  config: SessionConfigOf
  state: SessionState
  /** The last facts, without a gap, up to `state.seq`. */
  readonly recent: AnyFact[] = []
  /** Their sizes, one by one and in all. */
  readonly sizes: number[] = []
  #chars = 0
  readonly followers = new Set<Follower>()

  constructor(stored: StoredSession) {
    this.sessionId = stored.sessionId
    this.config = stored.config
    this.state = stored.state
  }

  /** Folds what is new of these facts and tells the followers; false, and nothing, where a fact before them is missing. */
  absorb(facts: readonly AnyFact[]): boolean {
    const fresh = facts.filter((fact) => fact.seq > this.state.seq)
    if (fresh[0] === undefined) return true
    if (fresh[0].seq !== this.state.seq + 1) return false
    for (const fact of fresh) {
      this.state = applyFact(this.state, fact)
      this.config = applyConfig(this.config, fact) ?? this.config
      const size = sizeOf(fact.data)
      this.recent.push(fact)
      this.sizes.push(size)
      this.#chars += size
    }
    if (this.recent.length > RING * 2) this.#forget(this.recent.length - RING)
    while (this.#chars > RING_CHARS && this.recent.length > 1) this.#forget(Math.ceil(this.recent.length / 2))
    for (const follower of [...this.followers]) follower.facts(fresh)
    return true
  }

  #forget(count: number): void {
    this.recent.splice(0, count)
    for (const size of this.sizes.splice(0, count)) this.#chars -= size
  }

  delta(delta: Delta): void {
    for (const follower of [...this.followers]) follower.delta?.(delta)
  }
}

export class EventLog {
  readonly #store: Store
  readonly #followed = new Map<string, FollowedSession>()
  readonly #opening = new Map<string, Promise<FollowedSession | null>>()
  /** Called when a session begins to be followed here. */
  onFollow: (sessionId: string) => void = () => undefined

  constructor(store: Store) {
    this.#store = store
  }

  /**
   * Commits; followers have seen the facts before this answers, but where what came before them can't be read.
   * *Contract:* rejects with Refusal `storage_unavailable`; then nothing was kept. Answers in the order of the calls.
   */
  async commit(request: CommitRequest): Promise<CommitResult> {
    const seen = this.#followed.get(request.sessionId)?.state.seq
    failpoint('commit.before', () => typesOf(request))
    const result = await this.#store.commit(seen === undefined ? request : { ...request, seen })
    failpoint('commit.after', () => typesOf(request))
    const session = this.#followed.get(request.sessionId)
    if (session === undefined) return result
    const own = result.ok ? request.facts.map((made, i) => placed(session.sessionId, result.first + i, made)) : []
    const foreign = result.ok || result.refused === 'unmet' ? result.foreign : []
    if (session.absorb([...foreign, ...own])) return result
    // It began to be followed while the commit was under way: what another runtime put in between has to be read.
    await this.refresh(request.sessionId).catch((error: Error) => {
      // What is committed is committed, and so it is answered: who follows is behind until the next reading.
      if (!result.ok) throw error
    })
    return result
  }

  /**
   * Follows a session until the returned function is called; null where there is none.
   * *Contract:* rejects as the store does.
   */
  async follow(sessionId: string, follower: Follower): Promise<{ session: FollowedSession; leave: () => void } | null> {
    const session = this.#followed.get(sessionId) ?? (await this.#open(sessionId))
    if (session === null) return null
    session.followers.add(follower)
    return { session, leave: () => this.#leave(session, follower) }
  }

  /** The followed session, where somebody follows it. */
  followed(sessionId: string): FollowedSession | undefined {
    return this.#followed.get(sessionId)
  }

  followedIds(): string[] {
    return [...this.#followed.keys()]
  }

  /** The session as this runtime knows it now, followed or not; null where there is none. */
  async peek(sessionId: string): Promise<StoredSession | null> {
    return this.#followed.get(sessionId) ?? (await this.#store.load(sessionId))
  }

  /** At most `limit` facts behind `after`: from memory where they are recent. *Contract:* rejects as the store does. */
  async read(sessionId: string, after: number, limit: number): Promise<readonly AnyFact[]> {
    const recent = this.recent(sessionId, after, limit)
    if (recent !== null) return recent
    const facts = await this.#store.read(sessionId, after, limit)
    // Of what another runtime committed meanwhile nobody here is told before the session's own state has it.
    this.#followed.get(sessionId)?.absorb(facts)
    return facts
  }

  /** The same from memory only; null where the store has to be asked. */
  recent(sessionId: string, after: number, limit: number): readonly AnyFact[] | null {
    const session = this.#followed.get(sessionId)
    if (session === undefined) return null
    if (after >= session.state.seq) return []
    const first = session.recent[0]
    if (first === undefined || after + 1 < first.seq) return null
    const from = after + 1 - first.seq
    return session.recent.slice(from, from + fitting(session.sizes, from, limit))
  }

  /** Reads what other runtimes committed behind the last fact seen. *Contract:* rejects as the store does. */
  async refresh(sessionId: string): Promise<void> {
    for (;;) {
      const session = this.#followed.get(sessionId)
      if (session === undefined) return
      const facts = await this.#store.read(sessionId, session.state.seq, PAGE)
      if (facts.length === 0) return
      session.absorb(facts)
    }
  }

  /** Ends the following of a session for everybody (SUB-5). */
  close(sessionId: string, reason: ClosedReason, error: Error | null): void {
    const session = this.#followed.get(sessionId)
    if (session === undefined) return
    this.#followed.delete(sessionId)
    for (const follower of [...session.followers]) follower.closed?.(reason, error)
    session.followers.clear()
  }

  closeAll(reason: ClosedReason): void {
    for (const sessionId of [...this.#followed.keys()]) this.close(sessionId, reason, null)
  }

  #open(sessionId: string): Promise<FollowedSession | null> {
    const opening = this.#opening.get(sessionId)
    if (opening !== undefined) return opening
    const started = this.#store
      .load(sessionId)
      .then((stored) => {
        if (stored === null) return null
        const session = new FollowedSession(stored)
        this.#followed.set(sessionId, session)
        this.onFollow(sessionId)
        return session
      })
      .finally(() => this.#opening.delete(sessionId))
    this.#opening.set(sessionId, started)
    return started
  }

  #leave(session: FollowedSession, follower: Follower): void {
    session.followers.delete(follower)
    if (session.followers.size === 0 && this.#followed.get(session.sessionId) === session) this.#followed.delete(session.sessionId)
  }
}

const typesOf = ({ facts }: CommitRequest): string => facts.map(({ type }) => type).join('+')
