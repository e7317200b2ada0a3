import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import type { Condition } from '../log/conditions.ts'
import { fact, type NewFact } from '../log/facts.ts'
import { applyConfig, applyFact, emptyState } from '../log/session-state.ts'
import { openMemoryStore } from './memory/memory-store.ts'
import { openSqliteStore } from './sqlite/sqlite-store.ts'
import { configOf, ownerOf, receipt, scratch } from './store.fixture.ts'
import type { CommitRequest, ListQuery, Store } from './store.ts'

const directory = scratch()
afterAll(() => directory.remove())

const sessionId = fc.constantFrom('s', 't', 'u\0\ud800')
const messageId = fc.constantFrom('m1', 'm2', 'm3', '\udfff')
const word = fc.oneof(fc.constantFrom('a', 'b'), fc.string({ unit: 'binary', maxLength: 6 }))
const now = fc.integer({ min: 0, max: 40 })
const ttlMs = fc.constantFrom(1, 10, 20)
const epoch = fc.integer({ min: 0, max: 4 })
const owner = fc.constantFrom('ann', 'bob').map(ownerOf)
const turnId = fc.constantFrom('t1', 't2')
const usage = { inputTokens: 1, outputTokens: 2 }
const metadata = fc.dictionary(word, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })

const newFact: fc.Arbitrary<NewFact> = fc.oneof(
  fc.tuple(messageId, fc.constantFrom('followup', 'steer', 'inject'), word).map(([id, delivery, text]) => receipt(id, delivery, text)),
  messageId.map((id) => fact('inbox/admitted', 3, { messageId: id, turnId: 't1', stepId: 's1' })),
  messageId.map((id) => fact('inbox/cancelled', 4, { messageId: id, reason: 'withdrawn' })),
  fc.constantFrom('running', 'idle').map((status) => fact('agent/status', 5, { status, activityId: 'a1' })),
  turnId.map((id) => fact('turn/start', 6, { turnId: id, activityId: 'a1', trigger: { kind: 'recovery', turnId: 't0' } })),
  turnId.map((id) => fact('turn/end', 7, { turnId: id, reason: { kind: 'completed' }, usage })),
  fc.tuple(turnId, word).map(([id, by]) => fact('agent/cancel', 8, { scope: 'session', by, turnId: id })),
  fc.tuple(word, metadata).map(([title, given]) => fact('session/update', 9, { change: { title, metadata: given } })),
)

const condition: fc.Arbitrary<Condition> = fc.oneof(
  messageId.map((id): Condition => ({ kind: 'new-message', messageId: id })),
  fc.uniqueArray(messageId, { maxLength: 2 }).map((messageIds): Condition => ({ kind: 'pending', messageIds })),
  turnId.map((id): Condition => ({ kind: 'turn-live', turnId: id })),
  fc.nat(4).map((below): Condition => ({ kind: 'room', below })),
  fc.nat(6).map((is): Condition => ({ kind: 'seq', is })),
  fc.constantFrom<Condition>({ kind: 'idle' }, { kind: 'no-waking' }, { kind: 'no-steer' }),
)

type Step = (store: Store) => Promise<unknown>
const step = <T>(arbitrary: fc.Arbitrary<T>, run: (store: Store, value: T) => Promise<unknown>): fc.Arbitrary<Step> =>
  // Named, so that a counterexample says what was asked.
  arbitrary.map((value) => Object.assign((store: Store) => run(store, value), { toString: () => fc.stringify(value) }))

const parentId = fc.constantFrom('s', 'p')
const create = fc.record({
  sessionId,
  metadata,
  parentId: fc.option(parentId, { nil: undefined }),
  acquire: fc.option(fc.record({ owner, now, ttlMs }), { nil: undefined }),
})
const commit = fc.record(
  {
    sessionId,
    when: fc.array(condition, { maxLength: 2 }),
    facts: fc.array(newFact, { maxLength: 4 }),
    seen: fc.nat(8),
    acquire: fc.record({ owner, now, ttlMs }),
    epoch,
  },
  { requiredKeys: ['sessionId', 'facts'] },
)
const query: fc.Arbitrary<ListQuery> = fc.record(
  {
    limit: fc.integer({ min: 1, max: 3 }),
    parentId,
    status: fc.constantFrom('running', 'idle'),
    metadata: fc.dictionary(word, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 1 }),
  },
  { requiredKeys: ['limit'] },
)

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: step(create, (store, given) => store.commit(creation(given))) },
  {
    weight: 8,
    arbitrary: step(commit, (store, { epoch: of, ...request }) =>
      store.commit({ ...request, ...(of !== undefined && { lease: { sessionId: request.sessionId, epoch: of } }) }),
    ),
  },
  {
    weight: 3,
    arbitrary: step(
      fc.tuple(sessionId, owner, fc.record({ now, ttlMs, replacing: epoch }, { requiredKeys: ['now', 'ttlMs'] })),
      (store, [id, who, at]) => store.acquire(id, who, at),
    ),
  },
  step(fc.tuple(fc.array(fc.record({ sessionId, epoch }), { maxLength: 3 }), now, ttlMs), (store, [leases, at, ttl]) =>
    store.renew(leases, { now: at, ttlMs: ttl }),
  ),
  step(fc.record({ sessionId, epoch }), (store, lease) => store.release(lease)),
  step(sessionId, (store, id) => store.delete(id)),
  step(sessionId, (store, id) => store.load(id)),
  step(fc.tuple(sessionId, messageId), (store, [id, message]) => store.receiptSeq(id, message)),
  step(fc.tuple(sessionId, fc.nat(9), fc.integer({ min: 1, max: 4 })), (store, [id, after, limit]) => store.read(id, after, limit)),
  step(query, (store, given) => pages(store, given)),
)

function creation(given: {
  sessionId: string
  metadata: Record<string, unknown>
  parentId: string | undefined
  acquire: CommitRequest['acquire'] | undefined
}): CommitRequest {
  const { sessionId: id, parentId: parent, acquire } = given
  const data = { config: configOf({ metadata: given.metadata }), depth: 0, ...(parent !== undefined && { parentId: parent }) }
  return { sessionId: id, when: [{ kind: 'absent' }], facts: [fact('session/create', 1, data)], ...(acquire !== undefined && { acquire }) }
}

/** Every page of a listing, cursors included. */
async function pages(store: Store, given: ListQuery): Promise<unknown[]> {
  const all = []
  for (let cursor: string | undefined; ; ) {
    const page = await store.list({ ...given, ...(cursor !== undefined && { cursor }) })
    all.push(page)
    cursor = page.nextCursor
    if (cursor === undefined) return all
  }
}

/** What a step answers; the two requests here that can't be decided, too: the second one names the store. */
const settled = (answer: Promise<unknown>) =>
  answer.catch((error: unknown) => {
    const why = /two receipts|put back to an older copy/.exec(String(error))
    if (why === null) throw error
    return { thrown: why[0] }
  })

/** A log has no gap, and state and configuration are its fold. */
async function expectWhole(store: Store, id: string): Promise<unknown> {
  const [stored, facts] = [await store.load(id), await store.read(id, 0, 1000)]
  expect(facts.map(({ seq }) => seq)).toEqual(facts.map((_, i) => i + 1))
  const folded = { sessionId: id, config: facts.reduce(applyConfig, null), state: facts.reduce(applyFact, emptyState) }
  expect(stored).toEqual(facts.length === 0 ? null : folded)
  return [stored, facts]
}

describe('any sequence of operations, in bursts of any size', () => {
  it('is answered alike by memory and by SQLite, and leaves whole logs', async () => {
    let runs = 0
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(steps, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 12 }), async (bursts) => {
        runs += 1
        const memory = openMemoryStore()
        const sqlite = await openSqliteStore({ path: directory.path(`${runs}.db`), home: 'inline' })
        for (const burst of bursts) {
          const [expected, actual] = await Promise.all(
            [memory, sqlite].map((store) => Promise.all(burst.map((each) => settled(each(store))))),
          )
          expect(actual).toEqual(expected)
        }
        for (const id of ['s', 't', 'u\0\ud800']) expect(await expectWhole(sqlite, id)).toEqual(await expectWhole(memory, id))
        await Promise.all([memory.close(), sqlite.close()])
      }),
      { numRuns: 60 },
    )
  })

  it('changes nothing where it is refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 5, maxLength: 40 }), async (sequence) => {
        const store = openMemoryStore()
        const all = async () => [
          await pages(store, { limit: 3 }),
          await Promise.all(['s', 't', 'u\0\ud800'].map((id) => expectWhole(store, id))),
        ]
        for (const each of sequence) {
          const before = await all()
          const answer = await settled(each(store))
          const refused = typeof answer === 'object' && answer !== null && ('refused' in answer || 'thrown' in answer)
          if (refused) expect(await all()).toEqual(before)
        }
        await store.close()
      }),
      { numRuns: 60 },
    )
  })
})
