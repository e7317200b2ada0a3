import type { AnyFact } from '@quiesce/schema'
import { expect, test } from 'vitest'
import { deferred } from '../base/deferred.ts'
import { EventLog } from '../log/event-log.ts'
import { fact, type NewFact } from '../log/facts.ts'
import { openMemoryStore } from '../store/memory/memory-store.ts'
import type { CommitRequest, Store } from '../store/store.ts'

const config = { cwd: '/', roots: [], model: 'test/model', permissions: 'edit' as const, limits: {}, metadata: {} }
const created: CommitRequest = { sessionId: 's', when: [{ kind: 'absent' }], facts: [fact('session/create', 1, { config, depth: 0 })] }

const receipt = (id: string): NewFact =>
  fact('inbox/receipt', 1, { message: { id, delivery: 'inject', origin: { kind: 'user' }, content: [{ type: 'text', text: id }] } })

async function following(log: EventLog): Promise<AnyFact[]> {
  const seen: AnyFact[] = []
  await log.follow('s', { facts: (facts) => seen.push(...facts) })
  return seen
}

test('TU-3: followers have seen a fact before its commit answers, also the facts of another runtime in between', async () => {
  const store = openMemoryStore()
  const [log, other] = [new EventLog(store), new EventLog(store)]
  await log.commit(created)
  const seen = await following(log)
  await other.commit({ sessionId: 's', facts: [receipt('foreign')] })
  await log.commit({ sessionId: 's', facts: [receipt('own')] })
  expect(seen.map(({ seq }) => seq)).toEqual([2, 3])
  expect(log.followed('s')?.state.pending.map(({ id }) => id)).toEqual(['foreign', 'own'])
})

test('SUB-1: a session that begins to be followed while a commit is under way misses nothing', async () => {
  const store = openMemoryStore()
  await store.commit(created)
  const gate = deferred()
  const held = new Proxy(store, {
    get: (target, name: keyof Store) => {
      if (name !== 'commit') return target[name].bind(target)
      return (request: CommitRequest) => gate.promise.then(() => target.commit(request))
    },
  })
  const log = new EventLog(held)
  const committing = log.commit({ sessionId: 's', facts: [receipt('own')] })
  const seen = await following(log)
  await store.commit({ sessionId: 's', facts: [receipt('foreign')] })
  gate.resolve()
  await committing
  expect(seen.map(({ seq }) => seq)).toEqual([2, 3])
  expect(log.followed('s')?.state).toEqual((await store.load('s'))?.state)
})

test('SUB-1: who is told a fact of another runtime finds it in the state, too, and so do all who follow', async () => {
  const store = openMemoryStore()
  const [log, other] = [new EventLog(store), new EventLog(store)]
  await log.commit(created)
  const seen = await following(log)
  await other.commit({ sessionId: 's', facts: [receipt('foreign')] })
  expect((await log.read('s', 0, 10)).map(({ seq }) => seq)).toEqual([1, 2])
  expect(log.followed('s')?.state).toEqual((await store.load('s'))?.state)
  expect(seen.map(({ seq }) => seq)).toEqual([2])
  await other.commit({ sessionId: 's', facts: [receipt('later'), receipt('last')] })
  expect((await log.read('s', 0, 1)).map(({ seq }) => seq)).toEqual([1])
  expect(log.followed('s')?.state.seq).toBe(2)
})

test('SUB-2: recent facts come from memory, older ones from the store, and both agree', async () => {
  const store = openMemoryStore()
  const log = new EventLog(store)
  await log.commit(created)
  await following(log)
  for (let i = 0; i < 990; i += 1) await log.commit({ sessionId: 's', facts: [receipt(`m${i}`)] })
  expect(log.recent('s', 0, 10)).toBeNull()
  for (const after of [0, 400, 980, 990, 991]) {
    expect(await log.read('s', after, 7)).toEqual(await store.read('s', after, 7))
  }
})

test('SUB-2: what is kept in memory, and one answer from it, is bounded by its texts too', async () => {
  const store = openMemoryStore()
  const log = new EventLog(store)
  await log.commit(created)
  const seen = await following(log)
  for (let i = 0; i < 40; i += 1) await log.commit({ sessionId: 's', facts: [receipt(`${i} ${'x'.repeat(500_000)}`)] })
  const kept = log.followed('s')?.recent.length ?? 0
  expect(kept).toBeGreaterThan(4)
  expect(kept).toBeLessThan(20)
  expect(seen).toHaveLength(40)
  const after = 41 - kept
  const read = await log.read('s', after, 100)
  expect(read.map(({ seq }) => seq)).toEqual([1, 2, 3, 4].map((step) => after + step).slice(0, read.length))
  expect(read.length).toBeLessThan(8)
  expect((await log.read('s', 0, 100)).length).toBeGreaterThan(0)
})

test('RE-3: what another runtime committed is read whole, also where one read does not bring it all', async () => {
  const store = openMemoryStore()
  const [log, other] = [new EventLog(store), new EventLog(store)]
  await log.commit(created)
  const seen = await following(log)
  for (let i = 0; i < 12; i += 1) await other.commit({ sessionId: 's', facts: [receipt(`${i} ${'x'.repeat(1_000_000)}`)] })
  await log.refresh('s')
  expect(seen).toHaveLength(12)
})
