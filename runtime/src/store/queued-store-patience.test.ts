import { describe, expect, it } from 'vitest'
import { ManualClock } from '../base/clock.ts'
import { type Deferred, deferred } from '../base/deferred.ts'
import { fact } from '../log/facts.ts'
import type { Home } from './home.ts'
import type { Answer, Call, Operation } from './operations.ts'
import { QueuedStore } from './queued-store.ts'
import { defaultPatience } from './queued-store-batches.ts'
import { created, receipt } from './store.fixture.ts'

const { lockMs, releaseMs, pauseMs, tellMs } = defaultPatience
const data = { code: 'storage_unavailable', message: 'the store p failed: locked', details: { path: 'p' } } as const
const locked: Answer = { kind: 'fault', value: { ...data, retry: 'later' } }
const done: Answer = { kind: 'delete', value: true }

/** A store whose every call waits until the test answers it, on a clock that the test moves. */
class Rig implements Home {
  readonly clock = new ManualClock()
  readonly store: QueuedStore
  readonly told: string[] = []
  readonly #calls: { call: Call; answered: Deferred<string> }[] = []
  #arrived = deferred()

  constructor(maxChars = defaultPatience.maxChars) {
    this.store = new QueuedStore(this, { clock: this.clock, maxChars })
    this.store.onLocked = (message) => this.told.push(message)
  }

  call(text: string): Promise<string> {
    const answered = deferred<string>()
    this.#calls.push({ call: JSON.parse(text), answered })
    this.#arrived.resolve()
    this.#arrived = deferred()
    return answered.promise
  }

  async close(): Promise<void> {}

  get calls(): number {
    return this.#calls.length
  }

  /** The sessions that the nth call is about, once it has come. */
  async sessions(n: number): Promise<string[]> {
    while (this.#calls.length <= n) await this.#arrived.promise
    const call = this.#calls[n]?.call
    return call !== undefined && 'run' in call ? call.run.map(sessionOf) : ['asked']
  }

  /** Answers the nth call, once it has come: all of it alike, or each of it as it is said. */
  async answer(n: number, ...answers: Answer[]): Promise<void> {
    const { length } = await this.sessions(n)
    const all = answers.length === 1 ? Array.from({ length }, () => answers[0]) : answers
    this.#calls[n]?.answered.resolve(JSON.stringify(all))
  }

  /** Once the store waits for its next attempt, lets so much time pass. */
  async pass(ms: number): Promise<void> {
    while (this.clock.waiting === 0) await new Promise(setImmediate)
    this.clock.advance(ms)
  }
}

function sessionOf(operation: Operation): string {
  if (operation.kind === 'commit') return operation.request.sessionId
  return 'sessionId' in operation ? operation.sessionId : operation.kind
}

describe('a store whose lock another process has (RE-6)', () => {
  it('is tried again: nothing loses its place, and what comes meanwhile rides along', async () => {
    const rig = new Rig()
    const order: string[] = []
    const push = (id: string) => rig.store.delete(id).then(() => order.push(id))
    const all = [push('a'), push('b')]
    await rig.answer(0, locked)
    all.push(push('c'))
    await rig.pass(pauseMs)
    expect(await rig.sessions(1)).toEqual(['a', 'b', 'c'])
    await rig.answer(1, done, locked, locked)
    await all[0]
    all.push(push('d'))
    await rig.pass(pauseMs)
    expect(await rig.sessions(2)).toEqual(['b', 'c', 'd'])
    await rig.answer(2, done)
    await Promise.all(all)
    expect(order).toEqual(['a', 'b', 'c', 'd'])
  })

  it('refuses what waited too long, each after its own time, with what the store says', async () => {
    const rig = new Rig()
    const early = rig.store.delete('early')
    await rig.answer(0, locked)
    await rig.pass(lockMs - 1)
    const late = rig.store.delete('late')
    await rig.answer(1, locked)
    await rig.pass(pauseMs)
    expect(await rig.sessions(2)).toEqual(['early', 'late'])
    await rig.answer(2, locked)
    await expect(early).rejects.toMatchObject({ name: 'Refusal', ...data })
    await rig.pass(pauseMs)
    expect(await rig.sessions(3)).toEqual(['late'])
    await rig.answer(3, done)
    expect(await late).toBe(true)
  })

  it('holds up an end only for a moment: a lease ends by itself', async () => {
    const rig = new Rig()
    const releasing = rig.store.release({ sessionId: 's', epoch: 1 })
    await rig.answer(0, locked)
    await rig.pass(releaseMs)
    await rig.answer(1, locked)
    await expect(releasing).rejects.toMatchObject(data)
  })

  it('says so once where it takes long, and again when it happens again', async () => {
    const rig = new Rig()
    const first = rig.store.delete('a')
    await rig.answer(0, locked)
    await rig.pass(tellMs - 1)
    await rig.answer(1, locked)
    expect(rig.told).toEqual([])
    for (const n of [2, 3]) {
      await rig.pass(pauseMs)
      await rig.answer(n, locked)
    }
    await rig.pass(pauseMs)
    await rig.answer(4, done)
    await first
    const had = 'another process has had the lock of the store p for 2 s, and it is waited for, up to 45 s in all'
    expect(rig.told).toEqual([`${had}: end the backup or the database tool that has it open`])
    const second = rig.store.delete('b')
    await rig.answer(5, locked)
    await rig.pass(tellMs)
    await rig.answer(6, locked)
    await rig.pass(pauseMs)
    await rig.answer(7, done)
    await second
    expect(rig.told).toHaveLength(2)
  })

  it('is waited for by what reads, too, and as long; a check says at once what it met', async () => {
    const rig = new Rig()
    const reading = rig.store.receiptSeq('s', 'm')
    await rig.answer(0, locked)
    await rig.pass(pauseMs)
    await rig.answer(1, { kind: 'receipt', value: 7 })
    expect(await reading).toBe(7)
    const refused = rig.store.receiptSeq('s', 'm')
    await rig.answer(2, locked)
    await rig.pass(lockMs)
    await rig.answer(3, locked)
    await expect(refused).rejects.toMatchObject(data)
    const checking = rig.store.check()
    await rig.answer(4, locked)
    await expect(checking).rejects.toMatchObject(data)
    expect(rig.clock.waiting).toBe(0)
  })

  it('is closed once what waited for it is through', async () => {
    const rig = new Rig()
    const writing = rig.store.delete('a')
    await rig.answer(0, locked)
    const closing = rig.store.close()
    await rig.pass(pauseMs)
    await rig.answer(1, done)
    expect(await writing).toBe(true)
    await closing
    await expect(rig.store.delete('b')).rejects.toMatchObject({ message: 'the store is closed: the runtime is shutting down' })
  })
})

describe('a store that is slow', () => {
  it('takes no more from clients than it can keep in memory, and from agents all', async () => {
    const rig = new Rig(1000)
    const large = receipt('large', 'followup', 'x'.repeat(2000))
    const first = rig.store.commit({ sessionId: 'a', facts: [large] })
    const overloaded = {
      code: 'overloaded',
      retryable: true,
      message: expect.stringMatching(/^\d{4} characters wait to be written.*at most 1000/),
    }
    await expect(rig.store.commit({ sessionId: 'b', facts: [receipt('m')] })).rejects.toMatchObject(overloaded)
    await expect(rig.store.commit(created('c'))).rejects.toMatchObject(overloaded)
    const change = fact('session/update', 1, { change: {} })
    await expect(rig.store.commit({ sessionId: 'd', facts: [change] })).rejects.toMatchObject(overloaded)
    const idle = fact('agent/status', 1, { status: 'idle', activityId: 'a' })
    const second = rig.store.commit({ sessionId: 'e', facts: [idle] })
    const content = [{ type: 'text' as const, text: 'it settled' }]
    const notice = fact('inbox/receipt', 1, {
      message: { id: 'n', delivery: 'steer', origin: { kind: 'settlement', sessionId: 'e' }, content },
    })
    const third = rig.store.commit({ sessionId: 'f', facts: [notice] })
    expect(await rig.sessions(0)).toEqual(['a', 'e', 'f'])
    const committed: Answer = { kind: 'commit', value: { ok: true, first: 1, last: 1, foreign: [] } }
    await rig.answer(0, committed)
    await Promise.all([first, second, third])
    const after = rig.store.commit({ sessionId: 'b', facts: [receipt('m')] })
    await rig.answer(1, committed)
    expect(await after).toMatchObject({ ok: true })
  })

  it('counts what waits for a lock as well', async () => {
    const rig = new Rig(1000)
    const first = rig.store.commit({ sessionId: 'a', facts: [receipt('m', 'followup', 'x'.repeat(2000))] })
    await rig.answer(0, locked)
    await rig.pass(pauseMs)
    await expect(rig.store.commit({ sessionId: 'b', facts: [receipt('m')] })).rejects.toMatchObject({ code: 'overloaded' })
    await rig.answer(1, { kind: 'commit', value: { ok: true, first: 1, last: 1, foreign: [] } })
    await first
    expect(rig.calls).toBe(2)
  })
})
