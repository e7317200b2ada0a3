import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { QueuedStore } from '../queued-store.ts'
import { created, ownerOf, receipt, scratch } from '../store.fixture.ts'
import { type Bundle, bundleStore } from './bundle.fixture.ts'
import { type Child, Children } from './child.fixture.ts'
import { openDatabase } from './driver.ts'
import { migrate, migrations } from './schema.ts'
import { openInlineHome, openSqliteStore } from './sqlite-store.ts'
import { openWorkerHome } from './worker-home.ts'

const directory = scratch()
const children = new Children()
let bundle: Bundle
beforeAll(async () => {
  bundle = await bundleStore()
})
afterEach(() => children.end())
afterAll(() => {
  bundle.remove()
  directory.remove()
})
let path: string
let count = 0
beforeEach(() => {
  count += 1
  path = directory.path(`${count}.db`)
})

/** Changes every row, makes a table and drops one: what is half done shows. */
const step = "UPDATE sessions SET status = 'up'; CREATE TABLE later (x); DROP TABLE messages"

async function filled(): Promise<void> {
  const store = await openSqliteStore({ path, home: 'inline' })
  for (const id of ['a', 'b']) await store.commit(created(id))
  await store.close()
}

/** What a store is, seen by SQLite alone. */
function seen() {
  const database = openDatabase(path)
  const all = (sql: string) =>
    database
      .prepare<{ value: string | number }>(sql)
      .all()
      .map(({ value }) => value)
  const what = {
    version: all('SELECT user_version AS value FROM pragma_user_version')[0],
    status: [...new Set(all('SELECT status AS value FROM sessions'))],
    tables: all("SELECT name AS value FROM sqlite_schema WHERE type = 'table' AND name IN ('later', 'messages')"),
    whole: all('SELECT quick_check AS value FROM pragma_quick_check'),
  }
  database.close()
  return what
}

const before = { version: 1, status: ['idle'], tables: ['messages'], whole: ['ok'] }
const after = { version: 2, status: ['up'], tables: ['later'], whole: ['ok'] }

/** A process that is about to bring the store up, and waits at each statement. */
async function bringing() {
  const child = children.start(bundle, [path, 'bringUp', step])
  expect(await child.says()).toBe('ready')
  return child
}

/** Lets it go on to its end; what it said. */
async function toItsEnd(child: Child): Promise<unknown[]> {
  const said: unknown[] = []
  for (;;) {
    child.tell()
    const what = await child.says()
    if (what === undefined) return said
    said.push(what)
  }
}

describe('a store that is brought up to a newer version', () => {
  it('waits at each statement in the tests below', async () => {
    await filled()
    const mark = expect.stringMatching(/^PRAGMA application_id = /)
    expect(await toItsEnd(await bringing())).toEqual(['BEGIN IMMEDIATE', step, mark, 'PRAGMA user_version = 2', 'COMMIT', 'up'])
    expect(seen()).toEqual(after)
  })

  it.each([1, 2, 3, 4, 5])('is the old one or the new one, whole, where it was killed behind statement %d', async (statements) => {
    await filled()
    const child = await bringing()
    for (let n = 1; n <= statements; n += 1) {
      child.tell()
      await child.says()
    }
    child.kill()
    expect(await child.exited).toBe('SIGKILL')
    const committed = statements === 5
    expect(seen()).toEqual(committed ? after : before)
    const again = openDatabase(path)
    migrate(again, path, [...migrations, step])
    again.close()
    expect(seen()).toEqual(after)
  })

  it('is brought up once, however many do it at the same moment', async () => {
    await filled()
    // It fails where it is done twice.
    const rivals = await Promise.all(Array.from({ length: 6 }, bringing))
    const said = await Promise.all(rivals.map(toItsEnd))
    expect(said.map((each) => each.at(-1))).toEqual(rivals.map(() => 'up'))
    expect(said.filter((each) => each.includes(step))).toHaveLength(1)
    expect(seen()).toEqual(after)
  })
})

describe('a store that another version wrote', () => {
  it.each(['inline', 'worker'] as const)('is written no more by a runtime that had it open: home %s', async (home) => {
    const store = new QueuedStore(home === 'inline' ? openInlineHome(path) : await openWorkerHome(path, bundle.entry('store-worker')))
    await store.commit({ ...created('s'), acquire: { owner: ownerOf('ann'), now: 1000, ttlMs: 1000 } })
    const newer = openDatabase(path)
    migrate(newer, path, [...migrations, 'CREATE TABLE later (x)'])
    newer.close()
    const refused = {
      name: 'Refusal',
      code: 'store_version',
      retryable: false,
      message: `the store ${path} was brought to version 2 by another runtime, and is open here with version 1: update quiesce, then start it anew`,
      details: { path, found: 2, known: 1 },
    }
    await expect(store.commit({ sessionId: 's', facts: [receipt('m')] })).rejects.toMatchObject(refused)
    await expect(store.renew([{ sessionId: 's', epoch: 1 }], { now: 1500, ttlMs: 1000 })).rejects.toMatchObject(refused)
    await expect(store.delete('s')).rejects.toMatchObject(refused)
    expect(await store.read('s', 0, 9)).toHaveLength(1)
    await store.close()
    await expect(openSqliteStore({ path, home: 'inline' })).rejects.toMatchObject({
      code: 'store_version',
      message: `the store ${path} has version 2, and this runtime knows up to 1: update quiesce, or name another store`,
    })
  })

  it('is not touched by one that is too old for it', async () => {
    await filled()
    const newer = openDatabase(path)
    migrate(newer, path, [...migrations, step])
    newer.close()
    await expect(openSqliteStore({ path, home: 'inline' })).rejects.toMatchObject({ code: 'store_version' })
    expect(seen()).toEqual(after)
  })
})
