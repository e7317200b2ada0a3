import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { deferred } from '../base/deferred.ts'
import { brokenRules } from '../log/log-rules.fixture.ts'
import { openDatabase } from '../store/sqlite/driver.ts'
import { migrate, migrations } from '../store/sqlite/schema.ts'
import { LEASE_MS, RENEW_MS } from '../store/upkeep.ts'
import { calls, done, quiet, says } from './agent-rig.fixture.ts'
import { WATCH_MS } from './elsewhere.ts'
import { lost } from './lost.ts'
import { asked, idle, TroubledRig, typesOf } from './store-trouble.fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'quiesce-trouble-'))
afterAll(() => rmSync(folder, { recursive: true }))
const rigs: TroubledRig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close()
})

function rigOf(name: string): TroubledRig {
  const rig = new TroubledRig(folder, name)
  rigs.push(rig)
  return rig
}

describe('a fact that rotted on disk (RE-6)', () => {
  async function rotten(name: string) {
    const rig = rigOf(name)
    const first = rig.boot()
    await rig.create(first.runtime, 's')
    await first.runtime.sessions.prompt({ sessionId: 's', content: 'hello' })
    ;(await asked(first.runtime)).answer(says('hi'))
    await idle(first.store, 's')
    await first.runtime.sessions.shutdown()
    rig.closed.length = 0
    rig.other('UPDATE facts SET fact = substr(fact, 1, 40) WHERE session = 1 AND seq = 7')
    return { rig, ...rig.boot() }
  }

  it('stops its session, which says which fact it is; others live on', async () => {
    const { rig, runtime, store } = await rotten('rotten')
    await rig.create(runtime, 'other')
    await rig.follow(runtime, 's')
    expect(await runtime.sessions.prompt({ sessionId: 's', content: 'more', messageId: 'm' })).toEqual({ messageId: 'm' })
    await runtime.sessions.prompt({ sessionId: 'other', content: 'hello' })
    ;(await asked(runtime)).answer(says('hi'))
    await idle(store, 'other')
    const message = expect.stringMatching(/db is damaged: fact 7 of session s can not be read\. Other sessions go on; delete this one, or/)
    expect(rig.closed).toMatchObject([{ sessionId: 's', reason: 'storage', error: { code: 'storage_unavailable', message } }])
    expect((await runtime.sessions.list({})).sessions.map(({ sessionId, status }) => `${sessionId} ${status}`)).toEqual([
      'other idle',
      's running',
    ])
    expect((await runtime.sessions.events({ sessionId: 's' })).events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6])
    await expect(runtime.sessions.events({ sessionId: 's', after: 6 })).rejects.toMatchObject({ code: 'storage_unavailable', message })
    await expect(runtime.sessions.messages({ sessionId: 's' })).rejects.toMatchObject({ code: 'storage_unavailable', message })
    expect(runtime.reports).toMatchObject([{ message }])
  })

  it('is tried no more than three times: then the session rests, and can be deleted', async () => {
    const { rig, runtime, store } = await rotten('exhausted')
    await runtime.sessions.prompt({ sessionId: 's', content: 'more' })
    await quiet()
    for (let attempt = 0; attempt < 4; attempt += 1) {
      ;(await runtime.sessions.activate('s'))()
      await quiet()
    }
    expect((await runtime.sessions.status('s')).status).toBe('idle')
    expect((await store.read('s', 7, 100)).at(-2)).toMatchObject({
      type: 'turn/end',
      data: { reason: { kind: 'error', error: { code: 'recovery_exhausted' } } },
    })
    await runtime.sessions.delete('s')
    await rig.create(runtime, 'next')
    expect((await runtime.sessions.list({})).sessions).toHaveLength(1)
  })
})

describe('a store that another process holds for a while (RE-6)', () => {
  it('stops no agent: turns and prompts go on once it is free, in their order', async () => {
    const rig = rigOf('held')
    const { runtime, store } = rig.boot(60_000)
    await rig.create(runtime, 'a', 'b')
    for (const sessionId of ['a', 'b']) await runtime.sessions.prompt({ sessionId, content: 'hello' })
    const requests = [await asked(runtime, 1), await asked(runtime, 2)]
    const locked = deferred()
    store.onLocked = () => locked.resolve()
    const other = openDatabase(rig.path)
    other.exec('BEGIN IMMEDIATE')
    const order: string[] = []
    for (const request of requests) request.answer(calls(request, 'work'))
    const prompts = ['m1', 'm2'].map((messageId) =>
      runtime.sessions.prompt({ sessionId: 'a', content: messageId, messageId }).then(() => order.push(messageId)),
    )
    await quiet()
    expect([runtime.called.length, order, rig.closed]).toEqual([0, [], []])
    expect((await runtime.sessions.events({ sessionId: 'a' })).events.at(-1)?.type).toBe('step/start')
    other.exec('ROLLBACK')
    other.close()
    await Promise.all(prompts)
    expect(order).toEqual(['m1', 'm2'])
    await quiet(() => runtime.called.length === 2)
    for (const called of [...runtime.called]) called.finish(done('done'))
    for (const text of ['one', 'two']) {
      const request = await asked(runtime)
      request.answer(says(text))
    }
    for (const text of ['three', 'four']) (await asked(runtime)).answer(says(text))
    for (const id of ['a', 'b']) {
      await idle(store, id)
      expect(brokenRules(await store.read(id, 0, 1000), true)).toEqual([])
    }
  })

  it('stops agents at its limit, and has them go on at the next activation', async () => {
    const rig = rigOf('limit')
    const { runtime, store } = rig.boot()
    await rig.create(runtime, 's')
    await runtime.sessions.prompt({ sessionId: 's', content: 'hello' })
    const request = await asked(runtime)
    const other = openDatabase(rig.path)
    other.exec('BEGIN IMMEDIATE')
    request.answer(says('lost'))
    await quiet(() => rig.closed.length > 0)
    const message = expect.stringMatching(/another process has held its lock for too long: end the backup or the database tool/)
    expect(rig.closed).toMatchObject([{ reason: 'storage', error: { code: 'storage_unavailable', message } }])
    await expect(runtime.sessions.prompt({ sessionId: 's', content: 'more', messageId: 'm' })).rejects.toMatchObject({ message })
    other.exec('ROLLBACK')
    other.close()
    await runtime.sessions.prompt({ sessionId: 's', content: 'more', messageId: 'm' })
    for (const text of ['again', 'more']) (await asked(runtime)).answer(says(text))
    await idle(store, 's')
    expect(brokenRules(await store.read('s', 0, 1000), true)).toEqual([])
  })
})

describe('a store that is slow for one of two runtimes (RE-4, RE-6)', () => {
  it('loses the slow one its lease in time, and nothing else: its prompt is kept, what it drove goes on elsewhere', async () => {
    const rig = rigOf('slow')
    const slow = rig.boot()
    await rig.create(slow.runtime, 's')
    await slow.runtime.sessions.prompt({ sessionId: 's', content: 'first', messageId: 'first' })
    const request = await asked(slow.runtime)
    slow.home.hold()
    request.answer(says('too late'))
    const prompting = slow.runtime.sessions.prompt({ sessionId: 's', content: 'second', messageId: 'second' })
    await slow.home.waits
    const quick = rig.boot()
    await quick.runtime.sessions.prompt({ sessionId: 's', content: 'third', messageId: 'third' })
    await rig.pass(LEASE_MS + 2 * WATCH_MS)
    ;(await asked(quick.runtime)).answer(says('in time'))
    await quiet()
    slow.home.release()
    expect(await prompting).toEqual({ messageId: 'second' })
    await quiet(() => rig.closed.length > 0)
    expect(rig.closed).toMatchObject([{ sessionId: 's', reason: 'fenced' }])
    await rig.pass(2 * RENEW_MS)
    for (const text of ['two', 'three']) (await asked(quick.runtime)).answer(says(text))
    await idle(quick.store, 's')
    const facts = await quick.store.read('s', 0, 1000)
    expect(brokenRules(facts, true)).toEqual([])
    expect(JSON.stringify(facts)).not.toContain('too late')
    expect(facts.filter(({ type }) => type === 'inbox/receipt')).toHaveLength(3)
  })

  it('answers a prompt to a resting agent with its receipt, also where the lease went meanwhile (TU-3)', async () => {
    const rig = rigOf('joint')
    const slow = rig.boot()
    await rig.create(slow.runtime, 's')
    slow.home.hold()
    const prompting = slow.runtime.sessions.prompt({ sessionId: 's', content: 'hello', messageId: 'm' })
    await slow.home.waits
    await rig.pass(LEASE_MS + WATCH_MS)
    const quick = rig.boot()
    const leave = await quick.runtime.sessions.activate('s')
    await quick.runtime.sessions.prompt({ sessionId: 's', content: 'other', messageId: 'n' })
    slow.home.release()
    expect(await prompting).toEqual({ messageId: 'm' })
    await rig.pass(2 * RENEW_MS)
    for (const text of ['one', 'two']) (await asked(quick.runtime)).answer(says(text))
    await idle(quick.store, 's')
    expect(brokenRules(await quick.store.read('s', 0, 1000), true)).toEqual([])
    expect(slow.runtime.asked).toEqual([])
    leave()
  })
})

describe('a store that is not the one any more that was opened (RE-6)', () => {
  it('stops agents where a newer runtime brought it up, and says what to do', async () => {
    const rig = rigOf('newer')
    const { runtime, store } = rig.boot()
    await rig.create(runtime, 's', 'resting')
    await runtime.sessions.prompt({ sessionId: 's', content: 'hello' })
    const request = await asked(runtime)
    const newer = openDatabase(rig.path)
    migrate(newer, rig.path, [...migrations, 'CREATE TABLE later (x)'])
    newer.close()
    const before = await typesOf(store, 's')
    request.answer(says('in the old way'))
    await quiet(() => rig.closed.length > 0)
    const message = `the store ${rig.path} was brought to version 2 by another runtime, and is open here with version 1: update quiesce, then start it anew`
    expect(rig.closed).toMatchObject([{ sessionId: 's', reason: 'storage', error: { code: 'store_version', message } }])
    for (const sessionId of ['s', 'resting'])
      await expect(runtime.sessions.prompt({ sessionId, content: 'x' })).rejects.toMatchObject({ code: 'store_version', message })
    expect(await typesOf(store, 's')).toEqual(before)
  })

  it('stops agents that have seen more than there is in a backup that was put in its place, and begins nothing on it', async () => {
    const rig = rigOf('restored')
    const { runtime, store } = rig.boot()
    await rig.create(runtime, 's')
    rig.other(`VACUUM INTO '${rig.path}.backup'`)
    await runtime.sessions.prompt({ sessionId: 's', content: 'hello' })
    const request = await asked(runtime)
    const restored = ['sessions', 'configs', 'messages', 'facts'].map(
      (table) => `DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM backup.${table}`,
    )
    rig.other(`ATTACH '${rig.path}.backup' AS backup; BEGIN IMMEDIATE; ${restored.join('; ')}; COMMIT`)
    request.answer(says('of another world'))
    await quiet(() => rig.closed.length > 0)
    const message = expect.stringMatching(
      /was put back to an older copy while it was open: session s ends at fact 1 there, and fact 6 was seen/,
    )
    expect(rig.closed).toMatchObject([{ sessionId: 's', reason: 'storage', error: { code: 'storage_unavailable', message } }])
    expect(await typesOf(store, 's')).toEqual(['session/create'])
    // It is followed anew from what is there.
    await runtime.sessions.prompt({ sessionId: 's', content: 'again' })
    ;(await asked(runtime)).answer(says('hi'))
    await idle(store, 's')
    expect(brokenRules(await store.read('s', 0, 1000), true)).toEqual([])
  })
})

describe('a session whose lease is gone', () => {
  it('is closed as what it is: taken, deleted, or in a store that can not say', async () => {
    const closed: unknown[] = []
    const failure = new Error('the disk failed')
    const outcomes = [Promise.resolve({ sessionId: 's' }), Promise.resolve(null), Promise.reject(failure)]
    const ports = {
      log: { close: (...args: unknown[]) => closed.push(args) },
      store: { load: () => outcomes.shift() },
      endTools: () => undefined,
    } as unknown as Parameters<typeof lost>[0]
    for (const _ of [1, 2, 3]) await lost(ports, 's')
    expect(closed).toEqual([
      ['s', 'fenced', null],
      ['s', 'deleted', null],
      ['s', 'storage', failure],
    ])
  })
})

describe('a clock that jumps', () => {
  const hours = 3_600_000

  it.each([
    ['back', 5 * hours],
    ['forth', -5 * hours],
  ])('changes the order of nothing: %s, in each phase of a turn', async (_, by) => {
    const rig = rigOf(`jump ${by}`)
    const { runtime, store } = rig.boot()
    await rig.create(runtime, 's')
    const start = rig.clock.now()
    const updated: number[] = []
    const jump = async () => {
      rig.clock.setBack(by)
      updated.push((await runtime.sessions.describe('s')).updatedAt)
    }
    await runtime.sessions.prompt({ sessionId: 's', content: 'hello' })
    await jump()
    const first = await asked(runtime)
    first.answer(calls(first, 'solo'))
    await quiet(() => runtime.called.length > 0)
    await jump()
    await runtime.sessions.prompt({ sessionId: 's', content: 'steer', delivery: 'steer' })
    await jump()
    runtime.called[0]?.finish(done('done'))
    await rig.pass(3 * LEASE_MS)
    ;(await asked(runtime)).answer(says('hi'))
    await idle(store, 's')
    await jump()
    const facts = await store.read('s', 0, 1000)
    expect(brokenRules(facts, true)).toEqual([])
    expect(updated).toEqual([...updated].sort((a, b) => a - b))
    const times = facts.map(({ time }) => time)
    expect(by > 0 ? Math.min(...times) : Math.max(...times)).not.toBe(start)
    expect((await store.load('s'))?.state.updatedAt).toBe(Math.max(...times))
    const [result] = facts.filter((fact) => fact.type === 'tool/result')
    expect(result?.data.durationMs).toBeGreaterThanOrEqual(0)
    expect(result?.data.durationMs).toBeLessThan(hours)
    expect(rig.closed).toEqual([])
  })
})
