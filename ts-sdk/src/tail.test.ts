import { describe, expect, it, vi } from 'vitest'
import { Log } from '../test/facts.ts'
import { FakeRuntime, Refusal } from '../test/fake-runtime.ts'
import { linked } from '../test/linked.ts'
import type { SessionEvent } from './collect.ts'
import { ProtocolError } from './errors.ts'

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

describe('events', () => {
  it('subscribes when it is iterated, wakes nobody, and lets go when its reader stops', async () => {
    const { runtime, session, fence } = await linked()
    const events = session.events({ after: 3 })
    await fence()
    expect(runtime.methods()).not.toContain('session/subscribe')
    const log = new Log(3)
    const seen: SessionEvent[] = []
    const reading = (async () => {
      for await (const event of events) if (seen.push(event) === 2) break
    })()
    const subscribed = await runtime.received('session/subscribe')
    expect(subscribed.params).toEqual({ sessionId: 's-1', after: 3, subscriptionId: expect.any(String) })
    runtime.facts(subscribed, [log.running(), log.idle(), log.running()])
    await reading
    expect(seen.map(({ seq, sessionId }) => [seq, sessionId])).toEqual([
      [4, 's-1'],
      [5, 's-1'],
    ])
    expect((await runtime.received('session/unsubscribe')).params).toEqual({ subscriptionId: subscribed.params.subscriptionId })
    await fence()
    expect(runtime.holds).toBe(0)
  })

  it('begins now, or with a message', async () => {
    const { runtime, session } = await linked()
    const now = session.events()[Symbol.asyncIterator]()
    void now.next()
    expect((await runtime.received('session/subscribe')).params).toMatchObject({ after: 'now' })
    const from = session.events({ from: { messageId: 'm-1' } })[Symbol.asyncIterator]()
    void from.next()
    expect((await runtime.received('session/subscribe')).params).toMatchObject({ from: { messageId: 'm-1' } })
  })

  it("counts its own session's facts alone: another's have numbers of their own", async () => {
    const { runtime, session } = await linked()
    const iterator = session.events({ after: 0 })[Symbol.asyncIterator]()
    const log = new Log()
    const [first, second] = [log.running(), log.idle()]
    const steps = [iterator.next(), iterator.next(), iterator.next(), iterator.next()]
    const subscribed = await runtime.received('session/subscribe')
    runtime.facts(subscribed, [first])
    runtime.facts(subscribed, [new Log(1).running(), new Log(70).running()], 's-2')
    runtime.facts(subscribed, [second])
    expect((await Promise.all(steps)).map(({ value }) => [value?.sessionId, value?.seq])).toEqual([
      ['s-1', 1],
      ['s-2', 2],
      ['s-2', 71],
      ['s-1', 2],
    ])
  })

  it('drops repeats, throws at a gap, and goes on behind it (SUB-1, SUB-4)', async () => {
    const { runtime, session } = await linked()
    const iterator = session.events({ after: 0 })[Symbol.asyncIterator]()
    const log = new Log()
    const facts = [log.running(), log.idle()]
    const [first, second] = facts
    log.seq += 1
    const fourth = log.running()
    const steps = [iterator.next(), iterator.next()]
    runtime.facts(await runtime.received('session/subscribe'), [...facts, ...facts, fourth])
    expect((await Promise.all(steps)).map(({ value }) => value?.seq)).toEqual([first?.seq, second?.seq])
    await expect(iterator.next()).rejects.toMatchObject({ name: 'ProtocolError', seq: 3 })
    const next = iterator.next()
    const again = await runtime.received('session/subscribe')
    expect(again.params.after).toBe(3)
    runtime.facts(again, [fourth])
    expect((await next).value?.seq).toBe(4)
  })

  it('throws at a malformed fact, lets go, and goes on behind it where it is asked to (FR-4)', async () => {
    const { runtime, session, fence } = await linked()
    const iterator = session.events({ after: 0 })[Symbol.asyncIterator]()
    const step = iterator.next()
    const log = new Log()
    const broken = { ...log.running(), data: {} }
    runtime.facts(await runtime.received('session/subscribe'), [broken, log.idle()])
    await expect(step).rejects.toThrow(ProtocolError)
    await expect(step).rejects.toMatchObject({ seq: 1, message: expect.stringContaining('data.status: required') })
    await fence()
    expect(runtime.holds).toBe(0)
    const next = iterator.next()
    expect((await runtime.received('session/subscribe')).params.after).toBe(1)
    await iterator.return?.()
    expect(await next).toEqual({ done: true, value: undefined })
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
  })

  it('fetches no more than 1,000 facts ahead of its reader, and loses none (SUB-2)', async () => {
    const log = new Log()
    const facts = Array.from({ length: 2500 }, () => log.running())
    const runtime = new FakeRuntime()
    runtime.on('session/subscribe', (params) => {
      runtime.facts({ id: 0, method: '', params }, facts.slice(Number(params.after)))
      return { subscriptionId: params.subscriptionId, status: 'running', seq: 2500, waitingOn: [] }
    })
    const { session, fence } = await linked(runtime)
    const cursors = () => runtime.requests.filter(({ method }) => method === 'session/subscribe').map(({ params }) => params.after)
    const iterator = session.events({ after: 0 })[Symbol.asyncIterator]()
    const seen = [(await iterator.next()).value?.seq]
    await fence()
    expect(cursors()).toEqual([0])
    expect(runtime.methods()).toContain('session/unsubscribe')
    while (seen.length < facts.length) seen.push((await iterator.next()).value?.seq)
    expect(seen).toEqual(facts.map(({ seq }) => seq))
    expect(cursors()).toEqual([0, 1001, 2002])
  })

  it('ends with the reason of its signal, while it waits and before it began', async () => {
    const { runtime, session, fence } = await linked()
    const stop = new AbortController()
    const waiting = all(session.events({ signal: stop.signal }))
    await runtime.received('session/subscribe')
    stop.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    await runtime.received('session/unsubscribe')
    await expect(all(session.events({ signal: AbortSignal.abort(new Error('early')) }))).rejects.toThrow('early')
    await fence()
    expect(runtime.methods().filter((method) => method === 'session/subscribe')).toHaveLength(1)
    expect(runtime.holds).toBe(0)
  })

  it('listens to its signal only while it is open', async () => {
    const { runtime, session } = await linked()
    const { signal } = new AbortController()
    const added = vi.spyOn(signal, 'addEventListener')
    const removed = vi.spyOn(signal, 'removeEventListener')
    const iterator = session.events({ after: 0, signal })[Symbol.asyncIterator]()
    expect(added).not.toHaveBeenCalled()
    const step = iterator.next()
    runtime.facts(await runtime.received('session/subscribe'), [new Log().running()])
    await step
    expect(added).toHaveBeenCalledTimes(1)
    await iterator.return?.()
    expect(removed.mock.calls).toEqual(added.mock.calls)
  })

  it('throws what the subscription is refused with, and what ends it', async () => {
    const { runtime, session } = await linked()
    const ended = all(session.events())
    const { subscriptionId } = (await runtime.received('session/subscribe')).params
    runtime.notify('session.closed', { subscriptionId, sessionId: 's-1', reason: 'deleted' })
    await expect(ended).rejects.toMatchObject({ name: 'SessionNotFoundError' })
    runtime.on('session/subscribe', () => {
      throw new Refusal('message_not_found')
    })
    await expect(all(session.events({ from: { messageId: 'm-9' } }))).rejects.toMatchObject({ name: 'MessageNotFoundError' })
  })
})
