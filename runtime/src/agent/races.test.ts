// Races that random schedules found, each pinned on its own.
import { expect, test, vi } from 'vitest'
import { fact } from '../log/facts.ts'
import { brokenRules } from '../log/log-rules.fixture.ts'
import { Refusal } from '../log/refusal.ts'
import { quiet, Rig, says } from './agent-rig.fixture.ts'
import { WATCH_MS } from './elsewhere.ts'

test('IN-8: a withdraw that is decided just before its message is received withdraws it, and does not call it admitted', async () => {
  const rig = new Rig()
  await rig.create()
  const { sessions } = rig.runtime
  const receiptSeq = rig.store.receiptSeq.bind(rig.store)
  vi.spyOn(rig.store, 'receiptSeq').mockImplementationOnce(async (sessionId, messageId) => {
    await sessions.prompt({ sessionId, messageId, content: 'context', delivery: 'inject' })
    return receiptSeq(sessionId, messageId)
  })
  expect(await sessions.withdraw('s', 'm')).toBe(true)
  expect((await rig.types()).slice(1)).toEqual(['inbox/receipt', 'inbox/cancelled'])
})

test('CAN-1: a runtime that follows from behind cancels what is open, and does not say that nothing is', async () => {
  const rig = new Rig()
  await rig.create()
  const holder = rig.runtime
  const other = rig.boot()
  await other.log.follow('s', { facts: () => undefined })
  await holder.sessions.prompt({ sessionId: 's', content: 'hello' })
  await holder.sessions.prompt({ sessionId: 's', content: 'more', messageId: 'm2' })
  expect(await other.sessions.cancel({ sessionId: 's', scope: 'session' }, 'other')).toEqual({
    cancelled: true,
    withdrawn: [{ sessionId: 's', messageId: 'm2' }],
  })
})

test('IN-3: a repeat is known, and a conflict is one, in a runtime that follows from behind', async () => {
  const rig = new Rig()
  await rig.create()
  const holder = rig.runtime
  const other = rig.boot()
  await other.log.follow('s', { facts: () => undefined })
  const prompt = { sessionId: 's', content: 'hello', messageId: 'm' }
  await holder.sessions.prompt(prompt)
  expect(await other.sessions.prompt(prompt)).toEqual({ messageId: 'm' })
  await expect(other.sessions.prompt({ ...prompt, content: 'other' })).rejects.toMatchObject({ code: 'message_conflict' })
})

test('IN-3, DEL-1: a repeat whose session is deleted meanwhile is no conflict', async () => {
  const rig = new Rig()
  await rig.create()
  const prompt = { sessionId: 's', content: 'context', messageId: 'm', delivery: 'inject' as const }
  await rig.runtime.sessions.prompt(prompt)
  const commit = rig.store.commit.bind(rig.store)
  vi.spyOn(rig.store, 'commit').mockImplementationOnce(async (request) => {
    const result = await commit(request)
    await rig.store.delete('s')
    return result
  })
  await expect(rig.runtime.sessions.prompt(prompt)).rejects.toMatchObject({ code: 'session_not_found' })
})

test('IN-5: a turn that was to go on for a steer ends where the steer is withdrawn first', async () => {
  const rig = new Rig()
  await rig.create()
  const holder = rig.runtime
  await holder.sessions.prompt({ sessionId: 's', content: 'hello' })
  const asked = await rig.nextAsk()
  await holder.sessions.prompt({ sessionId: 's', content: 'now', messageId: 'steer', delivery: 'steer' })
  expect(await rig.boot().sessions.withdraw('s', 'steer')).toBe(true)
  asked.answer(says('done'))
  await rig.idle()
  expect(holder.asked).toEqual([])
  expect((await rig.types()).slice(-4)).toEqual(['assistant/message', 'step/end', 'turn/end', 'idle'])
  expect(brokenRules(await rig.facts(), true)).toEqual([])
})

test('RE-3: a message that is accepted while its activation ends for a failed store is taken up by the next one', async () => {
  const rig = new Rig()
  await rig.create()
  const { sessions, log } = rig.runtime
  await sessions.prompt({ sessionId: 's', content: 'hello' })
  const asked = await rig.nextAsk()
  const prompting = sessions.prompt({ sessionId: 's', content: 'more' })
  log.close('s', 'storage', new Error('the disk is full'))
  await prompting
  asked.answer(says('too late'))
  for (const text of ['one', 'two']) (await rig.nextAsk()).answer(says(text))
  await rig.idle()
  expect(brokenRules(await rig.facts(), true)).toEqual([])
})

test('RE-3: a message for a session held elsewhere is watched over from its receipt on, though nothing was due before', async () => {
  const rig = new Rig()
  await rig.create()
  const other = rig.boot()
  const commit = rig.store.commit.bind(rig.store)
  // The look that follows the first refusal comes before the receipt, and finds nothing to wait for.
  vi.spyOn(rig.store, 'commit').mockImplementationOnce(async (request) => {
    rig.clock.advance(WATCH_MS)
    await quiet()
    return commit(request)
  })
  await other.sessions.prompt({ sessionId: 's', content: 'hello' })
  rig.declareDead(1)
  await quiet()
  rig.clock.advance(WATCH_MS)
  ;(await rig.nextAsk()).answer(says('hi'))
  await rig.idle()
})

test('RE-6: a receipt that is committed is answered, though what came before it can not be read for who began to follow', async () => {
  const rig = new Rig()
  await rig.create()
  const other = rig.boot()
  const seen: string[] = []
  const commit = rig.store.commit.bind(rig.store)
  vi.spyOn(rig.store, 'commit').mockImplementationOnce(async (request) => {
    await other.log.follow('s', { facts: (facts) => seen.push(...facts.map(({ type }) => type)) })
    await commit({ sessionId: 's', facts: [fact('session/update', 1, { change: { title: 'x' } })] })
    vi.spyOn(rig.store, 'read').mockRejectedValueOnce(new Refusal('storage_unavailable', 'the disk is gone'))
    return commit(request)
  })
  expect(await other.sessions.prompt({ sessionId: 's', content: 'hello', messageId: 'm' })).toEqual({ messageId: 'm' })
  expect(seen).toEqual([])
  rig.clock.advance(WATCH_MS)
  await quiet()
  expect(seen.slice(0, 2)).toEqual(['session/update', 'inbox/receipt'])
})
