import { copyFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Home } from '../home.ts'
import { QueuedStore } from '../queued-store.ts'
import { created, receipt, scratch } from '../store.fixture.ts'
import { type Bundle, bundleStore } from './bundle.fixture.ts'
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
