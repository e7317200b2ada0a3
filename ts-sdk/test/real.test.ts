// The SDK against the real runtime, with the scripted demo model: what a caller meets.
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type LaunchOptions, Quiesce, RunAbortedError, type Session, type SessionEvent, type StreamItem } from '../src/index.ts'

const demo: LaunchOptions = { model: 'scripted/demo', store: 'memory:' }

let quiesce: Quiesce
let workspace: string

beforeAll(async () => {
  quiesce = await Quiesce.launch(demo)
}, 30_000)
afterAll(() => quiesce.close())
beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), 'quiesce-real-'))
})
afterEach(() => rmSync(workspace, { recursive: true, force: true }))

const create = () => quiesce.sessions.create({ cwd: workspace, permissions: 'allow-all' })
const types = (events: readonly SessionEvent[]) => events.map(({ type }) => type)
const isEvent = (type: string) => (item: StreamItem) => item.kind === 'event' && item.event.type === type

async function until<T>(items: AsyncIterable<T>, wanted: (item: T) => boolean): Promise<T> {
  for await (const item of items) if (wanted(item)) return item
  throw new Error('it ended before')
}

/** A run whose tool waits for the file `go`; it is running when this resolves. */
async function waiting(session: Session, signal?: AbortSignal) {
  const run = session.stream('Wait for the file go', signal === undefined ? {} : { signal })
  await until(run, isEvent('tool/start'))
  return run
}

const go = () => writeFileSync(join(workspace, 'go'), '')

describe('a run', () => {
  it('gives the whole interval of a plain prompt (RUN-2 to RUN-5)', async () => {
    const session = await create()
    const result = await session.run('What is up?', { metadata: { ticket: 7 } })
    expect(result.finalResponse).toContain('You asked: "What is up?"')
    expect(types(result.events)).toEqual([
      'inbox/receipt',
      'agent/status',
      'turn/start',
      'inbox/admitted',
      'step/start',
      'assistant/message',
      'step/end',
      'turn/end',
      'agent/status',
    ])
    expect(result.events[0]).toMatchObject({ sessionId: session.id, data: { message: { id: result.messageId, metadata: { ticket: 7 } } } })
    expect(result.usage.outputTokens).toBeGreaterThan(0)
    expect(await session.messages()).toMatchObject([{ role: 'user' }, { role: 'assistant', content: result.finalMessage?.content }])
    expect(await session.status()).toMatchObject({ status: 'idle', waitingOn: [], seq: result.events.at(-1)?.seq })
  })

  it('uses tools, and can be watched', async () => {
    writeFileSync(join(workspace, 'notes.txt'), 'Buy milk\n')
    const session = await create()
    const run = session.stream('Which files are here, and what do they say?')
    const items: StreamItem[] = []
    for await (const item of run) items.push(item)
    const { events, finalResponse } = await run.result
    expect(finalResponse).toContain('notes.txt says: "Buy milk"')
    expect(types(events)).toContain('tool/result')
    expect(items.flatMap((item) => (item.kind === 'event' ? [item.event] : []))).toEqual(events)
    const last = items.findLastIndex(isEvent('step/start'))
    const pieces = items.slice(last).flatMap((item) => (item.kind === 'delta' ? [item.text] : []))
    expect(pieces.length).toBeGreaterThan(1)
    expect(pieces.join('')).toBe(finalResponse)
  })

  it('is steered, and the steer can be collected (IN-5)', async () => {
    const session = await create()
    const run = await waiting(session)
    const { messageId } = await session.steer('British spelling, please')
    go()
    const result = await run.result
    expect(result.finalResponse).toContain('British spelling, please')
    expect(await session.collect(messageId)).toMatchObject({ messageId, finalResponse: result.finalResponse })
  })

  it('ends like any other when its turn is cancelled (CAN-1)', async () => {
    const session = await create()
    const run = await waiting(session)
    expect(await session.cancel()).toMatchObject({ cancelled: true })
    const { events } = await run.result
    expect(events.findLast(({ type }) => type === 'turn/end')).toMatchObject({ data: { reason: { kind: 'cancelled' } } })
  })

  it('stops its work when it is aborted (RUN-9)', async () => {
    const session = await create()
    const stop = new AbortController()
    const run = await waiting(session, stop.signal)
    stop.abort()
    const error = await run.result.catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(RunAbortedError)
    expect(error).toMatchObject({ outcome: 'cancelled', lastStatus: 'running', partial: { messageId: run.messageId } })
    const { events } = await session.collect(run.messageId)
    expect(events.at(-1)).toMatchObject({ type: 'agent/status', data: { status: 'idle' } })
  })

  it('refuses to join where it is told to, and a message that waits can be withdrawn (RUN-8, IN-8)', async () => {
    const session = await create()
    const run = await waiting(session)
    await expect(session.run('Me too', { onBusy: 'reject' })).rejects.toMatchObject({ name: 'SessionBusyError', retryable: true })
    const { messageId } = await session.prompt('Later')
    expect(await session.withdraw(messageId)).toBe(true)
    expect(await session.withdraw(messageId)).toBe(false)
    go()
    expect(types((await run.result).events)).toContain('inbox/cancelled')
  })

  it('shares its idle with those that overlap it; each begins at its own receipt (RUN-8)', async () => {
    const session = await create()
    const first = await waiting(session)
    const others = Array.from({ length: 20 }, (_, n) => session.run(`message ${n}`))
    await until(
      session.events({ after: 0 }),
      (
        (seen) => (event: SessionEvent) =>
          event.type === 'inbox/receipt' && ++seen === 21
      )(0),
    )
    go()
    const results = await Promise.all([first.result, ...others])
    expect(new Set(results.map(({ events }) => events.at(-1)?.seq)).size).toBe(1)
    for (const { events, messageId } of results)
      expect(events[0]).toMatchObject({ type: 'inbox/receipt', data: { message: { id: messageId } } })
  })

  it('of an injected message there is none (RUN-1, IN-6)', async () => {
    const session = await create()
    const { messageId } = await session.inject('By the way')
    await expect(session.collect(messageId)).rejects.toThrow('it is an inject message')
    await session.run('Hello')
    expect(types((await session.run('Again')).events)).not.toContain('inbox/cancelled')
  })
})

describe('sessions', () => {
  it('are created, found, listed, changed and deleted', async () => {
    const session = await quiesce.sessions.create({
      sessionId: `mine-${process.pid}`,
      cwd: workspace,
      title: 'One',
      metadata: { a_b: [1] },
    })
    expect(await session.describe()).toMatchObject({ sessionId: session.id, title: 'One', metadata: { a_b: [1] }, cwd: workspace })
    expect(await session.update({ title: 'Two' })).toMatchObject({ title: 'Two', metadata: { a_b: [1] } })
    expect((await quiesce.sessions.get(session.id)).id).toBe(session.id)
    expect((await quiesce.sessions.list({ metadata: { a_b: [1] } })).sessions.map(({ sessionId }) => sessionId)).toEqual([session.id])
    await expect(quiesce.sessions.create({ sessionId: session.id })).rejects.toMatchObject({ name: 'SessionExistsError' })
    await quiesce.sessions.delete(session.id)
    await expect(quiesce.sessions.get(session.id)).rejects.toMatchObject({ name: 'SessionNotFoundError' })
    await expect(session.run('Anybody?')).rejects.toMatchObject({ name: 'SessionNotFoundError' })
  })

  it('refuse what is wrong, each with its class', async () => {
    const session = await create()
    await session.prompt('One', { messageId: 'm-1' })
    expect(await session.prompt('One', { messageId: 'm-1' })).toEqual({ messageId: 'm-1' })
    await expect(session.prompt('Two', { messageId: 'm-1' })).rejects.toMatchObject({ name: 'MessageConflictError' })
    await expect(session.collect('m-2')).rejects.toMatchObject({ name: 'MessageNotFoundError' })
    await expect(session.prompt('')).rejects.toMatchObject({ name: 'RpcError', code: 'invalid_params', rpcCode: -32602 })
    await expect(quiesce.sessions.create({ cwd: workspace, model: 'nobody/nothing' })).rejects.toMatchObject({ name: 'UnknownModelError' })
  })

  it('end their readers when they are deleted (SUB-5)', async () => {
    const session = await create()
    const reading = until(session.events({ after: 0 }), () => false)
    reading.catch(() => {})
    const run = await waiting(session)
    run.result.catch(() => {})
    await quiesce.sessions.delete(session.id)
    await expect(run.result).rejects.toMatchObject({ name: expect.stringMatching(/SessionNotFoundError|FencedError/) })
    await expect(reading).rejects.toMatchObject({ name: expect.stringMatching(/SessionNotFoundError|FencedError/) })
  })

  it('give their facts: history, then live, from anywhere (SUB-1)', async () => {
    const session = await create()
    const { events, messageId } = await session.run('Hello')
    const isIdle = (event: SessionEvent) => event.type === 'agent/status' && event.data.status === 'idle'
    const seen: SessionEvent[] = []
    await until(session.events({ from: { messageId } }), (event) => seen.push(event) > 0 && isIdle(event))
    expect(seen).toEqual(events)
    const live = until(session.events({ after: events.at(-1)?.seq ?? 0 }), isIdle)
    const again = await session.run('Hello again')
    expect((await live).seq).toBe(again.events.at(-1)?.seq)
  })

  it('of a runtime are told with its models and tools', async () => {
    expect((await quiesce.models()).map(({ model }) => model)).toContain('scripted/demo')
    expect((await quiesce.tools()).map(({ name }) => name)).toContain('read_file')
    const session = await quiesce.sessions.create({ cwd: workspace, tools: ['read_*'] })
    expect((await quiesce.tools({ sessionId: session.id })).map(({ name }) => name)).toEqual(['read_file'])
  })
})

describe('a store on disk', () => {
  const options = (more: LaunchOptions = {}): LaunchOptions => ({
    ...demo,
    store: `sqlite:${join(workspace, 'store.db')}`,
    cwd: workspace,
    ...more,
  })

  it('gives another process the same result (RUN-1)', async () => {
    const first = await Quiesce.launch(options())
    const session = await first.sessions.create()
    const result = await session.run('Hello')
    await first.close()
    await using second = await Quiesce.launch(options())
    expect(await (await second.sessions.get(session.id)).collect(result.messageId)).toEqual(result)
  }, 30_000)

  it('outlives a runtime that is killed, and the run goes on (RE-1, RE-2)', async () => {
    const pidFile = join(workspace, 'pid')
    const wrapper = join(workspace, 'runtime.sh')
    const bin = fileURLToPath(new URL('../../runtime/bin/quiesce.js', import.meta.url))
    writeFileSync(wrapper, `#!/bin/sh\necho $$ > '${pidFile}'\nexec '${process.execPath}' '${bin}' "$@"\n`)
    chmodSync(wrapper, 0o755)
    const first = await Quiesce.launch(options({ runtime: wrapper }))
    const session = await first.sessions.create({ permissions: 'allow-all' })
    const run = await waiting(session)
    process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL')
    await expect(run.result).rejects.toMatchObject({ name: 'ConnectionClosedError', signal: 'SIGKILL' })
    await first.close()
    go()
    await using second = await Quiesce.launch(options())
    const result = await (await second.sessions.get(session.id)).collect(run.messageId)
    expect(types(result.events)).toContain('turn/end')
    expect(result.waitingOn).toEqual([])
  }, 30_000)
})
