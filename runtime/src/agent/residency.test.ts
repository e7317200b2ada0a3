import type { AnyFact } from '@quiesce/schema'
import { expect, test, vi } from 'vitest'
import { brokenRules } from '../log/log-rules.fixture.ts'
import { LEASE_MS, RENEW_MS } from '../store/upkeep.ts'
import { quiet, Rig, says } from './agent-rig.fixture.ts'
import { WATCH_MS } from './elsewhere.ts'

/** Moves the time on in small steps, so that each timer's work is done before the next one fires. */
async function pass(rig: Rig, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += WATCH_MS) {
    rig.clock.advance(WATCH_MS)
    await quiet()
  }
}

test("RE-4, RE-3: a runtime without the lease enqueues and doesn't drive; the holder sees the receipt at its renewal", async () => {
  const rig = new Rig()
  await rig.create()
  const holder = rig.runtime
  const other = rig.boot()
  expect(await other.sessions.prompt({ sessionId: 's', content: 'hello', messageId: 'm' })).toEqual({ messageId: 'm' })
  expect((await other.sessions.status('s')).resident).toBe(false)
  await quiet()
  expect([holder.asked.length, other.asked.length]).toEqual([0, 0])
  await pass(rig, RENEW_MS)
  expect([holder.asked.length, other.asked.length]).toEqual([1, 0])
  holder.asked[0]?.answer(says('hi'))
  await rig.idle()
  expect(brokenRules(await rig.facts(), true)).toEqual([])
})

test("RE-3: a follower elsewhere sees the holder's facts, and a waiting one takes over once the holder is dead", async () => {
  const rig = new Rig()
  await rig.create()
  const holder = rig.runtime
  await holder.sessions.prompt({ sessionId: 's', content: 'hello', messageId: 'm' })
  await quiet()
  const other = rig.boot()
  const seen: AnyFact[] = []
  await other.log.follow('s', { facts: (facts) => seen.push(...facts) })
  await other.sessions.activate('s')
  await holder.sessions.prompt({ sessionId: 's', content: 'more', messageId: 'm2' })
  await pass(rig, WATCH_MS)
  expect(seen.map(({ type }) => type)).toEqual(['inbox/receipt'])
  expect(other.asked).toHaveLength(0)
  holder.kill()
  rig.declareDead(1)
  await pass(rig, WATCH_MS)
  expect(other.reaped).toEqual(['runtime-1'])
  for (const text of ['one', 'two']) (await rig.nextAsk()).answer(says(text))
  await rig.idle()
  const facts = await rig.facts()
  expect(brokenRules(facts, true)).toEqual([])
  expect(seen.at(-1)?.seq).toBe(facts.length)
})

test('RE-4: a holder whose lease was taken is fenced, and its followers are told', async () => {
  const rig = new Rig()
  await rig.create()
  const stale = rig.runtime
  const closed: string[] = []
  await stale.log.follow('s', { facts: () => undefined, closed: (reason) => closed.push(reason) })
  await stale.sessions.prompt({ sessionId: 's', content: 'hello' })
  const asked = await rig.nextAsk()
  rig.declareDead(1)
  const next = rig.boot()
  await next.sessions.activate('s')
  const resumed = await rig.nextAsk()
  const before = (await rig.facts()).length
  asked.answer(says('too late'))
  await quiet()
  expect(closed).toEqual(['fenced'])
  expect(await rig.facts()).toHaveLength(before)
  resumed.answer(says('in time'))
  await rig.idle()
  expect(brokenRules(await rig.facts(), true)).toEqual([])
})

test('RE-3: a client that began to collect while the session was idle takes it over when its holder dies later', async () => {
  const rig = new Rig()
  await rig.create()
  const holder = rig.runtime
  const other = rig.boot()
  await other.log.follow('s', { facts: () => undefined })
  const leave = await other.sessions.activate('s')
  await holder.sessions.prompt({ sessionId: 's', content: 'hello' })
  await pass(rig, WATCH_MS)
  holder.kill()
  rig.declareDead(1)
  await pass(rig, WATCH_MS)
  expect(other.asked).toHaveLength(1)
  ;(await rig.nextAsk()).answer(says('x'))
  await rig.idle()
  leave()
})

test('RE-3: looking at a session activates nothing, and a client that has left wants nothing', async () => {
  const rig = new Rig()
  await rig.create()
  const holder = rig.runtime
  const other = rig.boot()
  await other.log.follow('s', { facts: () => undefined })
  ;(await other.sessions.activate('s'))()
  await holder.sessions.prompt({ sessionId: 's', content: 'hello' })
  await pass(rig, WATCH_MS)
  holder.kill()
  rig.declareDead(1)
  await pass(rig, 3 * WATCH_MS)
  expect(other.asked).toHaveLength(0)
})

test('DEL-1, SUB-5: a session that another runtime deletes is closed as deleted, not as fenced', async () => {
  const rig = new Rig()
  await rig.create()
  await rig.create('idle')
  const holder = rig.runtime
  const closed: string[] = []
  for (const id of ['s', 'idle'])
    await holder.log.follow(id, { facts: () => undefined, closed: (reason) => closed.push(`${id} ${reason}`) })
  await holder.sessions.prompt({ sessionId: 's', content: 'hello' })
  const asked = await rig.nextAsk()
  const other = rig.boot()
  for (const id of ['s', 'idle']) await other.sessions.delete(id)
  asked.answer(says('too late'))
  await quiet()
  await pass(rig, RENEW_MS)
  expect(closed).toEqual(['s deleted', 'idle deleted'])
})

test('ST-12: a message that was enqueued and withdrawn elsewhere owes an idle: an activity without a turn', async () => {
  const rig = new Rig()
  await rig.create()
  const other = rig.boot()
  await other.sessions.prompt({ sessionId: 's', content: 'hello', messageId: 'm' })
  expect(await other.sessions.withdraw('s', 'm')).toBe(true)
  await pass(rig, RENEW_MS)
  expect((await rig.types()).slice(1)).toEqual(['inbox/receipt', 'inbox/cancelled', 'running', 'idle'])
  expect(brokenRules(await rig.facts(), true)).toEqual([])
})

test('CAN-1, RE-2: a turn that was cancelled before its holder died ends cancelled, and nothing resumes it', async () => {
  const rig = new Rig()
  await rig.create()
  const holder = rig.runtime
  await holder.sessions.prompt({ sessionId: 's', content: 'hello' })
  await rig.nextAsk()
  const other = rig.boot()
  holder.kill()
  expect(await other.sessions.cancel({ sessionId: 's' }, 'other')).toMatchObject({ cancelled: true })
  rig.declareDead(1)
  await other.sessions.activate('s')
  await rig.idle()
  const facts = await rig.facts()
  expect(facts.filter(({ type }) => type === 'turn/start' || type === 'turn/end')).toMatchObject([
    { type: 'turn/start' },
    { type: 'turn/end', data: { reason: { kind: 'cancelled', by: 'other' } } },
  ])
  expect(brokenRules(facts, true)).toEqual([])
})

test('CAN-1, RE-2: a cancel that is committed just before the recovery is what the turn ends with', async () => {
  const rig = new Rig()
  await rig.create()
  const holder = rig.runtime
  await holder.sessions.prompt({ sessionId: 's', content: 'hello' })
  await rig.nextAsk()
  holder.kill()
  rig.declareDead(1)
  const [other, next] = [rig.boot(), rig.boot()]
  const commit = rig.store.commit.bind(rig.store)
  let cancelled = false
  vi.spyOn(rig.store, 'commit').mockImplementation(async (request) => {
    if (!cancelled && request.facts.some(({ type }) => type === 'turn/end')) {
      cancelled = true
      await other.sessions.cancel({ sessionId: 's' }, 'other')
    }
    return commit(request)
  })
  await next.sessions.activate('s')
  await rig.idle()
  const facts = await rig.facts()
  expect(facts.filter(({ type }) => type === 'turn/end')).toMatchObject([{ data: { reason: { kind: 'cancelled' } } }])
  expect(brokenRules(facts, true)).toEqual([])
})

test('RE-3, RE-4: a lease that nobody renews is taken after its time, whatever a clock that was set back says', async () => {
  const rig = new Rig()
  await rig.create()
  const holder = rig.runtime
  await holder.sessions.prompt({ sessionId: 's', content: 'hello' })
  await quiet()
  holder.kill()
  rig.clock.setBack(3_600_000)
  const other = rig.boot()
  await other.sessions.prompt({ sessionId: 's', content: 'more' })
  await pass(rig, LEASE_MS - WATCH_MS)
  expect(other.asked).toHaveLength(0)
  await pass(rig, 2 * WATCH_MS)
  expect(other.asked).toHaveLength(1)
  // The holder isn't known to be dead, and it is of this host: what its tools do for this session ends.
  expect(other.reaped).toEqual(['runtime-1 s'])
  for (const text of ['one', 'two']) (await rig.nextAsk()).answer(says(text))
  await rig.idle()
  expect(brokenRules(await rig.facts(), true)).toEqual([])
})

test('RE-4: a holder that renews keeps its session through a clock that is set back', async () => {
  const rig = new Rig()
  await rig.create()
  const holder = rig.runtime
  await holder.sessions.prompt({ sessionId: 's', content: 'hello' })
  await quiet()
  const other = rig.boot()
  await other.sessions.prompt({ sessionId: 's', content: 'more' })
  for (const jump of [3_600_000, 60_000]) {
    rig.clock.setBack(jump)
    await pass(rig, 3 * LEASE_MS)
  }
  expect([holder.asked.length, other.asked.length]).toEqual([1, 0])
})

test('RE-4: a clock that is set forward may cost a live holder its session, but never lets two of them drive it', async () => {
  const rig = new Rig()
  await rig.create()
  const holder = rig.runtime
  await holder.sessions.prompt({ sessionId: 's', content: 'hello' })
  const asked = await rig.nextAsk()
  const other = rig.boot()
  await other.sessions.prompt({ sessionId: 's', content: 'more' })
  rig.clock.setBack(-3_600_000)
  await pass(rig, WATCH_MS)
  const before = (await rig.facts()).length
  asked.answer(says('too late'))
  await quiet()
  expect(await rig.facts()).toHaveLength(before)
  for (const text of ['one', 'two']) (await rig.nextAsk()).answer(says(text))
  await rig.idle()
  expect(brokenRules(await rig.facts(), true)).toEqual([])
})

test('RE-5: a holder that lost its session ends the processes of its tools', async () => {
  const rig = new Rig()
  await rig.create()
  const stale = rig.runtime
  await stale.sessions.prompt({ sessionId: 's', content: 'hello' })
  await rig.nextAsk()
  rig.declareDead(1)
  await rig.boot().sessions.activate('s')
  await pass(rig, RENEW_MS)
  expect(new Set(stale.ended)).toEqual(new Set(['s']))
})

test('RE-2: a runtime that dies as it takes a session over has ended what the dead one left, or leaves its name to the next', async () => {
  const rig = new Rig()
  await rig.create()
  await rig.runtime.sessions.prompt({ sessionId: 's', content: 'hello' })
  await rig.crash()
  const dying = rig.runtime
  vi.spyOn(dying.reaped, 'push').mockImplementation(() => {
    dying.kill()
    return 0
  })
  void dying.sessions.activate('s')
  await quiet()
  rig.declareDead(2)
  const next = rig.boot()
  await next.sessions.activate('s')
  expect(next.reaped).toEqual(['runtime-1'])
})

test("FR-5: a runtime that dies as it stops has ended its tools' processes, or holds its lease still, so that the next one does", async () => {
  const rig = new Rig()
  await rig.create()
  const stopping = rig.runtime
  vi.spyOn(stopping.ended, 'push').mockImplementation(() => {
    stopping.kill()
    return 0
  })
  void stopping.sessions.shutdown()
  await quiet()
  rig.declareDead(1)
  const next = rig.boot()
  await next.sessions.activate('s')
  await next.sessions.prompt({ sessionId: 's', content: 'hello' })
  expect(next.reaped).toEqual(['runtime-1'])
})

test("DEL-1: the processes of a session's tools are ended before it is gone: then nobody would look for them", async () => {
  const rig = new Rig()
  await rig.create()
  const deleting = rig.runtime
  vi.spyOn(deleting.ended, 'push').mockImplementation(() => {
    deleting.kill()
    return 0
  })
  void deleting.sessions.delete('s')
  await quiet()
  expect(await rig.store.load('s')).not.toBeNull()
})

test('SUB-1, RE-3: what another runtime committed just after a session began to be followed is seen, also where nothing follows it', async () => {
  const rig = new Rig()
  await rig.create()
  const holder = rig.runtime
  // Its watch never tells a thing.
  const other = rig.boot({ watch: () => ({ check: () => undefined, stop: () => undefined }) })
  const seen: AnyFact[] = []
  await other.log.follow('s', { facts: (facts) => seen.push(...facts) })
  const leave = await other.sessions.activate('s')
  await holder.sessions.prompt({ sessionId: 's', content: 'hello' })
  await quiet()
  holder.kill()
  rig.declareDead(1)
  await pass(rig, 2 * WATCH_MS)
  expect(seen.map(({ type }) => type).slice(0, 2)).toEqual(['inbox/receipt', 'agent/status'])
  ;(await rig.nextAsk()).answer(says('x'))
  await rig.idle()
  leave()
})

test("DEL-1: deleting a session ends what a dead runtime's tools left running for it, and its live holder ends its own", async () => {
  const rig = new Rig()
  await rig.create('dead')
  const dead = rig.runtime
  let hint: () => void = () => undefined
  const holder = rig.boot({
    watch: (onChange) => {
      hint = onChange
      return { check: () => undefined, stop: () => undefined }
    },
  })
  await rig.create('live')
  await pass(rig, RENEW_MS)
  const other = rig.boot()
  dead.kill()
  rig.declareDead(1)
  await other.sessions.delete('dead')
  expect(other.reaped).toEqual(['runtime-1'])
  await other.sessions.delete('live')
  hint()
  await quiet()
  expect(holder.ended).toContain('live')
})

test('DEL-1, SUB-5: a session that is deleted while it is being taken up here is told as deleted, not as fenced', async () => {
  const rig = new Rig()
  await rig.create()
  rig.runtime.kill()
  rig.declareDead(1)
  const other = rig.boot()
  const closed: string[] = []
  await other.log.follow('s', { facts: () => undefined, closed: (reason) => closed.push(reason) })
  await Promise.all([other.sessions.activate('s'), other.sessions.delete('s')])
  await quiet()
  expect(closed).toEqual(['deleted'])
})
