// The SDK against the real runtime, on a store that fails (RE-6): what a caller is told, at the launch, in a run and afterwards.
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Quiesce, type Session, StorageUnavailableError, StoreVersionError, type StreamItem } from '../src/index.ts'

let workspace: string
beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), 'quiesce-faults-'))
})
afterEach(() => rmSync(workspace, { recursive: true, force: true }))

const launch = (path: string) => Quiesce.launch({ model: 'scripted/demo', store: `sqlite:${path}` })

/** A store that a run was made in, changed as SQL says. */
async function changed(path: string, sql: string): Promise<void> {
  const quiesce = await launch(path)
  await (await quiesce.sessions.create({ cwd: workspace })).run('hello')
  await quiesce.close()
  // What the runtime is built with; Node's own isn't there in every version.
  const Database = createRequire(import.meta.url)('libsql')
  const database = new Database(path)
  database.exec(sql)
  database.close()
}

/** A run whose tool waits for the file `go`; it is running when this resolves. */
async function waiting(session: Session) {
  const run = session.stream('Wait for the file go')
  const outcome = run.result.then(
    () => null,
    (error: unknown) => error,
  )
  const items = run[Symbol.asyncIterator]()
  for (;;) {
    const next: IteratorResult<StreamItem> = await items.next()
    if (next.done === true) throw new Error('the run ended before its tool began')
    if (next.value.kind === 'event' && next.value.event.type === 'tool/start') return { outcome }
  }
}

const go = () => writeFileSync(join(workspace, 'go'), '')

describe('a launch on a store that can not be opened', () => {
  it('rejects with a StoreVersionError where a newer runtime wrote it', async () => {
    const path = join(workspace, 'newer.db')
    await changed(path, 'PRAGMA user_version = 9')
    const error = await launch(path).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(StoreVersionError)
    expect(error).toMatchObject({
      message: `the store ${path} has version 9, and this runtime knows up to 1: update quiesce, or name another store`,
      code: 'store_version',
      retryable: false,
      data: { path, found: 9, known: 1 },
    })
  })

  it('rejects with a StorageUnavailableError where it is none', async () => {
    const path = join(workspace, 'directory')
    mkdirSync(path)
    const error = await launch(path).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(StorageUnavailableError)
    expect(error).toMatchObject({
      message: `the store ${path} can not be opened: it is a directory: name a file, for example quiesce.db in it`,
      data: { path },
    })
    await (await launch(join(path, 'quiesce.db'))).close()
  })
})

describe('a store that fails in the midst of a run', () => {
  it('rejects the run and each later prompt with a StorageUnavailableError that says why', async () => {
    const path = join(workspace, 'deleted.db')
    await using quiesce = await launch(path)
    const session = await quiesce.sessions.create({ cwd: workspace, permissions: 'allow-all' })
    const other = await quiesce.sessions.create({ cwd: workspace })
    const { outcome } = await waiting(session)
    const collecting = session.collect((await session.prompt('more')).messageId).catch((error: unknown) => error)
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`)
    go()
    for (const failed of [
      outcome,
      collecting,
      other.run('hello').catch((error: unknown) => error),
      session.prompt('x').catch((error: unknown) => error),
    ]) {
      expect(await failed).toBeInstanceOf(StorageUnavailableError)
      expect(await failed).toMatchObject({
        code: 'storage_unavailable',
        retryable: true,
        message: expect.stringContaining('was deleted while it was open'),
      })
    }
  })

  it('rejects with a StoreVersionError where a newer runtime brought it up meanwhile', async () => {
    const path = join(workspace, 'brought-up.db')
    await using quiesce = await launch(path)
    const session = await quiesce.sessions.create({ cwd: workspace, permissions: 'allow-all' })
    const { outcome } = await waiting(session)
    const Database = createRequire(import.meta.url)('libsql')
    const database = new Database(path)
    database.exec('PRAGMA user_version = 2')
    database.close()
    go()
    expect(await outcome).toBeInstanceOf(StoreVersionError)
    expect(await outcome).toMatchObject({ message: expect.stringContaining('update quiesce, then start it anew') })
    await expect(session.prompt('x')).rejects.toBeInstanceOf(StoreVersionError)
  })
})

/** A small file system at `disk`; false where mounting isn't allowed. */
function mount(disk: string): boolean {
  mkdirSync(disk)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=640k', 'tmpfs', disk], { stdio: 'ignore' })
    return true
  } catch {
    return false
  } finally {
    process.once('exit', () => unmount(disk))
  }
}

function unmount(disk: string): void {
  try {
    execFileSync('umount', ['--lazy', disk], { stdio: 'ignore' })
    rmdirSync(disk)
  } catch {
    // It isn't mounted.
  }
}

function mayMount(): boolean {
  const disk = mkdtempSync(join(tmpdir(), 'quiesce-disk-'))
  const may = mount(join(disk, 'try'))
  unmount(join(disk, 'try'))
  rmSync(disk, { recursive: true, force: true })
  return may
}

describe.skipIf(!mayMount())('a disk that is full (needs the right to mount)', () => {
  let disk: string
  beforeEach(() => {
    disk = join(workspace, 'disk')
    mount(disk)
  })
  afterEach(() => unmount(disk))

  function fill(): void {
    const block = Buffer.alloc(4096)
    try {
      for (;;) appendFileSync(join(disk, 'filler'), block)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
    }
  }

  it('rejects run and prompt, keeps no receipt, and once there is room goes on: the same prompt counts once', async () => {
    await using quiesce = await launch(join(disk, 'store.db'))
    const session = await quiesce.sessions.create({ cwd: workspace, permissions: 'allow-all' })
    const { outcome } = await waiting(session)
    fill()
    go()
    const full = { code: 'storage_unavailable', message: expect.stringContaining('the disk is full: make room, then try again') }
    expect(await outcome).toBeInstanceOf(StorageUnavailableError)
    expect(await outcome).toMatchObject(full)
    const prompt = () => session.prompt('x'.repeat(20_000), { messageId: 'mine' })
    for (const _ of [1, 2]) await expect(prompt()).rejects.toMatchObject(full)
    rmSync(join(disk, 'filler'))
    for (const _ of [1, 2]) expect(await prompt()).toEqual({ messageId: 'mine' })
    const result = await session.collect('mine')
    expect(result.finalResponse).not.toBe('')
    const receipts: string[] = []
    for await (const event of session.events({ after: 0 })) {
      if (event.type === 'inbox/receipt') receipts.push(event.data.message.id)
      if (event.seq === result.events.at(-1)?.seq) break
    }
    expect(receipts).toEqual([expect.any(String), 'mine'])
  })
})
