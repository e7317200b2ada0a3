import { type ChildProcess, spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { applyFact, emptyState } from '../../log/session-state.ts'
import { created, ownerOf, receipt, scratch } from '../store.fixture.ts'
import { type Bundle, bundleStore } from './bundle.fixture.ts'
import { openSqliteStore } from './sqlite-store.ts'
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

const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

function start(path: string, home: string, task: string, name: string, from: Bundle = bundle) {
  const child = spawn(process.execPath, [fileURLToPath(from.entry('store-child')), path, home, task, name], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  children.push(child)
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const exited = new Promise<number | string | null>((resolve) => child.once('close', (code, signal) => resolve(code ?? signal)))
  const next = async (): Promise<unknown> => {
    const line = await lines.next()
    return line.done === true ? undefined : JSON.parse(line.value)
  }
  return { child, next, exited, stderr: () => stderr }
}

describe.each(['inline', 'worker'])('a killed process, home %s (RE-1)', (home) => {
  it('loses nothing that was answered, and keeps no half of a commit', async () => {
    const path = directory.path(`killed-${home}.db`)
    const { child, next, exited } = start(path, home, 'commitForever', 's')
    let answered = 0
    while (answered < 120) answered = Number(await next())
    child.kill('SIGKILL')
    for (let seq = await next(); seq !== undefined; seq = await next()) answered = Number(seq)
    expect(await exited).toBe('SIGKILL')

    const store = await openSqliteStore({ path, home: 'inline' })
    const facts = await store.read('s', 0, 100_000)
    const last = facts.at(-1)?.seq ?? 0
    expect(last).toBeGreaterThanOrEqual(answered)
    expect(facts.map(({ seq }) => seq)).toEqual(Array.from({ length: last }, (_, i) => i + 1))
    expect((last - 1) % 3).toBe(0)
    expect((await store.load('s'))?.state).toEqual(facts.reduce(applyFact, emptyState))
    expect(await store.receiptSeq('s', 'm1-2')).toBe(4)
    expect(await store.commit({ sessionId: 's', facts: [receipt('after')] })).toMatchObject({ ok: true, first: last + 1 })
    await store.close()
  })
})

describe('several processes on one file (RE-4)', () => {
  it('let exactly one win: a lease, a message id, an idle agent, a new session', async () => {
    const path = directory.path('raced.db')
    const rivals = ['ann', 'bob', 'cy'].map((name, i) => start(path, i === 0 ? 'worker' : 'inline', 'race', name))
    expect(await Promise.all(rivals.map(({ next }) => next()))).toEqual(['ready', 'ready', 'ready'])
    const store = await openSqliteStore({ path, home: 'inline' })
    const losses = ['held', 'known-message', 'unmet', 'exists']
    for (let round = 0; round < 15; round += 1) {
      await Promise.all([`r${round}`, `r${round}-message`, `r${round}-idle`].map((id) => store.commit(created(id))))
      for (const { child } of rivals) child.stdin?.write(`r${round}\n`)
      const results = await Promise.all(rivals.map(({ next }) => next()))
      for (const [i, lost] of losses.entries()) {
        const outcomes = results.map((result) => (Array.isArray(result) ? String(result[i]) : ''))
        expect(outcomes.sort()).toEqual(['ok', lost, lost].sort())
      }
      expect(await store.acquire(`r${round}`, ownerOf('dee'), { now: 1000, ttlMs: 1 })).toMatchObject({ holder: { epoch: 1 } })
      expect(await store.read(`r${round}-idle`, 1, 9)).toHaveLength(1)
    }
    for (const { child } of rivals) child.stdin?.end()
    expect(await Promise.all(rivals.map(({ exited }) => exited))).toEqual([0, 0, 0])
    await store.close()
  })

  it('make a new store once, however many open it at the same moment', async () => {
    const path = directory.path('new/by/many.db')
    const rivals = ['a', 'b', 'c', 'd'].map((name) => start(path, 'inline', 'leaveOpen', name))
    expect(await Promise.all(rivals.map(({ next }) => next()))).toEqual([true, true, true, true])
    const store = await openSqliteStore({ path, home: 'inline' })
    expect((await store.list({ limit: 9 })).sessions).toHaveLength(4)
    await store.close()
  })

  it('see what another handle committed, at once', async () => {
    const path = directory.path('two-handles.db')
    const [one, two] = await Promise.all([1, 2].map(() => openSqliteStore({ path, home: 'inline' })))
    if (one === undefined || two === undefined) throw new Error('two stores')
    await one.commit(created('s'))
    for (let i = 0; i < 20; i += 1) {
      const [from, to] = i % 2 === 0 ? [one, two] : [two, one]
      await from.commit({ sessionId: 's', facts: [receipt(`m${i}`)] })
      expect((await to.load('s'))?.state.pending).toHaveLength(i + 1)
      expect(await to.commit({ sessionId: 's', when: [{ kind: 'room', below: i + 1 }], facts: [] })).toMatchObject({ refused: 'unmet' })
    }
    await Promise.all([one.close(), two.close()])
  })
})

describe('the thread of a store', () => {
  it.each(['inline', 'worker'])('holds no process at rest (home %s)', async (home) => {
    const { next, exited } = start(directory.path(`left-${home}.db`), home, 'leaveOpen', 's')
    expect(await next()).toBe(true)
    expect(await exited).toBe(0)
  })

  it('says why it could not open its file', async () => {
    const opening = openWorkerHome(directory.path(''), bundle.entry('store-worker'))
    await expect(opening).rejects.toMatchObject({
      data: { code: 'storage_unavailable', message: expect.stringMatching(/it is a directory/) },
    })
  })

  it('answers every call with a fault once it is gone', async () => {
    const home = await openWorkerHome(directory.path('gone.db'), bundle.entry('store-worker'))
    const lost = [home.call('this is no call'), home.call('{"ask":{"kind":"stats"}}')]
    const fault = { data: { code: 'storage_unavailable', message: expect.stringMatching(/gone\.db failed: its thread is gone/) } }
    for (const each of lost) await expect(each).rejects.toMatchObject(fault)
    await Promise.all([home.close(), home.close()])
    await expect(home.call('{"ask":{"kind":"stats"}}')).rejects.toMatchObject(fault)
  })

  it('is not waited for once its store is closed', async () => {
    // It closes, and then goes on until it is told otherwise.
    const source = `import { parentPort } from 'node:worker_threads'
      const told = new BroadcastChannel('end-of-thread')
      told.onmessage = () => { told.close(); parentPort.close() }
      parentPort.on('message', (message) => message === null && parentPort.postMessage({ closed: true }))
      parentPort.postMessage({ opened: true })`
    const home = await openWorkerHome(directory.path('slow.db'), new URL(`data:text/javascript,${encodeURIComponent(source)}`))
    await Promise.all([home.close(), home.close()])
    const tell = new BroadcastChannel('end-of-thread')
    tell.postMessage('end')
    tell.close()
    await expect(home.call('{"ask":{"kind":"stats"}}')).rejects.toMatchObject({ data: { code: 'storage_unavailable' } })
  })

  it('starts without the schemas of the wire', () => {
    const inputs = bundle.inputs('store-worker')
    expect(inputs).toContain('runtime/src/store/perform.ts')
    expect(inputs.filter((input) => /zod|schema\/src/.test(input))).toEqual([])
  })
})

describe('the driver', () => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const hasOwn = major > 22 || (major === 22 && minor >= 13)

  it('is the one of Node where there is one, else libsql', async () => {
    const store = await openSqliteStore({ path: directory.path('driver.db'), home: 'inline' })
    expect((await store.stats()).driver).toBe(hasOwn ? 'node:sqlite' : 'libsql')
    await store.close()
  })

  it('says what would be right where there is none', async () => {
    const alone = await bundleStore(tmpdir())
    const { next, exited, stderr } = start(directory.path('none.db'), 'inline', 'leaveOpen', 's', alone)
    const said = await next()
    const code = await exited
    alone.remove()
    if (hasOwn) return expect([said, code, stderr()]).toEqual([true, 0, ''])
    expect([said, code]).toEqual([undefined, 1])
    expect(stderr()).toMatch(/no SQLite here: Node \S+ brings none .* Use Node 22\.13 or newer, or install libsql beside quiesce/)
  })
})
