import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Log } from '../test/facts.ts'
import { FakeRuntime, Refusal, type Request, silence } from '../test/fake-runtime.ts'
import { Connection } from './connection.ts'
import { ConnectionClosedError, ProtocolError, RunAbortedError, RunTimeoutError } from './errors.ts'
import type { CollectOptions, RunOptions } from './run.ts'
import { Session } from './session.ts'

interface Started {
  runtime: FakeRuntime
  session: Session
  fence(): Promise<unknown>
}

async function linked(runtime = new FakeRuntime()): Promise<Started> {
  const connection = await Connection.open(runtime, 60_000)
  return { runtime, session: new Session('s-1', () => Promise.resolve(connection)), fence: () => connection.call('server/ping', {}) }
}

/** A run whose prompt was answered; what follows is up to the test. */
async function prompted(options: RunOptions = {}) {
  const started = await linked()
  const run = started.session.run('hello', options)
  run.catch(() => {}) // each test looks at it in its own time
  const subscribed = await started.runtime.received('session/subscribe')
  const prompt = await started.runtime.received('session/prompt')
  return { ...started, run, subscribed, messageId: prompt.params.messageId, log: new Log() }
}

async function collecting(options: CollectOptions = {}) {
  const started = await linked()
  const run = started.session.collect('m-1', options)
  run.catch(() => {})
  return { ...started, run, subscribed: await started.runtime.received('session/subscribe'), log: new Log(4) }
}

const unsubscribed = (runtime: FakeRuntime) => runtime.received('session/unsubscribe').then(({ params }) => params.subscriptionId)

describe('run', () => {
  it('subscribes, waits for the answer, and only then prompts, with an id of its own (RUN-1)', async () => {
    const { runtime, session, fence } = await linked()
    runtime.on('session/subscribe', () => silence)
    const run = session.run('hello', { metadata: { user: 7 } })
    const subscribed = await runtime.received('session/subscribe')
    expect(subscribed.params).toEqual({ sessionId: 's-1', after: 'now', activate: true, subscriptionId: expect.any(String) })
    await fence()
    expect(runtime.methods()).not.toContain('session/prompt')
    runtime.answer(subscribed, { subscriptionId: subscribed.params.subscriptionId, status: 'idle', seq: 7, waitingOn: [] })
    const { params } = await runtime.received('session/prompt')
    expect(params).toEqual({
      sessionId: 's-1',
      content: 'hello',
      messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      metadata: { user: 7 },
    })
    runtime.facts(subscribed, new Log(7).plain(params.messageId, 'Hi.'))
    expect(await run).toMatchObject({ sessionId: 's-1', messageId: params.messageId, finalResponse: 'Hi.', usage: { inputTokens: 10 } })
  })

  it('unsubscribes when it is done, and keeps nothing alive', async () => {
    const { runtime, run, subscribed, messageId, log, fence } = await prompted()
    runtime.facts(subscribed, log.plain(messageId, 'Hi.'))
    await run
    expect(await unsubscribed(runtime)).toBe(subscribed.params.subscriptionId)
    await fence()
    expect(runtime.holds).toBe(0)
  })

  it('recognises its receipt also before the prompt is answered', async () => {
    const { runtime, session } = await linked()
    runtime.on('session/prompt', () => silence)
    const run = session.run('hello')
    const subscribed = await runtime.received('session/subscribe')
    const prompt = await runtime.received('session/prompt')
    runtime.facts(subscribed, new Log().plain(prompt.params.messageId, 'Hi.'))
    expect((await run).finalResponse).toBe('Hi.')
    runtime.answer(prompt, { messageId: prompt.params.messageId })
  })

  it('stays pending at the end of the turn that admitted its message, until the idle (ST-10)', async () => {
    const { runtime, run, subscribed, messageId, log, fence } = await prompted()
    const facts = log.plain(messageId, 'Hi.')
    runtime.facts(subscribed, facts.slice(0, -1))
    runtime.notify('session.status', { ...subscribed.params, seq: 9, status: 'idle', activityId: 'a-1', waitingOn: [] })
    await fence()
    let settled = false
    run.finally(() => {
      settled = true
    })
    await fence()
    expect(settled).toBe(false)
    runtime.facts(subscribed, facts.slice(-1))
    expect((await run).events).toHaveLength(9)
  })

  it('ignores an idle that is older than its receipt (RUN-2)', async () => {
    const { runtime, run, subscribed, messageId, log } = await prompted()
    const stale = log.idle()
    runtime.facts(subscribed, [stale, ...log.plain(messageId, 'Hi.')])
    expect((await run).events[0]).toMatchObject({ type: 'inbox/receipt', seq: 2 })
  })

  it('goes on to quiescence where it is asked to (RUN-3)', async () => {
    const { runtime, run, subscribed, messageId, log } = await prompted({ until: 'quiescent' })
    const waiting = [log.receipt(messageId), log.running(), log.idle([{ kind: 'agent', sessionId: 'child' }])]
    runtime.facts(subscribed, [...waiting, log.running(), log.idle()])
    expect(await run).toMatchObject({ waitingOn: [], events: { length: 5 } })
  })

  it('says expect: idle with onBusy: reject, and rejects as busy (RUN-8)', async () => {
    const { runtime, session } = await linked()
    runtime.on('session/prompt', (params) => {
      throw new Refusal(params.expect === 'idle' ? 'session_busy' : 'internal')
    })
    await expect(session.run('hello', { onBusy: 'reject' })).rejects.toMatchObject({ name: 'SessionBusyError' })
    await unsubscribed(runtime)
  })

  it('takes no receipt for another message than its own', async () => {
    const { runtime, session } = await linked()
    runtime.on('session/prompt', () => ({ messageId: 'm-other' }))
    await expect(session.run('hello')).rejects.toThrow(/the runtime gave message .* the id m-other/)
  })

  it('rejects with what the subscription is refused with, and prompts nothing', async () => {
    const { runtime, session, fence } = await linked()
    runtime.on('session/subscribe', () => {
      throw new Refusal('session_not_found')
    })
    await expect(session.run('hello')).rejects.toMatchObject({ name: 'SessionNotFoundError' })
    await fence()
    expect(runtime.methods()).not.toContain('session/prompt')
  })

  it('rejects where a fact is missing right behind the cursor (SUB-1)', async () => {
    const { runtime, run, subscribed, messageId } = await prompted()
    runtime.facts(subscribed, new Log(1).plain(messageId, 'Hi.'))
    await expect(run).rejects.toThrow('facts are missing: seq 2 came after 0')
    expect(await unsubscribed(runtime)).toBe(subscribed.params.subscriptionId)
  })

  it('rejects on a malformed fact, and leaves other runs alone (FR-4)', async () => {
    const { runtime, session, run, subscribed, messageId, log } = await prompted()
    const other = session.run('again')
    const [second, { params }] = [await runtime.received('session/subscribe'), await runtime.received('session/prompt')]
    const facts = log.plain(messageId, 'Hi.')
    runtime.facts(
      subscribed,
      facts.map((fact) => (fact.type === 'turn/end' ? { ...fact, data: { ...fact.data, reason: {} } } : fact)),
    )
    await expect(run).rejects.toThrow(ProtocolError)
    await expect(run).rejects.toThrow('data.reason.kind: required')
    runtime.facts(second, new Log().plain(params.messageId, 'Still here.'))
    expect((await other).finalResponse).toBe('Still here.')
  })

  it('rejects when the runtime goes away, with how it ended (RUN-10)', async () => {
    const { runtime, run } = await prompted()
    runtime.end(new ConnectionClosedError('the runtime exited with code 1', { exitCode: 1, signal: null, stderr: 'boom' }))
    await expect(run).rejects.toMatchObject({ name: 'ConnectionClosedError', exitCode: 1, stderr: 'boom' })
  })

  it('rejects when the session can go on no longer (SUB-5)', async () => {
    const { runtime, run, subscribed } = await prompted()
    const { subscriptionId } = subscribed.params
    runtime.notify('session.closed', { subscriptionId, sessionId: 's-1', reason: 'storage' })
    await expect(run).rejects.toMatchObject({ name: 'StorageUnavailableError', retryable: true })
  })

  it('keeps a hundred overlapping runs apart (RUN-8)', async () => {
    const { runtime, session } = await linked()
    const runs = Array.from({ length: 100 }, (_, n) => session.run(`message ${n}`))
    const subscriptions = await Promise.all(runs.map(() => runtime.received('session/subscribe')))
    const prompts = await Promise.all(runs.map(() => runtime.received('session/prompt')))
    const log = new Log()
    const receipts = prompts.map(({ params }) => log.receipt(params.messageId))
    const facts = [...receipts, log.running(), ...log.turnStart(prompts[0]?.params.messageId), ...log.turnEnd('All.'), log.idle()]
    for (const fact of facts) for (const subscribed of subscriptions) runtime.facts(subscribed, [fact])
    const results = await Promise.all(runs)
    expect(new Set(results.map(({ messageId }) => messageId)).size).toBe(100)
    expect(new Set(results.map(({ events }) => events.at(-1)?.seq))).toEqual(new Set([log.seq]))
    for (const [n, { events }] of results.entries()) expect(events[0]?.seq).toBe(n + 1)
  })
})

describe('collect', () => {
  it('subscribes from the message, and prompts nothing (RUN-1)', async () => {
    const { runtime, run, subscribed, log } = await collecting()
    expect(subscribed.params).toMatchObject({ sessionId: 's-1', from: { messageId: 'm-1' }, activate: true })
    expect(subscribed.params).not.toHaveProperty('after')
    runtime.facts(subscribed, [...log.plain('m-1', 'Hi.'), log.receipt('m-2')])
    expect(await run).toMatchObject({ messageId: 'm-1', finalResponse: 'Hi.', events: { length: 9 } })
    expect(runtime.methods()).not.toContain('session/prompt')
  })

  it('refuses an inject message (RUN-1)', async () => {
    const { runtime, run, subscribed, log } = await collecting()
    runtime.facts(subscribed, [log.receipt('m-1', 'inject')])
    await expect(run).rejects.toMatchObject({
      name: 'QuiesceError',
      message: expect.stringContaining("m-1 can't be collected: it is an inject message"),
    })
    expect(await unsubscribed(runtime)).toBe(subscribed.params.subscriptionId)
  })

  it('knows no message that is not there', async () => {
    const { runtime, session } = await linked()
    runtime.on('session/subscribe', () => {
      throw new Refusal('message_not_found')
    })
    await expect(session.collect('m-9')).rejects.toMatchObject({ name: 'MessageNotFoundError' })
  })

  it('leaves the work alone when it is given up, unless it is told otherwise', async () => {
    const giveUp = new AbortController()
    const { runtime, run, fence } = await collecting({ signal: giveUp.signal })
    giveUp.abort()
    await expect(run).rejects.toMatchObject({ name: 'RunAbortedError', outcome: 'detached' })
    await fence()
    expect(runtime.methods()).not.toContain('session/withdraw')
    const other = new AbortController()
    const told = await collecting({ signal: other.signal, onAbort: 'cancel' })
    other.abort()
    await expect(told.run).rejects.toMatchObject({ outcome: 'withdrawn' })
  })
})

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
