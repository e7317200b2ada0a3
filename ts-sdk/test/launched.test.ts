// The SDK against a process: what it does when a runtime is well, when it isn't, and that it leaves none behind.
import { Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { ConnectionClosedError, type LaunchOptions, ProtocolError, Quiesce } from '../src/index.ts'
import { type Grace, RuntimeProcess } from '../src/process.ts'
import { fixture, RuntimeWatch } from './watch.ts'

let watch: RuntimeWatch
beforeEach(async () => {
  watch = await RuntimeWatch.listen()
})
afterEach(() => watch.close())

const options = (mode: string, more: LaunchOptions = {}): LaunchOptions => ({
  runtime: fixture,
  ...more,
  env: { ...watch.env(mode), ...more.env },
})
const launch = (mode: string, more?: LaunchOptions) => Quiesce.launch(options(mode, more))

describe('a runtime that is well', () => {
  it.each(['good', 'split', 'facts-first'])('runs and is closed: %s', async (mode) => {
    const quiesce = await launch(mode)
    const session = await quiesce.sessions.create()
    const result = await session.run('hello')
    expect(result.finalResponse).toBe('Grüße, 🧭\u2028!')
    expect(result.events.map(({ type }) => type)).toContain('unknown')
    await quiesce.close()
    await watch.allGone()
  })

  it('may send a frame of megabytes', async () => {
    await using quiesce = await launch('huge')
    const session = await quiesce.sessions.create()
    expect((await session.run('hello')).finalResponse).toBe('ü'.repeat(4_000_000))
  })

  it('gets its directory and environment, and a variable that is undefined is left out', async () => {
    process.env.FIXTURE_MODEL = 'from/outside'
    try {
      await using quiesce = await launch('good', { cwd: '/' })
      expect(await quiesce.models()).toEqual([{ model: 'from/outside', provider: '/', available: true }])
      await using other = await launch('good', { env: { FIXTURE_MODEL: undefined } })
      expect((await other.models())[0]?.model).toBe('none')
    } finally {
      delete process.env.FIXTURE_MODEL
    }
  })

  it('gets in one write what is sent in one tick', async () => {
    await using quiesce = await launch('good')
    const alone = vi.spyOn(Socket.prototype, '_write')
    const together = vi.spyOn(Socket.prototype, '_writev')
    onTestFinished(() => void vi.restoreAllMocks())
    await Promise.all([quiesce.ping(), quiesce.ping(), quiesce.ping()])
    expect(together.mock.calls.map(([chunks]) => chunks.length)).toEqual([3])
    expect(alone).not.toHaveBeenCalled()
  })

  it('is started once by a hundred first calls, and not before the first', async () => {
    await using quiesce = new Quiesce(options('good'))
    const { sessions } = quiesce
    expect(watch.launched).toBe(0)
    await Promise.all(Array.from({ length: 50 }, () => [quiesce.ping(), sessions.create()]).flat())
    expect(watch.launched).toBe(1)
  })

  it('leaves nothing after fifty launches', async () => {
    for (let round = 0; round < 10; round++) {
      await Promise.all(
        Array.from({ length: 5 }, async () => {
          await using quiesce = await launch('good')
          await (await quiesce.sessions.create()).run('hello')
        }),
      )
    }
    expect(watch.launched).toBe(50)
    await watch.allGone()
  }, 60_000)
})

describe('a runtime that is not', () => {
  it('rejects the launch with its exit code and the end of its stderr', async () => {
    const lines: string[] = []
    await expect(launch('dies-at-once', { onStderr: (line) => lines.push(line) })).rejects.toMatchObject({
      name: 'ConnectionClosedError',
      exitCode: 3,
      signal: null,
      stderr: 'the store is on fire',
      message: 'the runtime exited with code 3; the end of its stderr:\nthe store is on fire (while initialize was waiting for its answer)',
    })
    expect(lines).toEqual(['the store is on fire'])
  })

  it('rejects a run, and everything later, when it dies in the middle (RUN-10)', async () => {
    const quiesce = await launch('dies-mid-run')
    const session = await quiesce.sessions.create()
    await expect(session.run('hello')).rejects.toMatchObject({ name: 'ConnectionClosedError', exitCode: 7, stderr: 'panic: out of cheese' })
    await expect(quiesce.ping()).rejects.toMatchObject({ exitCode: 7 })
    await quiesce.close()
    await using again = await launch('good')
    expect(await again.ping()).toBeUndefined()
  })

  it('is ended where it writes to stdout what is no frame', async () => {
    await expect(launch('banner')).rejects.toThrow(ProtocolError)
    await expect(launch('banner')).rejects.toThrow('"Welcome to the runtime!"')
    await watch.allGone()
  })

  it('is ended where it closes its stdout, so that nobody waits for an answer', async () => {
    const quiesce = await launch('closes-stdout')
    await expect(quiesce.ping()).rejects.toMatchObject({ exitCode: null, message: expect.stringContaining('closed its stdout') })
    await watch.allGone()
  })

  it('is not waited for longer than the limit, and not left', async () => {
    await expect(launch('silent', { requestTimeoutMs: 50 })).rejects.toMatchObject({ name: 'RequestTimeoutError', method: 'initialize' })
    await watch.allGone()
  })

  it('is ended by close() also before it has greeted; the next call says why', async () => {
    const quiesce = new Quiesce(options('silent'))
    const ping = quiesce.ping()
    ping.catch(() => {})
    await watch.said(/^pid/)
    await quiesce.close()
    await expect(ping).rejects.toThrow(ConnectionClosedError)
    await expect(quiesce.ping()).rejects.toThrow('close() was called')
    await watch.allGone()
  })

  it('may be tried again where it could not be started', async () => {
    const env = watch.env('good')
    const quiesce = new Quiesce({ runtime: fixture, env })
    const { FIXTURE } = env
    env.FIXTURE = 'dies-at-once'
    await expect(quiesce.ping()).rejects.toMatchObject({ exitCode: 3 })
    env.FIXTURE = FIXTURE ?? 'good'
    expect(await quiesce.ping()).toBeUndefined()
    await quiesce.close()
  })
})

describe('closing', () => {
  /** A runtime that is started, and the signals that it is sent. */
  async function spawned(mode: string, grace: Partial<Grace> = {}) {
    const plan = { command: process.execPath, args: [fixture], cwd: '/', env: { ...process.env, ...watch.env(mode) } }
    const runtime = await RuntimeProcess.spawn(plan, undefined, { stdin: 5000, term: 5000, kill: 5000, pipes: 5000, ...grace })
    const ended = new Promise<Error>((resolve) => runtime.start({ frame: () => {}, ended: resolve }))
    await watch.said(/^pid/)
    const kill = vi.spyOn(process, 'kill')
    onTestFinished(() => kill.mockRestore())
    const signals = () => kill.mock.calls.map(([pid, signal]) => (pid === -(runtime.pid ?? 0) ? signal : pid))
    return { runtime, ended, signals }
  }

  it('needs no signal where the end of stdin is enough; what is left of the group is killed', async () => {
    const { runtime, ended, signals } = await spawned('good')
    await runtime.stop()
    expect(await ended).toMatchObject({ exitCode: 0, signal: null, stderr: '' })
    expect(signals()).toEqual(['SIGKILL'])
  })

  it('goes on to SIGTERM', async () => {
    const { runtime, ended, signals } = await spawned('closes-stdout', { stdin: 20 })
    await runtime.stop()
    expect(await ended).toMatchObject({ exitCode: 4 })
    expect(signals()).toEqual(['SIGTERM', 'SIGKILL'])
  })

  it('goes on to SIGKILL, and says what ended it', async () => {
    const { runtime, ended, signals } = await spawned('deaf', { stdin: 20, term: 20 })
    await Promise.all([runtime.stop(), runtime.stop()])
    expect(await ended).toMatchObject({ exitCode: null, signal: 'SIGKILL', message: expect.stringContaining('was ended by SIGKILL') })
    expect(signals()).toEqual(['SIGTERM', 'SIGKILL', 'SIGKILL'])
    await watch.allGone()
  })

  it('takes along what the runtime left in its process group', async () => {
    const { runtime, ended } = await spawned('leaves-a-child')
    await watch.said('child')
    await runtime.stop()
    expect(await ended).toMatchObject({ exitCode: 0 })
    await watch.allGone()
  })

  it('rejects the runs under way at once', async () => {
    const quiesce = await launch('waits')
    const run = (await quiesce.sessions.create()).run('hello')
    run.catch(() => {})
    await watch.said('prompted')
    await quiesce.close()
    await expect(run).rejects.toMatchObject({ name: 'ConnectionClosedError', message: 'close() was called' })
    await quiesce.close()
    await watch.allGone()
  })

  it('needs no start', async () => {
    const quiesce = new Quiesce(options('good'))
    await quiesce.close()
    await expect(quiesce.sessions.create()).rejects.toThrow('close() was called')
    expect(watch.launched).toBe(0)
  })
})
