import { describe, expect, it } from 'vitest'
import { type Deferred, deferred } from '../base/deferred.ts'
import { StoreFault } from './fault.ts'
import type { Home } from './home.ts'
import type { Call } from './operations.ts'
import { QueuedStore } from './queued-store.ts'

/** A home that answers when the test says so, every operation with true. */
class GatedHome implements Home {
  readonly calls: { call: Call; answered: Deferred<string> }[] = []
  closed = 0
  #arrived = deferred()

  call(text: string): Promise<string> {
    const answered = deferred<string>()
    this.calls.push({ call: JSON.parse(text), answered })
    this.#arrived.resolve()
    this.#arrived = deferred()
    return answered.promise
  }

  async close(): Promise<void> {
    this.closed += 1
  }

  /** Resolves at the nth call. */
  async reached(n: number): Promise<void> {
    while (this.calls.length < n) await this.#arrived.promise
  }

  sizes(): number[] {
    return this.calls.map(({ call }) => ('run' in call ? call.run.length : 0))
  }

  answer(n: number): void {
    const at = this.calls[n]
    const size = this.sizes()[n] ?? 0
    at?.answered.resolve(JSON.stringify(Array.from({ length: size }, () => ({ kind: 'delete', value: true }))))
  }
}

describe('the queue of a store', () => {
  it('lets the whole burst of a tick ride together, and what comes during a flush ride the next', async () => {
    const home = new GatedHome()
    const store = new QueuedStore(home)
    const first = [store.delete('a'), store.delete('b')]
    expect(home.sizes()).toEqual([])
    await Promise.resolve()
    first.push(store.delete('c'))
    await home.reached(1)
    const second = [store.delete('d'), store.delete('e'), store.delete('f'), store.delete('g')]
    expect(home.sizes()).toEqual([3])
    home.answer(0)
    expect(await Promise.all(first)).toEqual([true, true, true])
    await home.reached(2)
    expect(home.sizes()).toEqual([3, 4])
    home.answer(1)
    await Promise.all(second)
  })

  it('reads without waiting for what is queued', async () => {
    const home = new GatedHome()
    const store = new QueuedStore(home)
    const writing = store.delete('a')
    const reading = store.receiptSeq('s', 'm')
    expect(home.calls.map(({ call }) => call)).toEqual([{ ask: { kind: 'receipt', sessionId: 's', messageId: 'm' } }])
    home.calls[0]?.answered.resolve('[{"kind":"receipt","value":7}]')
    expect(await reading).toBe(7)
    await home.reached(2)
    home.answer(1)
    await writing
  })

  it('refuses a batch whose home is gone, and each later one', async () => {
    const home = new GatedHome()
    const store = new QueuedStore(home)
    const lost = [store.delete('a'), store.delete('b')]
    await home.reached(1)
    const gone = new StoreFault('storage_unavailable', 'gone', { path: 'p' })
    home.calls[0]?.answered.reject(gone)
    for (const each of lost)
      await expect(each).rejects.toMatchObject({ name: 'Refusal', code: 'storage_unavailable', message: 'gone', details: { path: 'p' } })
    const later = store.delete('c')
    await home.reached(2)
    home.calls[1]?.answered.reject(gone)
    await expect(later).rejects.toMatchObject({ code: 'storage_unavailable' })
    const reading = store.load('s')
    home.calls[2]?.answered.reject(gone)
    await expect(reading).rejects.toMatchObject({ name: 'Refusal', code: 'storage_unavailable' })
  })

  it('rejects what can not be written as JSON for its caller alone', async () => {
    const home = new GatedHome()
    const store = new QueuedStore(home)
    const circular: Record<string, unknown> = {}
    circular.self = circular
    const bad = store.commit({ sessionId: 's', facts: [{ type: 'session/update', time: 1, data: { change: { metadata: circular } } }] })
    const good = store.delete('a')
    await expect(bad).rejects.toThrow(/circular/i)
    await home.reached(1)
    expect(home.sizes()).toEqual([1])
    home.answer(0)
    expect(await good).toBe(true)
  })

  it('closes its home once, behind what is under way', async () => {
    const home = new GatedHome()
    const store = new QueuedStore(home)
    const writing = store.delete('a')
    await home.reached(1)
    const closing = [store.close(), store.close()]
    expect(home.closed).toBe(0)
    home.answer(0)
    await writing
    await Promise.all(closing)
    expect(home.closed).toBe(1)
  })
})
