import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SmallDisk } from '../store/sqlite/small-disk.fixture.ts'
import { Executable, type Process } from './executable.fixture.ts'
import { demo, expectLine, type Frame, framesOf, hello, request } from './serve-frames.fixture.ts'

let quiesce: Executable
beforeAll(async () => {
  quiesce = await Executable.build()
}, 60_000)
afterAll(() => quiesce.remove())

describe.skipIf(!SmallDisk.isAllowed())('RE-6: a disk that is full (needs the right to mount)', () => {
  let disks = 0
  async function onDisk<T>(kib: number, work: (disk: SmallDisk, env: Record<string, string>) => Promise<T>): Promise<T> {
    const disk = SmallDisk.mount(kib)
    disks += 1
    const gates = join(quiesce.home, `gates-${disks}`)
    mkdirSync(gates)
    try {
      const model = quiesce.script(`full-${disks}`, script)
      return await work(disk, { QUIESCE_STORE: `sqlite:${disk.path('store.db')}`, QUIESCE_MODEL: model, QUIESCE_GATES: gates })
    } finally {
      disk.remove()
    }
  }

  /** A long answer behind a gate, then a tool call, then another answer. */
  const script = [
    { gate: 'first', text: 'x'.repeat(100_000), tool: { name: 'shell', input: { command: 'echo worked' } } },
    { gate: 'second', text: 'at its end' },
    { text: 'more' },
  ]
  const full = /the disk is full: make room, then try again/

  it('keeps run, serve and doctor from opening a store, and hurts none', async () => {
    await onDisk(512, async (disk, env) => {
      disk.fill()
      const run = await quiesce.run(demo, env)
      expect(run.status).toBe(5)
      expectLine(run.stderr, disk.path('store.db'), full)
      const serve = await quiesce.shell(`quiesce serve --stdio <<<'${hello.trimEnd()}'`, env)
      expect(serve.status).toBe(5)
      expect(framesOf(serve.stdout)).toMatchObject([
        { error: { message: expect.stringMatching(full), data: { code: 'storage_unavailable' } } },
      ])
      const doctor = await quiesce.run(['doctor', '--json'], env)
      expect(doctor.status).toBe(1)
      expect(JSON.parse(doctor.stdout).store).toMatchObject({ opens: false, problem: expect.stringMatching(full) })
      disk.empty()
      expect((await quiesce.run(demo, env)).status).toBe(0)
    })
  })

  it('fails a run in its midst with a line that says so; the same session goes on once there is room', async () => {
    await onDisk(512, async (disk, env) => {
      const running = quiesce.start(['run', '--permissions', 'allow-all', '--output', 'jsonl', 'go'], env)
      await running.says('stdout', /step\/start/)
      disk.fill()
      writeFileSync(join(env.QUIESCE_GATES ?? '', 'first'), '')
      const { status, stdout, stderr } = await running.ended
      expect(status).toBe(5)
      expect(stderr).toMatch(/^quiesce: the store \S+store\.db failed: the disk is full: make room, then try again/m)
      expect(stderr).not.toMatch(/ {4}at /)
      const [{ sessionId }] = stdout
        .trim()
        .split('\n')
        .map((line): { sessionId: string } => JSON.parse(line)) as [{ sessionId: string }]
      disk.empty()
      writeFileSync(join(env.QUIESCE_GATES ?? '', 'second'), '')
      const again = await quiesce.run(['run', '--permissions', 'allow-all', '--session', sessionId, 'go on'], env)
      expect(again.status).toBe(0)
    })
  })

  /** A server with a session `s` that is followed; the model stands before its first word. */
  async function serving(env: Record<string, string>): Promise<Process> {
    const running = quiesce.start(['serve', '--stdio'], env)
    running.child.stdin?.write(hello)
    running.child.stdin?.write(request(2, 'session/create', { sessionId: 's', cwd: quiesce.home, permissions: 'allow-all' }))
    running.child.stdin?.write(request(3, 'session/subscribe', { sessionId: 's' }))
    running.child.stdin?.write(request(4, 'session/prompt', { sessionId: 's', content: 'go', messageId: 'go' }))
    await running.says('stdout', /step\/start/)
    return running
  }

  const answer = async (running: Process, id: number, method: string, params: unknown): Promise<Frame | undefined> => {
    running.child.stdin?.write(request(id, method, params))
    await running.says('stdout', new RegExp(`"id":${id},`))
    return framesOf(running.stdout).find((frame) => frame.id === id)
  }

  it.each(['goes on in the same runtime', 'goes on in the next one, the first being killed'])(
    'stops the agent in its midst, and refuses prompts without a receipt; with room it %s',
    async (how) => {
      await onDisk(640, async (disk, env) => {
        const first = await serving(env)
        disk.fill()
        writeFileSync(join(env.QUIESCE_GATES ?? '', 'first'), '')
        await first.says('stdout', /session\.closed/)
        const closed = framesOf(first.stdout).find(({ method }) => method === 'session.closed')
        expect(closed?.params).toMatchObject({
          reason: 'storage',
          error: { message: expect.stringMatching(full), data: { code: 'storage_unavailable', retryable: true } },
        })
        const prompt = { sessionId: 's', content: 'y'.repeat(50_000), messageId: 'again' }
        for (const id of [5, 6]) {
          const refused = await answer(first, id, 'session/prompt', prompt)
          expect(refused?.error).toMatchObject({
            message: expect.stringMatching(full),
            data: { code: 'storage_unavailable', retryable: true },
          })
        }
        const facts = (await answer(first, 7, 'session/events', { sessionId: 's' }))?.result?.events as { type: string }[]
        expect(facts.map(({ type }) => type)).toEqual([
          'session/create',
          'inbox/receipt',
          'agent/status',
          'turn/start',
          'inbox/admitted',
          'step/start',
        ])
        let running = first
        if (how.includes('killed')) {
          first.child.kill('SIGKILL')
          await first.ended
          disk.empty()
          running = quiesce.start(['serve', '--stdio'], env)
          running.child.stdin?.write(hello)
        } else disk.empty()
        writeFileSync(join(env.QUIESCE_GATES ?? '', 'second'), '')
        for (const id of [8, 9]) expect((await answer(running, id, 'session/prompt', prompt))?.result).toEqual({ messageId: 'again' })
        expect(
          (await answer(running, 10, 'session/subscribe', { sessionId: 's', after: 0, activate: true, subscriptionId: 'all' }))?.result,
        ).toBeDefined()
        await running.says('stdout', /"session\.status","params":\{"subscriptionId":"all"[^\n]*"status":"idle"/)
        running.child.stdin?.end()
        const { stdout, stderr, status } = await running.ended
        expect(status).toBe(0)
        const events = framesOf(stdout).flatMap(({ params }) => (params?.event === undefined ? [] : [params.event]))
        const log = events.slice(events.findLastIndex(({ seq }) => seq === 1))
        expect(log.map(({ seq }) => seq)).toEqual(log.map((_, i) => i + 1))
        const count = (type: string) => log.filter((each) => each.type === type).length
        expect([count('inbox/receipt'), count('inbox/admitted'), count('tool/result')]).toEqual([2, 2, 1])
        expect(log.filter(({ type }) => type === 'turn/end')[0]).toMatchObject({ data: { reason: { kind: 'interrupted' } } })
        // A line for the session, and one for the leases: however often it failed.
        expect(stderr.split('\n').filter((line) => line.includes('s stopped'))).toHaveLength(how.includes('killed') ? 0 : 1)
        expect(stderr).not.toContain('    at ')
      })
    },
    30_000,
  )
})
