import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { searchPath } from '../tools/environment.ts'
import { Executable, type Process } from './executable.fixture.ts'

let quiesce: Executable
beforeAll(async () => {
  quiesce = await Executable.build()
}, 60_000)
afterAll(() => quiesce.remove())

/** Whether a process here may have mounts of its own. */
const canMount = process.platform === 'linux' && spawnSync('unshare', ['-rm', 'mount', '--bind', '/tmp', '/tmp']).status === 0

interface Answer {
  result?: { events: { type: string; data: Record<string, unknown> }[] }
  error?: { code: number; message: string; data: unknown }
}

/** A client of `serve --stdio` that asks one thing after another. */
class Client {
  readonly #served: Process
  #id = 0

  constructor(served: Process) {
    this.#served = served
  }

  async ask(method: string, params: object): Promise<Answer> {
    this.#id += 1
    this.#served.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id: this.#id, method, params })}\n`)
    const answer = new RegExp(`^(?=.*"id":${this.#id}[,}])(?!.*"method":).*$`, 'm')
    await this.#served.says('stdout', answer)
    return JSON.parse(answer.exec(this.#served.stdout)?.[0] ?? '')
  }

  /** Creates a session, prompts it, and waits for its idle: what its tools answered, in order. */
  async results(sessionId: string, config: object): Promise<string[]> {
    expect((await this.ask('session/create', { sessionId, ...config })).error).toBeUndefined()
    await this.ask('session/subscribe', { sessionId })
    await this.ask('session/prompt', { sessionId, content: 'go' })
    await this.#served.says('stdout', new RegExp(`"session\\.status".*"${sessionId}".*"idle"`))
    const { result } = await this.ask('session/events', { sessionId })
    return (result?.events ?? []).filter(({ type }) => type === 'tool/result').map(({ data }) => String(data.content))
  }

  async end(): Promise<string> {
    this.#served.child.stdin?.end()
    const { stdout, stderr } = await this.#served.ended
    return stdout + stderr
  }
}

async function serve(env: Readonly<Record<string, string>> = {}): Promise<Client> {
  const client = new Client(quiesce.start(['serve', '--stdio'], env))
  await client.ask('initialize', { protocol: { min: 1, max: 1 }, client: { name: 't', version: '0' } })
  return client
}

it.runIf(process.platform === 'linux')(
  'FR-7: a tool process has the allowed variables, those that its session names, and its mark: no other',
  async () => {
    const secrets = [
      'OPENAI_API_KEY',
      'ANTHROPIC_API_KEY',
      'DEEPSEEK_API_KEY',
      'AWS_SECRET_ACCESS_KEY',
      'GITHUB_TOKEN',
      'DATABASE_URL',
      'HTTPS_PROXY',
      'MY_OWN',
    ]
    const dangerous = [
      'LD_LIBRARY_PATH',
      'BASH_ENV',
      'ENV',
      'PYTHONSTARTUP',
      'GIT_SSH_COMMAND',
      'PROMPT_COMMAND',
      'SSH_AUTH_SOCK',
      'QUIESCE_MODEL',
    ]
    const passed = { LC_ALL: 'C', TERM: 'dumb', TZ: 'UTC' }
    const hidden = Object.fromEntries([...secrets, ...dangerous].map((name) => [name, `hidden-${name}`]))
    const client = await serve({ ...hidden, ...passed, PATH: `.:${process.env.PATH}`, NODE_OPTIONS: '--no-warnings' })
    const command = "tr '\\0' '\\n' </proc/$$/environ"
    const model = quiesce.script('env', [{ tool: { name: 'shell', input: { command } } }, { text: 'done' }])
    const named = { MINE: 'given', BASH_ENV: '/dev/null', QUIESCE_GROUP: 'not.its.own.' }
    const config = { cwd: quiesce.home, model, permissions: 'allow-all', env: named }
    const [shown = ''] = await client.results('a.session:1', config)
    const variables = shown.split('\n').filter((line) => line.includes('=') && !line.startsWith('['))
    // Outer marks stand before it, where the test is itself run by a tool.
    const mark = /^(QUIESCE_GROUP=)([^ ]+ )*run_[\w-]+\.a%002esession%003a1\.\d+\.$/
    expect(variables.map((line) => line.replace(mark, '$1<its own>')).sort()).toEqual([
      'BASH_ENV=/dev/null',
      `HOME=${quiesce.home}`,
      'LC_ALL=C',
      'MINE=given',
      `PATH=${searchPath(process.env.PATH)}`,
      'QUIESCE_GROUP=<its own>',
      'TERM=dumb',
      'TZ=UTC',
    ])
    expect(await client.end()).not.toMatch(/hidden-/)
  },
)

it('CB-5: rules that fit no tool, match no call or name no action are refused with their place, at create and update', async () => {
  const client = await serve()
  const cwd = quiesce.home
  const policy = (...rules: object[]) => ({ permissions: { mode: 'edit', rules } })
  const good = { tool: 'shell', pattern: 'ls *', action: 'allow' }
  expect((await client.ask('session/create', { sessionId: 's', cwd, model: 'scripted/demo', ...policy(good) })).error).toBeUndefined()
  for (const ask of [
    (params: object) => client.ask('session/create', { cwd, model: 'scripted/demo', ...params }),
    (params: object) => client.ask('session/update', { sessionId: 's', ...params }),
  ]) {
    const unknown = await ask(policy(good, good, { tool: 'shel', action: 'deny' }))
    expect(unknown.error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('permissions.rules[2].tool: "shel" fits no tool; there are read_file, '),
    })
    const empty = await ask(policy({ tool: 'shell', pattern: '', action: 'deny' }))
    expect(empty.error).toMatchObject({ code: -32602, message: expect.stringContaining('permissions.rules[0].pattern: is empty') })
    const action = await ask(policy(good, { tool: 'shell', action: 'block' }))
    expect(action.error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/permissions\.rules\[1\]\.action: .*"allow".*"block"/),
    })
  }
  await client.end()
})

it('CB-5: a denied file stays out of reach though a call before, in the same step, makes a link to it', async () => {
  const client = await serve()
  const cwd = join(quiesce.home, 'linked')
  mkdirSync(join(cwd, 'secrets'), { recursive: true })
  writeFileSync(join(cwd, 'secrets', 'key'), 'the secret')
  const model = quiesce.script('link', [
    {
      tools: [
        { name: 'shell', input: { command: 'ln -s secrets open' } },
        { name: 'read_file', input: { path: 'open/key' } },
        { name: 'edit_file', input: { path: 'open/key', oldText: 'the', newText: 'no' } },
        { name: 'read_file', input: { path: 'secrets/key' } },
        { name: 'grep', input: { pattern: 'the' } },
      ],
    },
    { text: 'done' },
  ])
  const rules = [{ tool: '*_file', pattern: 'secrets/', action: 'deny' }]
  const results = await client.results('linked', { cwd, model, permissions: { mode: 'allow-all', rules } })
  const refused = results.filter((text) => text.includes('a rule of the session says: deny *_file "secrets/"'))
  expect([results.length, refused.length]).toEqual([5, 3])
  expect(await client.end()).not.toContain('the secret')
  expect(readFileSync(join(cwd, 'secrets', 'key'), 'utf8')).toBe('the secret')
})

it.runIf(canMount)(
  'FR-7: what is mounted inside a root belongs to it; a file that is itself a mount is read, and not replaced',
  async () => {
    const cwd = join(quiesce.home, 'mounts')
    for (const name of ['from', 'to']) mkdirSync(join(cwd, name, 'directory'), { recursive: true })
    for (const name of ['from/file', 'from/gone', 'from/directory/file', 'to/file', 'to/gone'])
      writeFileSync(join(cwd, name), `this is ${name}\n`)
    const calls = ['file', 'gone', 'directory/file'].flatMap((path) => [
      { name: 'read_file', input: { path } },
      { name: 'write_file', input: { path, content: 'new' } },
    ])
    const model = quiesce.script('mounts', [{ tools: calls }, { text: 'done' }])
    const mounts = 'for name in file gone directory; do mount --bind $from/$name $to/$name; done; rm $from/gone'
    const run = `exec "$0" "$bundle" run --store memory: --model ${model} --cwd $to --output jsonl go`
    const line = `unshare -rm bash -c '${mounts}; ${run}' "$0"`
    const { stdout, stderr } = await quiesce.shell(line, { from: join(cwd, 'from'), to: join(cwd, 'to') })
    const facts = stdout.split('\n').filter((text) => text !== '')
    const results = facts.map((text) => JSON.parse(text)).filter(({ type }) => type === 'tool/result')
    const busy = 'the system holds it in its place (a mount point, for example), so it can not be replaced'
    expect(stderr).not.toContain('mount')
    expect(results.map(({ data }) => data.content)).toEqual([
      '1\tthis is from/file',
      `file: ${busy}`,
      '1\tthis is from/gone',
      `gone: ${busy}`,
      '1\tthis is from/directory/file',
      'Replaced directory/file (3 bytes).',
    ])
    expect(readFileSync(join(cwd, 'from/directory/file'), 'utf8')).toBe('new')
  },
)
