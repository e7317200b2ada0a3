import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type FakeRuntime, Refusal, type Request, silence } from '../test/fake-runtime.ts'
import { linked, prompted, unsubscribed } from '../test/linked.ts'
import { ConnectionClosedError, RunAbortedError, RunTimeoutError } from './errors.ts'
import type { RunOptions } from './run.ts'
import { Session } from './session.ts'

describe('giving up (RUN-9)', () => {
  async function aborted(options: RunOptions, prepare: (given: Awaited<ReturnType<typeof prompted>>) => unknown = () => {}) {
    const giveUp = new AbortController()
    const given = await prompted({ ...options, signal: giveUp.signal })
    prepare(given)
    await given.fence()
    giveUp.abort(new Error('enough'))
    const error = await given.run.catch((thrown: unknown) => thrown)
    if (!(error instanceof RunAbortedError)) throw error
    return { ...given, error }
  }

  it('withdraws a message that was not admitted yet', async () => {
    const { runtime, error, messageId, subscribed } = await aborted({})
    expect(error).toMatchObject({ outcome: 'withdrawn', lastStatus: 'idle', lastEvent: null, cause: new Error('enough') })
    expect((await runtime.received('session/withdraw')).params).toEqual({ sessionId: 's-1', messageId })
    expect(runtime.methods()).not.toContain('session/cancel')
    expect(await unsubscribed(runtime)).toBe(subscribed.params.subscriptionId)
  })

  it('cancels the tree where it was admitted, and carries what there is', async () => {
    const { runtime, error, messageId } = await aborted({}, ({ runtime, subscribed, messageId, log }) => {
      runtime.on('session/withdraw', () => ({ withdrawn: false }))
      runtime.facts(subscribed, [log.receipt(messageId), log.running(), ...log.turnStart(messageId), ...log.turnEnd('Half.')])
    })
    expect(error).toMatchObject({ outcome: 'cancelled', lastStatus: 'running', lastEvent: { type: 'turn/end' } })
    expect(error.partial).toMatchObject({ messageId, finalResponse: 'Half.', events: { length: 8 }, waitingOn: [] })
    expect(error.message).toBe(`the run of message ${messageId} in session s-1 was aborted; its work was cancelled`)
    expect((await runtime.received('session/cancel')).params).toEqual({ sessionId: 's-1', scope: 'tree' })
  })

  it("detaches where another client's message lies in the interval, and cancels all the same with onBusy: reject", async () => {
    const shared = ({ runtime, subscribed, messageId, log }: Awaited<ReturnType<typeof prompted>>) => {
      runtime.on('session/withdraw', () => ({ withdrawn: false }))
      runtime.facts(subscribed, [log.receipt(messageId), log.receipt('m-other')])
    }
    const joined = await aborted({}, shared)
    expect(joined.error.outcome).toBe('detached')
    expect(joined.runtime.methods()).not.toContain('session/cancel')
    const exclusive = await aborted({ onBusy: 'reject' }, shared)
    expect(exclusive.error.outcome).toBe('cancelled')
  })

  it('leaves the work alone with onAbort: detach', async () => {
    const { runtime, error, fence } = await aborted({ onAbort: 'detach' })
    expect(error).toMatchObject({ outcome: 'detached', message: expect.stringContaining('its work goes on') })
    await fence()
    expect(runtime.methods()).not.toContain('session/withdraw')
  })

  it('says so where the runtime does not confirm it', async () => {
    const { error } = await aborted({}, ({ runtime }) =>
      runtime.on('session/withdraw', () => {
        throw new Refusal('storage_unavailable')
      }),
    )
    expect(error.outcome).toBe('unconfirmed')
  })

  it('is the verdict, whatever comes while it is under way', async () => {
    const giveUp = new AbortController()
    const { runtime, run, subscribed, messageId, log, fence } = await prompted({ signal: giveUp.signal })
    runtime.on('session/withdraw', () => silence)
    giveUp.abort()
    giveUp.abort()
    const withdraw = await runtime.received('session/withdraw')
    runtime.facts(subscribed, log.plain(messageId, 'Done after all.'))
    runtime.facts(subscribed, [{ broken: true }])
    await fence()
    runtime.answer(withdraw, { withdrawn: false })
    await expect(run).rejects.toMatchObject({ outcome: 'cancelled', partial: { finalResponse: 'Done after all.' } })
  })

  it('waits for the answer of a prompt that is under way', async () => {
    const { runtime, session } = await linked()
    runtime.on('session/prompt', () => silence)
    const giveUp = new AbortController()
    const run = session.run('hello', { signal: giveUp.signal })
    run.catch(() => {})
    const prompt = await runtime.received('session/prompt')
    giveUp.abort()
    await Promise.resolve()
    expect(runtime.methods()).not.toContain('session/withdraw')
    runtime.answer(prompt, { messageId: prompt.params.messageId })
    await expect(run).rejects.toMatchObject({ outcome: 'withdrawn' })
    expect(runtime.methods()).toContain('session/withdraw')
  })

  it('counts a prompt that is refused meanwhile as withdrawn, and a lost one as unconfirmed', async () => {
    for (const [end, outcome] of [
      [
        (runtime: FakeRuntime, { id }: Request) =>
          runtime.frame(JSON.stringify({ id, error: { code: -32000, message: 'no', data: { code: 'session_busy', retryable: true } } })),
        'withdrawn',
      ],
      [(runtime: FakeRuntime) => runtime.end(new ConnectionClosedError('gone')), 'unconfirmed'],
    ] as const) {
      const { runtime, session } = await linked()
      runtime.on('session/prompt', () => silence)
      const giveUp = new AbortController()
      const run = session.run('hello', { signal: giveUp.signal })
      run.catch(() => {})
      const prompt = await runtime.received('session/prompt')
      giveUp.abort()
      end(runtime, prompt)
      await expect(run).rejects.toMatchObject({ name: 'RunAbortedError', outcome })
    }
  })

  it('never sends a prompt that had not gone out', async () => {
    const { runtime, session, fence } = await linked()
    await expect(session.run('hello', { signal: AbortSignal.abort('before') })).rejects.toMatchObject({
      outcome: 'withdrawn',
      cause: 'before',
      lastStatus: null,
      partial: { events: [], finalMessage: null },
    })
    runtime.on('session/subscribe', () => silence)
    const giveUp = new AbortController()
    const run = session.run('hello', { signal: giveUp.signal })
    run.catch(() => {})
    const subscribed = await runtime.received('session/subscribe')
    giveUp.abort()
    await expect(run).rejects.toMatchObject({ outcome: 'withdrawn' })
    runtime.answer(subscribed, { subscriptionId: subscribed.params.subscriptionId, status: 'idle', seq: 0, waitingOn: [] })
    await fence()
    expect(runtime.methods()).not.toContain('session/prompt')
    expect(runtime.holds).toBe(0)
  })

  it('leaves no listener on the signal of a run that ended', async () => {
    const giveUp = new AbortController()
    const remove = vi.spyOn(giveUp.signal, 'removeEventListener')
    const { runtime, run, subscribed, messageId, log, fence } = await prompted({ signal: giveUp.signal })
    runtime.facts(subscribed, log.plain(messageId, 'Hi.'))
    await run
    giveUp.abort()
    await fence()
    expect(remove).toHaveBeenCalledTimes(1)
    expect(runtime.methods()).not.toContain('session/withdraw')
  })
})

describe('time limits (RUN-9)', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  it('has none by default', async () => {
    const { run, fence, runtime, subscribed, messageId, log } = await prompted()
    vi.advanceTimersByTime(86_400_000)
    await fence()
    runtime.facts(subscribed, log.plain(messageId, 'At last.'))
    expect((await run).finalResponse).toBe('At last.')
    await fence()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('leaves no timer behind a run that ended in time', async () => {
    const { runtime, run, fence, subscribed, messageId, log } = await prompted({ timeoutMs: 1000, inactivityTimeoutMs: 500 })
    runtime.facts(subscribed, log.plain(messageId, 'Hi.'))
    await run
    await fence()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('ends at timeoutMs in all, whatever is heard', async () => {
    const { runtime, run, fence, subscribed, messageId, log } = await prompted({ timeoutMs: 1000 })
    runtime.facts(subscribed, [log.receipt(messageId)])
    vi.advanceTimersByTime(900)
    runtime.facts(subscribed, [log.running()])
    await fence()
    vi.advanceTimersByTime(100)
    const error = await run.catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(RunTimeoutError)
    expect(error).toMatchObject({
      outcome: 'withdrawn',
      partial: { events: { length: 2 } },
      message: expect.stringContaining('exceeded timeoutMs (1000 ms)'),
    })
  })

  it('ends at inactivityTimeoutMs without a fact, which each fact puts off', async () => {
    const { runtime, run, fence, subscribed, messageId, log } = await prompted({ inactivityTimeoutMs: 1000, onAbort: 'detach' })
    for (const fact of [log.receipt(messageId), log.running()]) {
      vi.advanceTimersByTime(999)
      runtime.facts(subscribed, [fact])
      await fence()
    }
    vi.advanceTimersByTime(999)
    await fence()
    vi.advanceTimersByTime(1)
    await expect(run).rejects.toMatchObject({
      name: 'RunTimeoutError',
      outcome: 'detached',
      partial: { events: { length: 2 } },
      message: expect.stringContaining('inactivityTimeoutMs'),
    })
  })

  it('counts the start of the runtime in', async () => {
    const session = new Session('s-1', () => new Promise(() => {}))
    const run = expect(session.run('hello', { timeoutMs: 100 })).rejects.toMatchObject({ name: 'RunTimeoutError', outcome: 'withdrawn' })
    const collect = expect(session.collect('m-1', { timeoutMs: 100, onAbort: 'cancel' })).rejects.toMatchObject({ outcome: 'unconfirmed' })
    vi.advanceTimersByTime(100)
    await run
    await collect
  })

  it('does not wait for ever for the answer to its giving up', async () => {
    const { runtime, run, fence } = await prompted({ timeoutMs: 10 })
    runtime.on('session/withdraw', () => silence)
    vi.advanceTimersByTime(10)
    await runtime.received('session/withdraw')
    vi.advanceTimersByTime(5000)
    await expect(run).rejects.toMatchObject({ name: 'RunTimeoutError', outcome: 'unconfirmed' })
    await fence()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('does not wait for ever for the answer to its prompt either', async () => {
    const { runtime, session } = await linked()
    runtime.on('session/prompt', () => silence)
    const run = expect(session.run('hello', { timeoutMs: 10 })).rejects.toMatchObject({ name: 'RunTimeoutError', outcome: 'unconfirmed' })
    await runtime.received('session/prompt')
    await vi.advanceTimersByTimeAsync(5010)
    await run
  })

  it.each([0, -1, Number.NaN, Infinity, 2 ** 31])('refuses a limit of %s', async (ms) => {
    const { runtime, session } = await linked()
    await expect(session.run('hello', { timeoutMs: ms })).rejects.toThrow(RangeError)
    await expect(session.collect('m', { inactivityTimeoutMs: ms })).rejects.toThrow('inactivityTimeoutMs must be more than 0')
    expect(() => session.stream('hello', { timeoutMs: ms })).toThrow(RangeError)
    expect(runtime.methods()).toEqual(['initialize'])
  })
})
