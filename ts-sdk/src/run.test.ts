import { describe, expect, it } from 'vitest'
import { Log } from '../test/facts.ts'
import { Refusal, silence } from '../test/fake-runtime.ts'
import { collecting, linked, prompted, unsubscribed } from '../test/linked.ts'
import { ConnectionClosedError, ProtocolError } from './errors.ts'

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

  it('prompts nothing where it has failed by the time the subscription is answered', async () => {
    const { runtime, session, fence } = await linked()
    runtime.on('session/subscribe', () => silence)
    const run = session.run('hello')
    run.catch(() => {})
    const subscribed = await runtime.received('session/subscribe')
    runtime.answer(subscribed, { subscriptionId: subscribed.params.subscriptionId, status: 'idle', seq: 0, waitingOn: [] })
    runtime.facts(subscribed, [{ ...new Log().running(), data: {} }])
    await expect(run).rejects.toThrow(ProtocolError)
    await fence()
    expect(runtime.methods()).not.toContain('session/prompt')
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
