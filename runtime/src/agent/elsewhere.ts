// Owns what other runtimes do on the same store: reads what they commit, and has taken up what they left while it is wanted here (RE-3).
import { Refusal } from '../log/refusal.ts'
import { isDue } from '../log/session-state.ts'
import type { Watch } from '../store/upkeep.ts'
import type { AgentPorts } from './ports.ts'

/** How often a session that another runtime drives is looked at, while somebody here waits on it. */
export const WATCH_MS = 1_000
/** How long after a session began to be followed here it is decided whether others' commits matter: most are taken up by then. */
const SETTLE_MS = 50

export interface ElsewhereCalls {
  isResident(sessionId: string): boolean
  takeUp(sessionId: string): Promise<unknown>
}

export class Elsewhere {
  readonly #ports: AgentPorts
  readonly #calls: ElsewhereCalls
  /** Held elsewhere when an input here wanted them driven. */
  readonly #wanted = new Set<string>()
  /** Wanted by collecting clients, as long as they follow: how many, by session. */
  readonly #collected = new Map<string, number>()
  #watch: Watch | null = null
  #cancelLook: (() => void) | null = null
  #cancelSettle: (() => void) | null = null
  /** One reading at a time; a hint meanwhile leads to one more. */
  #reading = false
  #again = false
  #work: Promise<void> = Promise.resolve()
  #stopped = false

  constructor(ports: AgentPorts, calls: ElsewhereCalls) {
    this.#ports = ports
    this.#calls = calls
    ports.log.onFollow = () => this.#followed()
  }

  want(sessionId: string): void {
    this.#wanted.add(sessionId)
    this.listen()
    this.#lookSoon()
  }

  collect(sessionId: string): () => void {
    this.#collected.set(sessionId, (this.#collected.get(sessionId) ?? 0) + 1)
    let over = false
    return () => {
      const left = (this.#collected.get(sessionId) ?? 1) - (over ? 0 : 1)
      over = true
      if (left > 0) this.#collected.set(sessionId, left)
      else this.#collected.delete(sessionId)
    }
  }

  tookUp(sessionId: string): void {
    this.#wanted.delete(sessionId)
  }

  /** Hears of commits from here on: not from the start, since most that is over at once shares nothing. What came before is read. */
  listen(): Watch {
    if (this.#watch === null) {
      this.#watch = this.#ports.watch(() => this.#read())
      this.#read()
    }
    return this.#watch
  }

  /** *Contract:* never rejects; nothing is read or taken up any more once this resolves. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancelLook?.()
    this.#cancelSettle?.()
    this.#watch?.stop()
    await this.#work
  }

  #elsewhere(): string[] {
    const known = new Set([...this.#ports.log.followedIds(), ...this.#wanted])
    return [...known].filter((sessionId) => !this.#calls.isResident(sessionId))
  }

  /** What was committed while it was being opened came with no hint that concerns it: it is read once more. */
  #followed(): void {
    this.#lookSoon()
    if (this.#stopped) return
    this.#cancelSettle ??= this.#ports.clock.after(SETTLE_MS, () => {
      this.#cancelSettle = null
      if (this.#elsewhere().length === 0) return
      this.listen()
      this.#read()
    })
  }

  #lookSoon(): void {
    if (this.#stopped) return
    this.#cancelLook ??= this.#ports.clock.after(WATCH_MS, () => {
      this.#cancelLook = null
      if (this.#elsewhere().length === 0) return
      this.#lookSoon()
      this.#do(() => this.#takeUp())
      this.listen().check()
    })
  }

  #read(): void {
    if (this.#stopped) return
    this.#again = true
    if (this.#reading) return
    this.#reading = true
    this.#do(
      async () => {
        while (this.#again && !this.#stopped) {
          this.#again = false
          await this.#catchUp()
        }
      },
      () => {
        this.#reading = false
      },
    )
  }

  #do(work: () => Promise<void>, end: () => void = () => undefined): void {
    const done = this.#work
      .then(work)
      .catch((error: unknown) => this.#ports.report('sessions that other runtimes wrote to could not be read', error))
      .finally(end)
    this.#work = done
  }

  /** Reads what came in since, of all that is followed here: a holder's inbox grows elsewhere, too. */
  async #catchUp(): Promise<void> {
    const { log, store } = this.#ports
    const followed = log.followedIds()
    const seqs = await store.seqs(followed)
    for (const [i, sessionId] of followed.entries()) {
      const seq = seqs[i] ?? null
      if (seq === null) this.#forget(sessionId)
      else if (seq > (log.followed(sessionId)?.state.seq ?? seq)) await log.refresh(sessionId)
    }
    await this.#takeUp()
  }

  async #takeUp(): Promise<void> {
    for (const sessionId of this.#elsewhere()) {
      if (!this.#wanted.has(sessionId) && !this.#collected.has(sessionId)) continue
      await this.#lookAt(sessionId)
      if (this.#stopped) return
    }
  }

  async #lookAt(sessionId: string): Promise<void> {
    const session = await this.#ports.log.peek(sessionId)
    if (this.#stopped) return
    if (session === null) this.#forget(sessionId)
    else if (!isDue(session.state)) {
      if (this.#ports.log.followed(sessionId) === undefined) this.#wanted.delete(sessionId)
    } else
      await this.#calls.takeUp(sessionId).catch((error: unknown) => {
        // Deleted in between. Any other session is looked at all the same.
        if (error instanceof Refusal && error.code === 'session_not_found') this.#forget(sessionId)
        else this.#ports.report(`session ${sessionId} could not be taken up`, error)
      })
  }

  #forget(sessionId: string): void {
    this.#wanted.delete(sessionId)
    this.#ports.log.close(sessionId, 'deleted', null)
  }
}
