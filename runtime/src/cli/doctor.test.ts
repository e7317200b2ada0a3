import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startAnthropicServer } from '../../../conformance/fixtures/anthropic-server.mjs'
import { type ChatAnswer, startChatServer } from '../../../conformance/fixtures/chat-server.mjs'
import { systemClock } from '../base/clock.ts'
import { Refusal } from '../log/refusal.ts'
import { ModelRegistry } from '../models/registry.ts'
import type { Config } from './config.ts'
import { doctorCommand } from './doctor.ts'
import { diagnosisText } from './doctor-text.ts'
import type { DoctorOptions } from './program.ts'

let root: string
let cwd: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'quiesce-doctor-'))
  cwd = join(root, 'work')
  mkdirSync(cwd)
  mkdirSync(join(root, '.config/quiesce'), { recursive: true })
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const user = (config: object) => writeFileSync(join(root, '.config/quiesce/config.yaml'), JSON.stringify(config))
const workspace = (config: object) => writeFileSync(join(cwd, 'quiesce.yaml'), JSON.stringify(config))

/** What it says, with paths that are as short as anybody's. */
async function examine(options: Partial<DoctorOptions> = {}, given: Record<string, string> = {}, store?: Refusal, check?: () => string[]) {
  const { status, printed } = await run({ json: true, config: {}, ...options }, given, store, check)
  const told = JSON.parse(printed.replaceAll(root, '/home/me'))
  return { status, told, text: diagnosisText(told) }
}

async function run(
  options: DoctorOptions,
  given: Record<string, string>,
  store?: Refusal,
  check: () => string[] = () => [],
): Promise<{ status: number; printed: string }> {
  const env = { HOME: root, ...given }
  let printed = ''
  let now = 0
  const status = await doctorCommand(options, {
    cwd,
    env,
    openStore: async () => {
      if (store !== undefined) throw store
      return { stats: async () => ({ driver: 'libsql' }), check: async () => check(), close: async () => undefined }
    },
    storeVersion: 7,
    openModels: (config: Config) => {
      const named = Object.fromEntries(Object.entries(config.models).map(([name, { value }]) => [name, value]))
      const byDefault = config.model.value === null ? {} : { default: config.model.value }
      const parts = { clock: systemClock, random: () => 0, retry: config.retry.value }
      return new ModelRegistry({ ...byDefault, env, named, refused: config.refusedModels }, parts)
    },
    monotonic: () => (now += 321),
    terminal: {
      print: (text) => {
        printed += text
      },
      say: () => undefined,
      stdoutIsTty: false,
      stderrIsTty: false,
      onLost: () => undefined,
      flush: async () => null,
    },
  })
  return { status, printed }
}

describe('a store that opens, and is not well (RE-6)', () => {
  it('is a problem: what was found, or what the look at it met', async () => {
    const model = { QUIESCE_MODEL: 'scripted/demo' }
    const found = await examine({}, model, undefined, () => ['fact 3 can not be read', 'the disk is full'])
    expect(found).toMatchObject({
      status: 1,
      told: { healthy: false, store: { opens: true }, problems: ['fact 3 can not be read; the disk is full'] },
    })
    expect(found.text).toContain('- fact 3 can not be read; the disk is full')
    const met = await examine({}, model, undefined, () => {
      throw new Refusal('storage_unavailable', 'it failed')
    })
    expect(met).toMatchObject({ status: 1, told: { problems: ['it failed'] } })
    expect(await examine({}, model)).toMatchObject({ status: 0, told: { healthy: true } })
  })
})

describe('what it shows', () => {
  it('reads well in 80 columns', async () => {
    user({
      retry: { attempts: 6 },
      models: {
        local: {
          provider: 'openai-compatible',
          baseURL: 'http://127.0.0.1:8000/v1',
          contextWindow: 32_768,
          model: 'qwen3',
          modelOptions: { temperature: 0.2 },
          retry: { firstByteMs: 600_000 },
        },
        gateway: { provider: 'anthropic', baseURL: 'http://gateway.example/v1', apiKeyEnv: 'GATEWAY_KEY' },
      },
    })
    const env = { QUIESCE_MODEL: 'local', GATEWAY_KEY: 'secret-gateway', OPENAI_BASE_URL: 'https://proxy.example/v1', QUIESCE_LOG: 'info' }
    const { status, text } = await examine({}, env)
    expect(status).toBe(0)
    const [head, ...rest] = text.split('\n')
    expect(head).toMatch(/^quiesce \d+\.\d+\.\d+, node v[\d.]+, \w+ \w+$/)
    expect(rest.join('\n')).toBe(`
  store      sqlite:/home/me/.local/share/quiesce/quiesce.db (by default)
             opens: libsql, version 7
  model      local (from QUIESCE_MODEL)
  log level  info (from QUIESCE_LOG)
  retries    6 attempts, 500 ms apart, doubling to 4 s
             Retry-After up to 60 s
             stalled after 120 s without a byte, or 60 s between bytes
             (from /home/me/.config/quiesce/config.yaml)
  files      /home/me/work/quiesce.yaml: not there
             /home/me/.config/quiesce/config.yaml: read

providers
  anthropic          not configured: set ANTHROPIC_API_KEY
                     Anthropic Messages, https://api.anthropic.com/v1
                     key: ANTHROPIC_API_KEY, not set
  deepseek           not configured: set DEEPSEEK_API_KEY
                     chat completions, https://api.deepseek.com/v1
                     key: DEEPSEEK_API_KEY, not set
  gateway            configured
                     Anthropic Messages, http://gateway.example/v1
                     key: GATEWAY_KEY, set; it goes there unencrypted: use https
                     defined in /home/me/.config/quiesce/config.yaml
  local              configured
                     chat completions, http://127.0.0.1:8000/v1
                     no key is sent
                     context window: 32768 tokens
                     local alone means local/qwen3
                     model options: {"temperature":0.2}
                     retries of its own: {"firstByteMs":600000}
                     defined in /home/me/.config/quiesce/config.yaml
  openai             not configured: set OPENAI_API_KEY
                     OpenAI Responses, https://proxy.example/v1
                     (from OPENAI_BASE_URL)
                     key: OPENAI_API_KEY, not set
  openai-compatible  not configured: set OPENAI_COMPATIBLE_BASE_URL to the
                     server's base URL, for example http://127.0.0.1:8000/v1
                     chat completions
                     key: OPENAI_COMPATIBLE_API_KEY, not set
  scripted           configured
                     plays scripts: asks no server

All good.
`)
  })

  it('says as JSON what it says as text, and no secret in either', async () => {
    user({ models: { mine: { provider: 'openai', api: 'chat', baseURL: 'https://models.example/v1', apiKeyEnv: 'MINE', model: 'm' } } })
    const env = { MINE: 'secret-mine', ANTHROPIC_API_KEY: 'secret-anthropic', QUIESCE_MODEL: 'mine/m' }
    const { status, told } = await examine({}, env)
    expect({ status, healthy: told.healthy, problems: told.problems }).toEqual({ status: 0, healthy: true, problems: [] })
    expect(told).toMatchObject({
      store: { opens: true, driver: 'libsql', version: 7, source: 'default' },
      model: { value: 'mine/m', source: 'QUIESCE_MODEL' },
      retry: { value: { attempts: 4, firstDelayMs: 500 }, source: 'default' },
      workspace: { path: '/home/me/work', trusted: false, source: null },
    })
    const { providers } = told
    expect(providers.find(({ name }: { name: string }) => name === 'mine')).toEqual({
      name: 'mine',
      provider: 'openai',
      api: 'chat',
      baseURL: 'https://models.example/v1',
      baseURLFrom: 'baseURL',
      key: { variable: 'MINE', set: true },
      contextWindow: null,
      model: 'm',
      configured: true,
      source: '/home/me/.config/quiesce/config.yaml',
    })
    const [json, text] = await Promise.all([true, false].map((isJson) => run({ json: isJson, config: {} }, env)))
    expect(text?.printed).toBe(diagnosisText(JSON.parse(json?.printed ?? '')))
    expect(JSON.stringify([json, text])).not.toContain('secret')
  })

  it('tells what a workspace may not decide, and how it could', async () => {
    workspace({ model: 'thief/x', models: { thief: { provider: 'openai', baseURL: 'https://evil.example/v1', apiKeyEnv: 'HOME' } } })
    const { status, text } = await examine()
    expect(status).toBe(1)
    expect(text).toContain('  workspace  not trusted: its quiesce.yaml chooses among your providers, and')
    expect(text).toMatch(/\nproviders that are not taken\n {2}thief {2}\/home\/me\/work\/quiesce\.yaml:1 defines thief,/)
    expect(text).toMatch(/Something is missing:\n- \/home\/me\/work\/quiesce\.yaml:1: model: "thief\/x" is not taken/)
    expect(text).not.toContain('no model is set')
    const trusted = await examine({}, { QUIESCE_TRUST: cwd })
    expect(trusted.text).toContain('  workspace  trusted, by QUIESCE_TRUST')
    expect(trusted.status).toBe(0)
  })

  it('shows what moves a cursor, and does not do it', async () => {
    workspace({ model: 'openai/\u001b[2Jx\u009b\u202e' })
    const { text } = await examine()
    expect(text).toContain('openai/\\u001b[2Jx\\u009b\\u202e')
    expect(text).not.toMatch(/[^\P{Cc}\n]|\u202e/u)
  })

  it('exits 1 where the store does not open, no model is set, or its key is missing', async () => {
    const broken = await examine({}, { QUIESCE_MODEL: 'anthropic/claude' }, new Refusal('storage_unavailable', 'the disk is full'))
    expect(broken.status).toBe(1)
    expect(broken.text).toMatch(
      /does not open\n[\s\S]*missing:\n- the store does not open: the disk is full\n- "anthropic\/claude" needs a key: set ANTHROPIC_API_KEY\n$/,
    )
    const bare = await examine()
    expect(bare.status).toBe(1)
    expect(bare.text).toMatch(/ {2}model {6}none\n[\s\S]*- no model is set: give --model, set QUIESCE_MODEL, or write model:/)
  })
})

describe('--probe', () => {
  async function probe(answers: ChatAnswer[], env: Record<string, string> = {}) {
    const server = await startChatServer(answers)
    const set = {
      QUIESCE_MODEL: 'openai-compatible/m',
      OPENAI_COMPATIBLE_BASE_URL: server.baseURL,
      OPENAI_COMPATIBLE_API_KEY: 'secret',
      ...env,
    }
    const { status, text, told } = await examine({ probe: true }, set)
    await server.close()
    return { status, text, probe: told.probe, requests: server.requests }
  }

  it('asks the default model once, for a word, and says how long it took', async () => {
    const { status, text, probe: told, requests } = await probe([{ text: 'ok' }])
    expect({ status, told }).toEqual({ status: 0, told: { model: 'openai-compatible/m', ok: true, latencyMs: 321 } })
    expect(text).toMatch(/\nprobe\n {2}openai-compatible\/m {2}answers, in 321 ms\n\nAll good\.\n$/)
    expect(requests).toHaveLength(1)
    expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({ model: 'm', max_tokens: 64, messages: [{ role: 'user' }] })
  })

  it.each([
    [
      'a key that is refused',
      { status: 401, error: { message: 'bad key secret' } },
      'model_auth',
      /^the key is refused \(HTTP 401: bad key \[secret\]\)/,
    ],
    [
      'an unknown model',
      { status: 404, error: { message: 'no model m' } },
      'model_request',
      /^the server knows no such model, or the base URL/,
    ],
    [
      'too many requests',
      { status: 429, headers: { 'retry-after': '3600' } },
      'model_rate_limit',
      /^the server is reached and takes no more/,
    ],
    ['a server out of order', { status: 503 }, 'model_overloaded', /^the server is reached and has no room/],
    ['half an answer', { text: 'o', end: 'none' } as const, 'model_stream', /./],
    ['a page', { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' }, 'model_stream', /./],
  ])('says what came: %s', async (_, answer, code, message) => {
    const { status, text, probe: told, requests } = await probe([answer, answer])
    expect({ status, told }).toEqual({
      status: 1,
      told: { model: 'openai-compatible/m', ok: false, code, message: expect.stringMatching(message) },
    })
    expect(text).toContain('does not answer: ')
    expect(text).toContain('Something is missing:\n- the model does not answer: ')
    expect(requests).toHaveLength(1) // no second try
    expect(text.replaceAll('[secret]', '')).not.toContain('secret')
  })

  it('counts an answer without words as one: a model may think all of its tokens away', async () => {
    const { status, probe: told } = await probe([{ reasoning: 'hm', finish: 'stop' }])
    expect({ status, ok: told.ok }).toEqual({ status: 0, ok: true })
  })

  it('asks once, however patient the provider is otherwise', async () => {
    const server = await startChatServer([{ status: 503 }])
    user({ models: { mine: { provider: 'openai-compatible', baseURL: server.baseURL, retry: { attempts: 3, firstDelayMs: 0 } } } })
    const { status } = await examine({ probe: true }, { QUIESCE_MODEL: 'mine/m' })
    await server.close()
    expect({ status, asked: server.requests.length }).toEqual({ status: 1, asked: 1 })
  })

  it('says that nobody is there', async () => {
    const server = await startChatServer([])
    await server.close()
    const { status, text } = await examine(
      { probe: true },
      { QUIESCE_MODEL: 'openai-compatible/m', OPENAI_COMPATIBLE_BASE_URL: server.baseURL },
    )
    expect(status).toBe(1)
    expect(text).toMatch(/does not answer: the server is not reached \([\s\S]*ECONNREFUSED/)
  })

  it('asks nobody where the model is not configured', async () => {
    const { status, text } = await examine({ probe: true }, { QUIESCE_MODEL: 'openai/m' })
    expect(status).toBe(1)
    expect(text).toMatch(/probe\n {2}openai\/m {2}does not answer: "openai\/m" needs a key: set OPENAI_API_KEY\n/)
    expect((await examine({ probe: true })).text).toContain('no model  does not answer: there is no model to be asked')
  })

  it('asks a named provider of another vendor by its bare name', async () => {
    const server = await startAnthropicServer([{ text: 'ok' }])
    user({ models: { mine: { provider: 'anthropic', baseURL: server.baseURL, model: 'claude-sonnet-4-5' } }, model: 'mine' })
    const { status, text } = await examine({ probe: true })
    await server.close()
    expect({ status, asked: server.requests.length }).toEqual({ status: 0, asked: 1 })
    expect(text).toContain('mine/claude-sonnet-4-5  answers, in 321 ms')
  })
})
