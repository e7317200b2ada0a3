import { copyFileSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Home } from '../home.ts'
import { QueuedStore } from '../queued-store.ts'
import { created, receipt, scratch } from '../store.fixture.ts'
import { type Bundle, bundleStore } from './bundle.fixture.ts'
import { Children } from './child.fixture.ts'
import { openDatabase } from './driver.ts'
import { openInlineHome } from './sqlite-store.ts'
import { openWorkerHome } from './worker-home.ts'

const directory = scratch()
let bundle: Bundle
beforeAll(async () => {
  bundle = await bundleStore()
})
afterAll(() => {
  bundle.remove()
  directory.remove()
})

const homes: Record<string, (path: string) => Promise<Home>> = {
  inline: async (path) => openInlineHome(path),
  worker: (path) => openWorkerHome(path, bundle.entry('store-worker')),
}

let count = 0
let path: string
beforeEach(() => {
  count += 1
  path = directory.path(`${count}.db`)
})

/** A store with a session `s` of two facts, and the means to make a third. */
async function opened(home = 'inline') {
  const open = homes[home]
  if (open === undefined) throw new Error(`no home ${home}`)
  const store = new QueuedStore(await open(path))
  await store.commit(created('s'))
  await store.commit({ sessionId: 's', facts: [receipt('kept')] })
  return { store, commit: () => store.commit({ sessionId: 's', facts: [receipt('refused')] }) }
}

const lost = (file: string, what: RegExp) => ({
  code: 'storage_unavailable',
  message: expect.stringMatching(new RegExp(`^the store ${path} failed: ${file} ${what.source} while it was open`)),
  details: { path, file },
})

describe.each(['inline', 'worker'])('a file that goes away under an open store, home %s (IN-1, RE-6)', (home) => {
  it.each(['', '-wal', '-shm'])('is noticed where it is deleted (%s)', async (suffix) => {
    const { store, commit } = await opened(home)
    rmSync(`${path}${suffix}`)
    for (const _ of [1, 2]) await expect(commit()).rejects.toMatchObject(lost(`${path}${suffix}`, /was deleted/))
    await store.close()
  })
})

describe('a file that changes under an open store (IN-1, RE-6)', () => {
  it.each(['', '-wal', '-shm'])('is noticed where another one took its place (%s)', async (suffix) => {
    const { store, commit } = await opened()
    copyFileSync(`${path}${suffix}`, `${path}.copy`)
    renameSync(`${path}.copy`, `${path}${suffix}`)
    await expect(commit()).rejects.toMatchObject(lost(`${path}${suffix}`, /was replaced by another file/))
    await store.close()
  })

  it.each([0, 4096])('is noticed where it is cut to %d bytes, whatever SQLite makes of that', async (size) => {
    const first = await opened()
    await first.store.commit({ sessionId: 's', facts: [receipt('large', 'followup', 'x'.repeat(100_000))] })
    await first.store.close()
    const database = openDatabase(path)
    database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all()
    database.close()
    const store = new QueuedStore(openInlineHome(path))
    truncateSync(path, size)
    const committing = store.commit({ sessionId: 's', facts: [receipt('refused')] })
    await expect(committing).rejects.toMatchObject(lost(path, new RegExp(`was cut from \\d+ to ${size} bytes`)))
    await store.close()
  })

  it('is noticed where its whole directory went', async () => {
    path = directory.path(`${count}/in/store.db`)
    const { store, commit } = await opened()
    rmSync(directory.path(`${count}`), { recursive: true })
    writeFileSync(directory.path(`${count}`), '')
    await expect(commit()).rejects.toMatchObject(lost(path, /was deleted/))
    await store.close()
  })

  it('is as it was once it was only moved and is back; what was refused meanwhile is not kept', async () => {
    const { store, commit } = await opened()
    renameSync(path, `${path}.away`)
    await expect(commit()).rejects.toMatchObject(lost(path, /was deleted/))
    renameSync(`${path}.away`, path)
    expect(await commit()).toMatchObject({ ok: true, first: 3, last: 3 })
    await store.close()
  })
})

describe('a store behind a symbolic link', () => {
  it.each(['-wal', '-shm'])('is noticed where what lies beside the file itself is deleted (%s)', async (suffix) => {
    const file = directory.path(`${count}-real.db`)
    symlinkSync(file, path)
    const { store, commit } = await opened()
    rmSync(`${file}${suffix}`)
    await expect(commit()).rejects.toMatchObject(lost(`${file}${suffix}`, /was deleted/))
    await store.close()
  })

  it('goes on in the file that was opened where the link leads elsewhere now', async () => {
    const [file, other] = [directory.path(`${count}-real.db`), directory.path(`${count}-other.db`)]
    symlinkSync(file, path)
    const { store, commit } = await opened()
    rmSync(path)
    symlinkSync(other, path)
    expect(await commit()).toMatchObject({ ok: true, first: 3 })
    const second = new QueuedStore(openInlineHome(path))
    expect(await second.load('s')).toBeNull()
    const first = new QueuedStore(openInlineHome(file))
    expect(await first.read('s', 0, 9)).toHaveLength(3)
    await Promise.all([store, second, first].map((each) => each.close()))
  })
})

describe('a store that was put back to an older copy while it was open (IN-1, RE-6)', () => {
  /** Two facts, then a backup of them, then three more. */
  async function backedUp() {
    const { store, commit } = await opened()
    const backup = directory.path(`${count}-backup.db`)
    const database = openDatabase(path)
    database.exec(`VACUUM INTO '${backup}'`)
    database.close()
    await store.commit({ sessionId: 's', facts: ['a', 'b', 'c'].map((id) => receipt(id)) })
    return { store, commit, backup }
  }

  it('is noticed where the file was replaced', async () => {
    const { store, commit, backup } = await backedUp()
    renameSync(backup, path)
    await expect(commit()).rejects.toMatchObject(lost(path, /was replaced by another file/))
    await store.close()
  })

  it('is noticed where the file was written over', async () => {
    const { store, commit, backup } = await backedUp()
    const database = openDatabase(path)
    database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all()
    database.exec('CREATE TABLE more (x); INSERT INTO more VALUES (zeroblob(100000))')
    database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all()
    database.close()
    await store.commit({ sessionId: 's', facts: [receipt('d')] })
    copyFileSync(backup, path)
    await expect(commit()).rejects.toMatchObject(lost(path, /was cut from \d+ to \d+ bytes/))
    await store.close()
  })

  it('is noticed where SQLite itself put the rows back, for each session that was seen further on; the file is left as it is', async () => {
    const { store, backup } = await backedUp()
    const database = openDatabase(path)
    const tables = ['sessions', 'configs', 'messages', 'facts']
    const restored = tables.map((table) => `DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM backup.${table}`)
    database.exec(`ATTACH '${backup}' AS backup; BEGIN IMMEDIATE; ${restored.join('; ')}; COMMIT`)
    database.close()
    const message = `the store ${path} was put back to an older copy while it was open: session s ends at fact 2 there, and fact 5 was seen. Start the runtime anew`
    const seen = { sessionId: 's', facts: [receipt('d')], seen: 5 }
    await expect(store.commit(seen)).rejects.toMatchObject({
      code: 'storage_unavailable',
      message,
      details: { path, sessionId: 's', seq: 2 },
    })
    const other = store.commit(created('other'))
    await expect(store.commit(seen)).rejects.toMatchObject({ message })
    expect(await other).toMatchObject({ ok: true })
    expect((await store.load('s'))?.state.pending.map(({ id }) => id)).toEqual(['kept'])
    await store.close()
  })
})

describe('a store that another process deletes and makes anew', () => {
  it('is two stores from then on: the old one takes nothing more, the new one knows nothing of it', async () => {
    const children = new Children()
    const old = children.start(bundle, [path, 'commit', 'late'])
    const { store } = await opened()
    expect(await old.says()).toBe('open')
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`)
    const fresh = new QueuedStore(openInlineHome(path))
    await fresh.commit(created('s'))
    old.tell()
    expect(await old.says()).toMatch(/db failed: .*\.db was replaced by another file while it was open, so nothing more is written to it/)
    await expect(store.commit({ sessionId: 's', facts: [receipt('x')] })).rejects.toMatchObject(lost(path, /was replaced by another file/))
    expect(await fresh.read('s', 0, 9)).toHaveLength(1)
    await Promise.all([store.close(), fresh.close(), children.end()])
  })
})
