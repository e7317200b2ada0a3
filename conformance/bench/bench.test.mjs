import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { optionsFrom } from './bench.mjs'
import { Driver, endAll, onLine, start, timed } from './processes.mjs'
import { contest, median, shuffled } from './statistics.mjs'
import { tableOf, verdictOf } from './table.mjs'

const script = (name) => fileURLToPath(new URL(name, import.meta.url))
const env = { PATH: process.env.PATH }
const endings = []

afterEach(async () => {
  await endAll()
  for (const end of endings.splice(0)) end()
})

function directory() {
  const path = mkdtempSync(join(tmpdir(), 'quiesce-bench-test-'))
  endings.push(() => rmSync(path, { recursive: true, force: true }))
  return path
}

async function startModel() {
  const model = start([process.execPath, script('instant-model.mjs')], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const port = await new Promise((resolve) => onLine(model.stdout, resolve))
  return `http://127.0.0.1:${port}/v1`
}

describe('the floor', () => {
  for (const way of ['http', 'provider']) {
    it(`answers a prompt by ${way} once it is on disk, and ends at idle`, async () => {
      const log = join(directory(), 'floor.log')
      const floor = start([process.execPath, script('floor.mjs'), log, await startModel(), way], {
        env,
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      const say = (id, method, params) => floor.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
      const frames = []
      let onDisk
      const idle = new Promise((resolve) => {
        onLine(floor.stdout, (line) => {
          const frame = JSON.parse(line)
          frames.push(frame)
          if (frame.id === 1) {
            const { sessionId } = frame.result.session
            say(2, 'session/subscribe', { sessionId, subscriptionId: 's', after: 'now' })
            say(3, 'session/prompt', { sessionId, messageId: 'm', content: 'Hello' })
          }
          if (frame.id === 3) onDisk = readFileSync(log, 'utf8')
          if (frame.params?.event.data.status === 'idle') resolve()
        })
      })
      say(1, 'session/create', {})
      await idle
      const events = frames.filter(({ method }) => method === 'session.event').map(({ params }) => params.event)
      expect(onDisk).toContain('"inbox/receipt"')
      expect(frames.find(({ id }) => id === 3).result).toEqual({ messageId: 'm' })
      expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
      expect(events[5].data.content).toEqual([{ type: 'text', text: 'The answer comes at once.' }])
      expect(readFileSync(log, 'utf8').trimEnd().split('\n').map(JSON.parse)).toEqual(events)
    })
  }
})

describe('the instant model', () => {
  const ask = async (baseURL, body) => (await fetch(`${baseURL}/chat/completions`, { method: 'POST', body: JSON.stringify(body) })).text()

  it('asks for a tool once per user message, where its name says so', async () => {
    const baseURL = await startModel()
    const user = { role: 'user', content: 'Go' }
    const tool = { role: 'tool', content: 'done' }
    expect(await ask(baseURL, { model: 'instant', messages: [user] })).toContain('"finish_reason":"stop"')
    expect(await ask(baseURL, { model: 'instant-tool', messages: [user] })).toContain('"finish_reason":"tool_calls"')
    expect(await ask(baseURL, { model: 'instant-tool', messages: [user, tool] })).toContain('"finish_reason":"stop"')
    expect(await ask(baseURL, { model: 'instant-tool', messages: [user, tool, user] })).toContain('"finish_reason":"tool_calls"')
  })
})

describe('processes', () => {
  it('kills the whole group of a process that does not end with its stdin', async () => {
    const child = start(['sh', '-c', 'sleep 600 & echo $!; exec sleep 600'], { env, stdio: ['pipe', 'pipe', 'inherit'] })
    const inner = Number(await new Promise((resolve) => onLine(child.stdout, resolve)))
    await endAll(0)
    expect(child.signalCode).toBe('SIGKILL')
    expect(stateOf(inner)).toMatch(/^(gone|Z)/)
  })

  it('says what a command that failed said', async () => {
    await expect(timed(['sh', '-c', 'echo no >&2; exit 3'], { env })).rejects.toThrow('ended with 3: no')
  })

  it('says why a driver that ended did so, and fails what waits for it', async () => {
    const driver = new Driver('a driver', ['sh', '-c', 'read line; echo broken >&2; exit 4'], { env })
    await expect(driver.ask('anything')).rejects.toThrow('a driver ended with 4: broken')
  })

  it('leaves nothing behind when the bench is stopped', async () => {
    const scratch = directory()
    const bench = spawn(process.execPath, [script('bench.mjs'), '--only', 'warm', '--runtime', script('floor.mjs')], {
      env: { ...env, TMPDIR: scratch },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    bench.stderr.once('data', () => bench.kill('SIGINT'))
    const [code] = await once(bench, 'close')
    expect(code).toBe(130)
    expect(readdirSync(scratch)).toEqual([])
  })
})

function stateOf(pid) {
  try {
    return /^State:\s+(\S)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]
  } catch {
    return 'gone'
  }
}

describe('the arithmetic', () => {
  it('takes medians', () => {
    expect(median([3, 1, 2])).toBe(2)
    expect(median([4, 1, 2, 3])).toBe(2.5)
    expect(() => median([])).toThrow('nothing')
  })

  it('shuffles without loss', () => {
    const order = shuffled([1, 2, 3, 4], () => 0)
    expect(order).toEqual([2, 3, 4, 1])
    expect([...order].sort()).toEqual([1, 2, 3, 4])
  })

  it('lets every contestant run once per round, and takes the median of the medians', async () => {
    const ran = []
    const round = (name, figures) => async () => {
      ran.push(name)
      return [figures[ran.filter((other) => other === name).length - 1]]
    }
    const found = await contest(3, { a: round('a', [1, 9, 2]), b: round('b', [5, 5, 5]) }, () => 0)
    expect(ran).toEqual(['b', 'a', 'b', 'a', 'b', 'a'])
    expect(found).toEqual({ a: { value: 2, rounds: [1, 9, 2] }, b: { value: 5, rounds: [5, 5, 5] } })
  })
})

describe('the report', () => {
  const about = { node: 'v20', cores: 2, fileSystem: 'ext4', loads: [0, 0], rounds: 5, seconds: 1 }

  it('holds a figure to its bound, by ratio or by itself', () => {
    expect(verdictOf({ value: 7, ratios: { R: 3 }, bound: { of: 'R', most: 3 } })).toBe('ok')
    expect(verdictOf({ value: 7, ratios: { R: 3.1 }, bound: { of: 'R', most: 3 } })).toBe('over')
    expect(verdictOf({ value: 3, bound: { most: 2 } })).toBe('over')
    expect(verdictOf({ value: 3 })).toBeUndefined()
  })

  it('says plainly what failed, what was not measured, and that syncs on tmpfs are none', () => {
    const rows = [
      { what: 'one', error: 'it broke\n at x' },
      { what: 'two', note: 'strace is not installed here' },
      { what: 'three', value: 4, unit: '', bound: { most: 2 } },
    ]
    const table = tableOf(rows, { ...about, fileSystem: 'tmpfs' })
    expect(table).toMatch(/^one +failed +it broke$/m)
    expect(table).toMatch(/^two +— +strace is not installed here$/m)
    expect(table).toMatch(/^three +4 +≤ 2 +over$/m)
    expect(table).toContain('no sync is real')
    expect(table).toContain('1 over its sanity bound')
  })

  it('refuses options that mean nothing', () => {
    expect(optionsFrom(['--quick'])).toMatchObject({ rounds: 3, quick: true })
    expect(optionsFrom(['--only', 'cold', '--rounds', '9'])).toMatchObject({ only: ['cold'], rounds: 9 })
    expect(() => optionsFrom(['--only', 'hot'])).toThrow('expected one of warm')
    expect(() => optionsFrom(['--rounds', 'many'])).toThrow('whole number')
  })
})
