// FR-7 over the whole executable: keys of every provider, at the most talkative level, with vendors that say them aloud and a tool that
// shows all it can see. Then everything that was written anywhere is searched for them, in every form.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startAnthropicServer } from '../../../conformance/fixtures/anthropic-server.mjs'
import { startChatServer } from '../../../conformance/fixtures/chat-server.mjs'
import type { ModelAnswer, ModelServer } from '../../../conformance/fixtures/model-server.mjs'
import { startResponsesServer } from '../../../conformance/fixtures/responses-server.mjs'
import { Executable } from './executable.fixture.ts'

/** Each differs from the others, and from itself in every way of writing it. */
const keyOf = (variable: string) => `canary-${variable.toLowerCase()}-"q\\b/+=&%<>~`
const variables = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'OPENAI_COMPATIBLE_API_KEY', 'DEEPSEEK_API_KEY', 'NAMED_KEY', 'CHAT_KEY']

/** As it is, as in a URL, as in JSON, as in JSON within JSON, in base64. */
const formsOf = (text: string): string[] => {
  const json = JSON.stringify(text).slice(1, -1)
  return [text, encodeURIComponent(text), json, JSON.stringify(json).slice(1, -1), Buffer.from(text).toString('base64')]
}

/** What would give a key away: any of its forms, its beginning, and base64 wherever in a text it begins. */
const traces = variables.flatMap((variable) => {
  const inBase64 = [0, 1, 2].map((offset) =>
    Buffer.from(`${' '.repeat(offset)}${keyOf(variable)}`)
      .toString('base64')
      .slice(4, -8),
  )
  return [...formsOf(keyOf(variable)), `canary-${variable.toLowerCase()}`, ...inBase64]
})

let quiesce: Executable
beforeAll(async () => {
  quiesce = await Executable.build()
})
afterAll(() => quiesce.remove())

const lookAround = { name: 'shell', arguments: { command: 'env; env | base64; cat /proc/self/environ; echo seen' } }

/** A good answer after a look around, then every way to fail, the key said aloud in each. */
function scriptFor(key: string): ModelAnswer[] {
  const aloud = formsOf(key).join(' , ')
  return [
    { text: 'Let me see.', toolCalls: [lookAround] },
    { text: 'I have seen it.' },
    { status: 401, error: { message: `Incorrect API key: ${aloud}` } },
    { status: 400, error: { message: aloud } },
    { status: 403, body: `<html>${aloud}</html>`, headers: { 'content-type': 'text/html', 'x-key': encodeURIComponent(key) } },
    { status: 500, error: { message: aloud } },
    { status: 429, error: { message: aloud }, headers: { 'retry-after': '0' } },
    { text: 'half', end: 'error', error: { type: 'authentication_error', code: 'invalid_api_key', message: aloud } },
    { text: 'half', events: [`{"broken": "${aloud}`] },
    { status: 200, body: `${'x'.repeat(4090)}${key}`, headers: { 'content-type': 'text/html' } },
    {
      status: 200,
      body: `${'x'.repeat(490 - 'the answer is no event stream but text/html: '.length)}${key}`,
      headers: { 'content-type': 'text/html' },
    },
  ]
}

const answers = scriptFor('').length

/** Sends whoever comes on to `target`, and keeps what it was sent. */
async function startRedirect(target: string): Promise<{ server: Server; baseURL: string }> {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(307, { location: `${target}${request.url ?? ''}` }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const request = (id: number, method: string, params: object) => `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`

/** Everything below a directory, byte by byte. */
function filesIn(folder: string): [string, string][] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(folder, path)).isFile())
    .map((path) => [path, readFileSync(join(folder, path), 'latin1')])
}

const around = (text: string, trace: string) => text.slice(Math.max(0, text.indexOf(trace) - 60), text.indexOf(trace) + 60)

const closed = (server: Server) =>
  new Promise<void>((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })

it('keys stay where they belong (FR-7)', async () => {
  const servers = await Promise.all([startAnthropicServer([]), startResponsesServer([]), startChatServer([]), startChatServer([])])
  const [anthropic, responses, compatible, named] = servers
  const elsewhere = createServer((asked, response) => {
    strangers.push(JSON.stringify([asked.url, asked.headers]))
    response.end()
  })
  const strangers: string[] = []
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
  const redirect = await startRedirect(`http://localhost:${(elsewhere.address() as AddressInfo).port}`)
  const models: Record<string, object> = {
    named: { provider: 'openai-compatible', baseURL: named.baseURL, apiKeyEnv: 'NAMED_KEY' },
    chat: { provider: 'openai', api: 'chat', baseURL: compatible.baseURL, apiKeyEnv: 'CHAT_KEY' },
    moved1: { provider: 'anthropic', baseURL: redirect.baseURL, apiKeyEnv: 'ANTHROPIC_API_KEY' },
    moved2: { provider: 'openai', baseURL: redirect.baseURL, apiKeyEnv: 'OPENAI_API_KEY' },
    moved3: { provider: 'openai-compatible', baseURL: redirect.baseURL, apiKeyEnv: 'NAMED_KEY' },
    unkeyed: { provider: 'anthropic', baseURL: anthropic.baseURL },
    unkeyed2: { provider: 'openai', baseURL: responses.baseURL },
  }
  const config = { models, retry: { attempts: 2, firstDelayMs: 1, maxDelayMs: 1 } }
  const env = {
    ...Object.fromEntries(variables.map((variable) => [variable, keyOf(variable)])),
    ANTHROPIC_BASE_URL: anthropic.baseURL,
    OPENAI_BASE_URL: responses.baseURL,
    OPENAI_COMPATIBLE_BASE_URL: compatible.baseURL,
    QUIESCE_LOG: 'trace',
    TMPDIR: quiesce.home,
    XDG_CONFIG_HOME: join(quiesce.home, 'config'),
  }
  const written: [what: string, text: string][] = []
  mkdirSync(join(quiesce.home, 'config/quiesce'), { recursive: true })
  writeFileSync(join(quiesce.home, 'config/quiesce/config.yaml'), JSON.stringify(config))

  const reached: [model: string, server: ModelServer | undefined, variable: string][] = [
    ['anthropic/claude-sonnet-4-5', anthropic, 'ANTHROPIC_API_KEY'],
    ['openai/gpt-5', responses, 'OPENAI_API_KEY'],
    ['openai-compatible/m', compatible, 'OPENAI_COMPATIBLE_API_KEY'],
    ['named/m', named, 'NAMED_KEY'],
    ['chat/m', compatible, 'CHAT_KEY'],
    ['moved1/claude-sonnet-4-5', undefined, 'ANTHROPIC_API_KEY'],
    ['moved2/gpt-5', undefined, 'OPENAI_API_KEY'],
    ['moved3/m', undefined, 'NAMED_KEY'],
  ]
  const running = quiesce.start(['serve', '--stdio'], env)
  let id = 0
  const ask = async (method: string, params: object) => {
    id += 1
    running.child.stdin?.write(request(id, method, params))
    await running.says('stdout', new RegExp(`"id":${id},"(result|error)"`))
  }
  await ask('initialize', { protocol: { min: 1, max: 1 }, client: { name: 'test', version: '1' } })
  for (const [model, server, variable] of reached) {
    server?.play(scriptFor(keyOf(variable)))
    // Answers are taken in turn: the first prompt has two, one that fails for good has one, any other is asked again.
    for (let asked = 0, prompt = 1; asked < (server === undefined ? 1 : answers); prompt += 1, asked = server?.requests.length ?? 1) {
      const sessionId = `${model.replaceAll('/', '-')}-${prompt}`
      await ask('session/create', { sessionId, cwd: quiesce.home, model, permissions: 'allow-all' })
      await ask('session/subscribe', { sessionId, deltas: true, after: 0 })
      await ask('session/prompt', { sessionId, content: 'Go on.' })
      await running.says('stdout', new RegExp(`"sessionId":"${sessionId}","event":\\{[^\n]*"status":"idle"`))
      for (const method of ['session/get', 'session/events', 'session/messages', 'session/status']) await ask(method, { sessionId })
    }
    if (server === undefined) continue
    const asked = JSON.stringify(server.requests.map(({ headers }) => headers))
    expect(asked).toContain(JSON.stringify(keyOf(variable)).slice(1, -1)) // it was really used
  }
  await ask('model/list', {})
  await ask('session/create', { cwd: quiesce.home, model: 'nobody/x' })
  written.push(...filesIn(quiesce.home)) // with the log that isn't merged yet
  running.child.stdin?.end()
  const served = await running.ended
  expect(served.stdout).toContain('seen') // the tool looked around, and what it saw is in a fact
  expect(served.stdout).toContain('model_auth')
  written.push(['frames', served.stdout], ["the runtime's stderr", served.stderr])

  anthropic.play([{ status: 401, error: { message: formsOf(keyOf('ANTHROPIC_API_KEY')).join() } }, { text: 'x' }, { text: 'x' }])
  for (const args of [
    ['run', '--model', 'anthropic/claude-sonnet-4-5', 'x'],
    ['doctor', '--probe', '--model', 'anthropic/claude-sonnet-4-5'],
    ['doctor', '--json', '--model', 'openai-compatible/m'],
    ['run', '--model', 'unkeyed/claude-sonnet-4-5', '--output', 'jsonl', 'x'],
  ]) {
    const { stdout, stderr } = await quiesce.run(args, env)
    written.push([`quiesce ${args.join(' ')}`, stdout + stderr])
  }
  // Without apiKeyEnv a base URL gets no key, whatever the vendor's own variable says.
  expect(anthropic.requests.at(-1)?.headers).not.toHaveProperty('x-api-key')
  responses.play([{ text: 'x' }])
  written.push(['without a key', (await quiesce.run(['run', '--model', 'unkeyed2/gpt-5', 'x'], env)).stdout])
  expect(responses.requests.map(({ headers }) => headers.authorization)).toEqual([undefined])
  expect(strangers).toEqual([])
  written.push(...filesIn(quiesce.home))
  await Promise.all([...servers.map((server) => server.close()), closed(redirect.server), closed(elsewhere)])

  expect(written.map(([what]) => what)).toEqual(expect.arrayContaining(['store.db', 'store.db-wal', 'frames']))
  const found = written.flatMap(([what, text]) =>
    traces.flatMap((trace) => (text.includes(trace) ? [{ what, around: around(text, trace) }] : [])),
  )
  expect(found).toEqual([])
}, 120_000)
