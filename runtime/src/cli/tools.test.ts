import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Executable } from './executable.fixture.ts'

let quiesce: Executable
beforeAll(async () => {
  quiesce = await Executable.build()
  mkdirSync(join(quiesce.home, 'src'))
  writeFileSync(join(quiesce.home, 'src/a.ts'), 'one\ntwo\n')
  writeFileSync(join(quiesce.home, 'src/endless.md'), `${'a'.repeat(200)}b\n`)
}, 60_000)
afterAll(() => quiesce.remove())

/** Outside of the sessions' directory, which is the home. */
const cache = () => ({ XDG_CACHE_HOME: join(quiesce.home, '../cache') })
const keptFiles = () => {
  const root = join(cache().XDG_CACHE_HOME, 'quiesce/outputs')
  return existsSync(root) ? readdirSync(root, { recursive: true, encoding: 'utf8' }).map((path) => join(root, path)) : []
}

interface Result {
  content: string
  isError: boolean
}

/** What the tools of one step answer, in the order of the calls. */
async function results(name: string, tools: readonly { name: string; input: unknown }[], ...args: string[]): Promise<Result[]> {
  const model = quiesce.script(name, [{ tools }, { text: 'done' }])
  const { status, stdout, stderr } = await quiesce.run(['run', '--model', model, '--output', 'json', ...args, 'go'], cache())
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return resultsIn(JSON.parse(stdout).events)
}

function resultsIn(events: readonly { type: string; data: Result & { callId: string } }[]): Result[] {
  const order = events.flatMap(({ type, data }) => (type === 'tool/call' ? [data.callId] : []))
  const found = new Map(events.flatMap(({ type, data }) => (type === 'tool/result' ? [[data.callId, data] as const] : [])))
  return order.map((callId) => {
    const { content = '', isError = true } = found.get(callId) ?? {}
    return { content, isError }
  })
}

it('CB-5: searches in a read-only session, several at once, in the threads of the bundle', async () => {
  const tools = [
    { name: 'glob', input: { pattern: '**/*.ts' } },
    { name: 'grep', input: { pattern: 'TWO', ignoreCase: true, path: 'src', glob: '*.ts' } },
    { name: 'grep', input: { pattern: 'tw[o' } },
    { name: 'glob', input: { pattern: 'src/*' } },
  ]
  expect(await results('search', tools, '--permissions', 'read-only')).toEqual([
    { content: 'src/a.ts', isError: false },
    { content: 'src/a.ts:2:two', isError: false },
    { content: expect.stringContaining('Unterminated character class, at character 5'), isError: true },
    { content: 'src/a.ts\nsrc/endless.md', isError: false },
  ])
  expect(keptFiles()).toEqual([])
})

it('TU-8: a search that never ends is cancelled at once, and the process ends', async () => {
  const model = quiesce.script('endless', [{ tool: { name: 'grep', input: { pattern: '^(a+)+$', path: 'src' } } }, { text: 'done' }])
  const running = quiesce.start(['run', '--model', model, '--output', 'jsonl', 'go'])
  await running.says('stdout', /tool\/start/)
  running.child.kill('SIGINT')
  const { status, stdout } = await running.ended
  expect(status).toBe(3)
  const facts = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(facts.find(({ type }) => type === 'tool/result')?.data.error.code).toBe('tool_cancelled')
})

it('a long output is kept where the next turn can read it, and goes with its session', async () => {
  const first = quiesce.script('long-output', [{ tool: { name: 'shell', input: { command: 'seq 1 20000' } } }, { text: 'done' }])
  const { stdout } = await quiesce.run(['run', '--model', first, '--permissions', 'allow-all', '--output', 'json', 'go'], cache())
  const { sessionId, events } = JSON.parse(stdout)
  const path = /the whole output is kept in (\S+); see more/.exec(resultsIn(events)[0]?.content ?? '')?.[1] ?? ''
  expect(keptFiles()).toContain(path)
  expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(20_001)
  const again = [
    { name: 'read_file', input: { path, offset: 12_345, limit: 1 } },
    { name: 'grep', input: { path, pattern: '^1999[0-9]$', limit: 1 } },
  ]
  const others = await results('other-session', again)
  for (const { content } of others) expect(content).toContain("is outside the session's roots")
  quiesce.script('long-output', [{ text: 'unused' }, { text: 'unused' }, { tools: again }, { text: 'done' }])
  const later = await quiesce.run(['run', '--session', sessionId, '--output', 'json', 'go'], cache())
  const [line, found] = resultsIn(JSON.parse(later.stdout).events)
  expect(line?.content.split('\n')[0]).toBe('12345\t12345')
  expect(found?.content.split('\n')[0]).toBe(`${path}:19990:19990`)
  const serving = quiesce.start(['serve', '--stdio'], cache())
  const request = (id: number, method: string, params: unknown) =>
    serving.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
  request(1, 'initialize', { protocol: { min: 1, max: 1 }, client: { name: 't', version: '0' } })
  request(2, 'session/delete', { sessionId })
  await serving.says('stdout', /"id":2/)
  serving.child.stdin?.end()
  await serving.ended
  expect(keptFiles()).toEqual([])
})

it('an output that the disk does not take is told, and leaves nothing', async () => {
  const model = quiesce.script('no-room', [{ tool: { name: 'shell', input: { command: 'yes | head -c 3000000' } } }, { text: 'done' }])
  // Blocks of 1,024 bytes, for every file that it writes.
  const line = `ulimit -f 1000; quiesce run --store memory: --model ${model} --permissions allow-all --output json go | cat`
  const { stdout } = await quiesce.shell(line, cache())
  const [result] = resultsIn(JSON.parse(stdout).events)
  expect(result?.content).toMatch(/\n\[the whole output could not be kept: .*: EFBIG\]\n\[exit status 0\]$/)
  expect(result?.isError).toBe(false)
  expect(keptFiles().filter((path) => path.endsWith('.txt'))).toEqual([])
})
