import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase } from '../store/sqlite/driver.ts'
import { Executable, type Process } from './executable.fixture.ts'

let quiesce: Executable
beforeAll(async () => {
  quiesce = await Executable.build()
}, 60_000)
afterAll(() => quiesce.remove())

const demo = ['run', '--model', 'scripted/demo', 'hello']
const request = (id: number, method: string, params: unknown = {}) => `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`
const hello = request(1, 'initialize', { protocol: { min: 1, max: 1 }, client: { name: 't', version: '0' } })

/** Whether a process that was started with this in its environment still runs. */
function survivors(mark: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(mark)
    } catch {
      return false
    }
  })
}

async function gone(mark: string): Promise<void> {
  // A killed process is gone when the system gets to it; the watchdog of the test bounds this.
  while (survivors(mark).length > 0) await new Promise(setImmediate)
}

/** A script whose turn runs a shell command that never ends, and one in the background. */
const stubborn = [{ tool: { name: 'shell', input: { command: 'sleep 1000 & echo started > started; exec sleep 1000' } } }, { text: 'done' }]

describe('quiesce run', () => {
  it('answers, exits 0, and leaves stdin alone, also where it is an open pipe (CLI-3)', async () => {
    const running = quiesce.start(demo)
    const { status, stdout, stderr } = await running.ended
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toMatch(/hello/)
  })

  it('names the three ways to set a model where there is none, and exits 2', async () => {
    const { status, stdout, stderr } = await quiesce.run(['run', 'hello'])
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(/--model/)
    expect(stderr).toMatch(/QUIESCE_MODEL/)
    expect(stderr).toMatch(/quiesce\.yaml/)
  })

  it('exits 5 where the store can not be opened', async () => {
    const { status, stderr } = await quiesce.run(demo, { QUIESCE_STORE: 'sqlite:/dev/null/store.db' })
    expect(status).toBe(5)
    expect(stderr).toMatch(/^quiesce: .*\/dev\/null\/store\.db/)
  })

  it('RE-6: exits 5 and says so where the store is damaged', async () => {
    const path = join(quiesce.home, 'damaged.db')
    const env = { QUIESCE_STORE: `sqlite:${path}` }
    expect((await quiesce.run(demo, env)).status).toBe(0)
    const database = openDatabase(path)
    database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all()
    database.close()
    // All but SQLite's own header.
    writeFileSync(path, readFileSync(path).fill(0xee, 100))
    const { status, stdout, stderr } = await quiesce.run(demo, env)
    expect({ status, stdout }).toEqual({ status: 5, stdout: '' })
    expect(stderr).toMatch(/^quiesce: the store .*damaged\.db failed: its contents are damaged: move the file away/)
  })

  it('goes on with its session in another process', async () => {
    const first = JSON.parse((await quiesce.run([...demo, '--output', 'json'])).stdout)
    const second = JSON.parse((await quiesce.run([...demo, '--output', 'json', '--session', first.sessionId])).stdout)
    expect(second.sessionId).toBe(first.sessionId)
    expect(second.events[0].seq).toBe(first.events.at(-1).seq + 1)
  })

  it('writes all of a long answer before it exits', async () => {
    const model = quiesce.script('long', [{ text: `${'x'.repeat(2_000_000)}end` }])
    const { status, stdout } = await quiesce.run(['run', '--model', model, 'go'])
    expect(status).toBe(0)
    expect(stdout.length).toBe(2_000_004)
  })

  it('CLI-4: exits 3 and says nothing where nobody reads stdout', async () => {
    const model = quiesce.script('long2', [{ text: 'x'.repeat(2_000_000) }])
    const running = quiesce.start(['run', '--model', model, 'go'])
    running.child.stdout?.destroy()
    expect(await running.ended).toMatchObject({ status: 3, stderr: '', signal: null })
  })

  it.each([
    'run --model scripted/demo hi',
    'run --model scripted/demo --output json hi',
    'run --model scripted/demo --output jsonl hi',
    'doctor --model scripted/demo',
    'run --help',
  ])('CLI-4: exits 5 and says so where its answer can not be written: %s', async (args) => {
    const { status, stderr } = await quiesce.shell(`quiesce ${args} >/dev/full`)
    expect(status).toBe(5)
    expect(stderr).toMatch(/^quiesce: stdout could not be written, and what was printed is not whole: ENOSPC.*\n$/)
  })

  it('CLI-4: exits 5 where only the beginning of its answer was taken', async () => {
    const model = quiesce.script('long3', [{ text: 'x'.repeat(200_000) }])
    // Blocks of 1,024 bytes, for every file that it writes.
    const { status, stderr } = await quiesce.shell(`ulimit -f 100; quiesce run --store memory: --model ${model} go >whole`)
    expect(stderr).toMatch(/^quiesce: stdout could not be written.*EFBIG/)
    expect(status).toBe(5)
    expect(statSync(join(quiesce.home, 'whole')).size).toBe(102_400)
  })

  it('CLI-4: exits 2 where stdin was to say the prompt, and is empty', async () => {
    const { status, stdout, stderr } = await quiesce.run(['run', '--model', 'scripted/demo', '-'])
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(/^quiesce: no prompt: stdin said nothing/)
  })

  it.each([1, 2])('CLI-5: leaves no process behind after signal %d', async (signals) => {
    const mark = `QUIESCE_TEST_MARK_${signals}=${process.pid}`
    const [name = '', value = ''] = mark.split('=')
    const model = quiesce.script(`stubborn${signals}`, stubborn)
    const running = quiesce.start(['run', '--model', model, '--permissions', 'allow-all', '--output', 'jsonl', 'go'], {
      [name]: value,
      TERM: mark,
    })
    await running.says('stdout', /tool\/start/)
    expect(survivors(mark)).not.toEqual([])
    running.child.kill('SIGINT')
    if (signals === 2) running.child.kill('SIGINT')
    const { status, signal } = await running.ended
    expect({ status, signal }).toEqual({ status: 3, signal: null })
    await gone(mark)
  })

  it('loads only what it needs: no full zod, AI SDK, pino or YAML', async () => {
    const loaded = await loadedBy(demo)
    expect(loaded.filter((file) => /pino|openai-compatible|worker/.test(file))).toEqual([])
    const text = loaded.map((file) => readFileSync(file, 'utf8')).join('')
    expect(loaded).toHaveLength(2)
    const signs = ['ZodMiniObject', 'fromJSONSchema', 'AI_APICallError', 'sonic-boom', 'YAMLParseError']
    expect(signs.filter((sign) => text.includes(sign))).toEqual(['ZodMiniObject'])
  })
})

/** The files of the bundle that a command loads. */
async function loadedBy(args: readonly string[]): Promise<string[]> {
  const coverage = join(quiesce.home, 'coverage')
  await quiesce.run(args, { NODE_V8_COVERAGE: coverage })
  const reports = readdirSync(coverage).map((file) => readFileSync(join(coverage, file), 'utf8'))
  const folder = join(quiesce.bundle, '..')
  return readdirSync(folder)
    .map((file) => join(folder, file))
    .filter((file) => reports.some((report) => report.includes(JSON.stringify(pathToFileURL(file).href))))
}

async function serve(env: Record<string, string> = {}): Promise<Process> {
  const running = quiesce.start(['serve', '--stdio'], { QUIESCE_MODEL: 'scripted/demo', ...env })
  running.child.stdin?.write(hello)
  await running.says('stdout', /"id":1,"result"/)
  return running
}

describe('quiesce serve --stdio', () => {
  it('exits 0 at the end of stdin, also in the middle of a frame', async () => {
    for (const rest of ['', '{"jsonrpc":"2.0",']) {
      const running = await serve()
      running.child.stdin?.end(rest)
      expect(await running.ended).toMatchObject({ status: 0, signal: null, stderr: '' })
    }
  })

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('ends in good order at %s, and takes its tools along (FR-5, RE-7)', async (signal) => {
    const mark = `serve-${signal}-${process.pid}`
    const running = await serve({ QUIESCE_MODEL: quiesce.script(`serve-${signal}`, stubborn), TERM: mark })
    running.child.stdin?.write(request(2, 'session/create', { sessionId: mark, cwd: quiesce.home, permissions: 'allow-all' }))
    running.child.stdin?.write(request(3, 'session/subscribe', { sessionId: mark }))
    running.child.stdin?.write(request(4, 'session/prompt', { sessionId: mark, content: 'go' }))
    await running.says('stdout', /tool\/start/)
    running.child.kill(signal)
    expect(await running.ended).toMatchObject({ status: 0, signal: null })
    expect(running.stdout).toMatch(/"kind":"interrupted"/)
    await gone(mark)
  })

  it('RE-6: refuses a prompt that the store has no room for, without a receipt, and serves on', async () => {
    const requests = [
      hello,
      request(2, 'session/create', { sessionId: 'full', cwd: quiesce.home }),
      request(3, 'session/prompt', { sessionId: 'full', content: 'x'.repeat(1_000_000) }),
      request(4, 'session/events', { sessionId: 'full' }),
      request(5, 'session/prompt', { sessionId: 'full', content: 'small', delivery: 'inject' }),
    ]
    writeFileSync(join(quiesce.home, 'requests'), requests.join(''))
    // Blocks of 1,024 bytes, for every file that it writes.
    const { stdout, status } = await quiesce.shell('ulimit -f 500; quiesce serve --stdio <requests', {
      QUIESCE_STORE: `sqlite:${quiesce.home}/full.db`,
      QUIESCE_MODEL: 'scripted/demo',
    })
    const answers = stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
    const answer = (id: number) => answers.find((each) => each.id === id)
    expect(answer(3).error).toMatchObject({
      message: expect.stringMatching(
        /full\.db failed: it could not be read or written: the disk failed, or a quota or a limit on the size of files/,
      ),
      data: { code: 'storage_unavailable', retryable: true },
    })
    expect(answer(4).result.events).toMatchObject([{ type: 'session/create' }])
    expect(answer(5).result).toMatchObject({ messageId: expect.stringMatching(/./) })
    expect(status).toBe(0)
  })

  it('ends what a killed runtime left running before it goes on with its turn (RE-2)', async () => {
    const mark = `serve-killed-${process.pid}`
    const model = quiesce.script('killed', [...stubborn.slice(0, 1), { text: 'went on' }])
    const env = { QUIESCE_MODEL: model, QUIESCE_STORE: `sqlite:${quiesce.home}/killed.db`, TERM: mark }
    const first = await serve(env)
    first.child.stdin?.write(request(2, 'session/create', { sessionId: mark, cwd: quiesce.home, permissions: 'allow-all' }))
    first.child.stdin?.write(request(3, 'session/subscribe', { sessionId: mark }))
    first.child.stdin?.write(request(4, 'session/prompt', { sessionId: mark, content: 'go' }))
    await first.says('stdout', /tool\/start/)
    while (survivors(mark).length < 3) await new Promise(setImmediate)
    first.child.kill('SIGKILL')
    await first.ended
    const second = await serve({ ...env, TERM: 'another' })
    second.child.stdin?.write(request(2, 'session/subscribe', { sessionId: mark, after: 0, activate: true }))
    await second.says('stdout', /went on/)
    await gone(mark)
    second.child.stdin?.end()
    expect(await second.ended).toMatchObject({ status: 0 })
    expect(second.stdout).toMatch(/tool_outcome_unknown/)
  })

  it('answers shutdown and then exits 0 by itself', async () => {
    const running = await serve()
    running.child.stdin?.write(request(2, 'shutdown'))
    const { status, stdout } = await running.ended
    expect(status).toBe(0)
    expect(stdout).toMatch(/"id":2,"result":\{\}/)
  })

  it('says on stderr what keeps it from starting, and nothing on stdout', async () => {
    const { status, stdout, stderr } = await quiesce.run(['serve', '--stdio'], { QUIESCE_LOG: 'loud' })
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(/QUIESCE_LOG/)
  })

  it('FR-5: stdout carries frames only, whatever a module prints', async () => {
    const noisy = `data:text/javascript,${encodeURIComponent(
      "import fs from 'node:fs'; import { isMainThread } from 'node:worker_threads'; if (isMainThread) setInterval(() => { console.log('noise'); process.stdout.write('noise'); fs.writeSync(1, 'noise') }, 1)",
    )}`
    const running = quiesce.start(['serve', '--stdio'], { QUIESCE_MODEL: 'scripted/demo' }, ['--import', noisy])
    running.child.stdin?.write(hello)
    await running.says('stdout', /"id":1,"result"/)
    const from = running.stdout.indexOf('{"jsonrpc"')
    for (let id = 2; id < 50; id += 1) running.child.stdin?.write(request(id, 'server/ping'))
    await running.says('stdout', /"id":49,"result"/)
    running.child.stdin?.end()
    const { stdout, stderr } = await running.ended
    expect({ inFrames: stdout.slice(from).includes('noise'), onStderr: stderr.includes('noise') }).toEqual({
      inFrames: false,
      onStderr: true,
    })
  })
})

describe('what is loaded late, in the bundle', () => {
  it('reads quiesce.yaml and a script in YAML', async () => {
    const folder = join(quiesce.home, 'configured')
    mkdirSync(folder)
    writeFileSync(join(folder, 'quiesce.yaml'), 'model: scripted/configured/s.yaml\n')
    writeFileSync(join(folder, 's.yaml'), '- text: from the script\n')
    expect(await quiesce.run(['run', '--cwd', folder, 'hello'])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/quiesce\.yaml:1: model: .* it plays a script/),
    })
    const trusted = await quiesce.run(['run', '--cwd', folder, 'hello'], { QUIESCE_TRUST: folder })
    expect(trusted).toMatchObject({ status: 0, stdout: 'from the script\n' })
    writeFileSync(join(folder, 'quiesce.yaml'), 'modle: x\n')
    expect(await quiesce.run(['run', '--cwd', folder, 'hello'])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/quiesce\.yaml:1/),
    })
  })

  it('logs as lines of JSON on stderr, and only what the level asks for', async () => {
    const told = await serve({ QUIESCE_LOG: 'info', QUIESCE_STORE: 'memory:' })
    told.child.stdin?.end()
    const lines = (await told.ended).stderr.trim().split('\n')
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual([expect.objectContaining({ msg: 'serving on stdio', store: 'memory:' })])
    const silent = await serve({ QUIESCE_STORE: 'memory:' })
    silent.child.stdin?.end()
    expect((await silent.ended).stderr).toBe('')
  })
})

describe('quiesce doctor', () => {
  it('shows each value with its source, and no secret', async () => {
    const { status, stdout } = await quiesce.run(['doctor'], { QUIESCE_MODEL: 'scripted/demo', DEEPSEEK_API_KEY: 'sk-secret' })
    expect(status).toBe(0)
    expect(stdout).toMatch(/store +sqlite:.*store\.db\s+\(from QUIESCE_STORE\)\n +opens: (node:sqlite|libsql), version \d+/)
    expect(stdout).toMatch(/model +scripted\/demo \(from QUIESCE_MODEL\)/)
    expect(stdout).toMatch(/log level +warn \(by default\)/)
    expect(stdout).toMatch(/key: DEEPSEEK_API_KEY, set/)
    expect(stdout).toMatch(/key: OPENAI_COMPATIBLE_API_KEY, not set/)
    expect(stdout).not.toContain('sk-secret')
  })

  it('exits 1 where something is missing, and says what', async () => {
    const { status, stdout } = await quiesce.run(['doctor', '--json'], { QUIESCE_STORE: 'sqlite:/dev/null/store.db' })
    expect(status).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      healthy: false,
      model: { value: null },
      store: { opens: false, problem: expect.stringMatching(/./) },
    })
  })
})

it('says plainly that it does not run on Windows', async () => {
  const windows = `data:text/javascript,${encodeURIComponent("Object.defineProperty(process, 'platform', { value: 'win32' })")}`
  const running = quiesce.start(['run', 'x'], {}, ['--import', windows])
  expect(await running.ended).toMatchObject({ status: 5, stdout: '', stderr: expect.stringMatching(/does not run on Windows/) })
  expect(existsSync(join(quiesce.home, 'store.db'))).toBe(true)
})
