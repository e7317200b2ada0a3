import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { startChatServer } from '../../../conformance/fixtures/chat-server.mjs'
import { ManualClock, systemClock } from '../base/clock.ts'
import { Refusal } from '../log/refusal.ts'
import type { ModelsConfig } from './providers.ts'
import { ModelRegistry } from './registry.ts'
import { defaultRetry } from './retry.ts'

const loaded = vi.hoisted(() => ({ sdk: 0, yaml: 0 }))
vi.mock('@ai-sdk/openai-compatible', async (original) => {
  loaded.sdk += 1
  return original()
})
vi.mock('yaml', async (original) => {
  loaded.yaml += 1
  return original()
})

let scriptsDir: string
beforeEach(() => {
  scriptsDir = mkdtempSync(join(tmpdir(), 'quiesce-models-'))
})
afterEach(() => rmSync(scriptsDir, { recursive: true }))

function registry(config: Partial<ModelsConfig> = {}): ModelRegistry {
  return new ModelRegistry({ env: {}, named: {}, scriptsDir, ...config }, { clock: new ManualClock(), random: () => 0 })
}

function refusalOf(action: () => unknown): { code: string; message: string } {
  try {
    action()
  } catch (error) {
    if (error instanceof Refusal) return { code: error.code, message: error.message }
    throw error
  }
  return { code: 'none', message: '' }
}

const baseURL = { OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:1/v1' }

// First, while nothing was loaded: the cold path of a scripted model.
describe('loading', () => {
  it('leaves the AI SDK alone until a model needs it, and yaml too', async () => {
    writeFileSync(join(scriptsDir, 'one.json'), '[{"text":"hi"}]')
    const models = registry({ env: baseURL, default: 'openai-compatible/m' })
    models.choose(undefined)
    models.list()
    await models.resolve('scripted/demo')
    await models.resolve('scripted/one')
    expect(loaded).toEqual({ sdk: 0, yaml: 0 })
    writeFileSync(join(scriptsDir, 'two.yaml'), '- text: hi')
    expect((await models.resolve('scripted/two')).name).toBe('scripted/two')
    expect((await models.resolve('openai-compatible/org/m')).name).toBe('openai-compatible/org/m')
    expect(loaded).toEqual({ sdk: 1, yaml: 1 })
  })

  it('loads ahead what a server needs, and nothing where the name is wrong or needs none', async () => {
    const models = registry({ env: baseURL })
    const resolve = vi.spyOn(models, 'resolve')
    for (const name of ['nonsense', 'openai-compatible/', 'scripted/none', 'scripted/demo', 'openai-compatible/ahead']) models.prepare(name)
    await new Promise(setImmediate)
    expect(resolve.mock.calls).toEqual([['openai-compatible/ahead']])
    expect(await models.resolve('openai-compatible/ahead')).toBe(await resolve.mock.results[0]?.value)
  })

  it('gives one model per name, and tries again what failed', async () => {
    const models = registry()
    await expect(models.resolve('scripted/late')).rejects.toThrow(Refusal)
    writeFileSync(join(scriptsDir, 'late.json'), '[{"text":"hi"}]')
    expect(await models.resolve('scripted/late')).toBe(await models.resolve('scripted/late'))
  })
})

describe('a name', () => {
  it.each([
    [
      'gpt',
      'unknown_model',
      '"gpt" is no provider: known are anthropic, deepseek, local, openai, openai-compatible, scripted; a model is written provider/model',
    ],
    ['nobody/x', 'unknown_model', 'known are anthropic, deepseek, local, openai'],
    ['constructor/x', 'unknown_model', 'is no provider'],
    ['openai-compatible', 'unknown_model', 'write openai-compatible/<model>'],
    ['local/', 'unknown_model', 'write local/<model>'],
    ['local', 'unknown_model', 'write local/<model>'],
    ['', 'unknown_model', 'unknown model ""'],
    ['openai-compatible/m', 'unknown_model', 'set OPENAI_COMPATIBLE_BASE_URL'],
    ['deepseek/deepseek-chat', 'model_auth', 'set DEEPSEEK_API_KEY'],
    ['scripted/none', 'unknown_model', 'none.yaml'],
  ])('%j is refused with %s', async (name, code, words) => {
    const models = registry({ named: { local: { provider: 'openai-compatible', baseURL: 'http://localhost:1/v1' } } })
    const refusal = refusalOf(() => models.check(name))
    expect(refusal.code).toBe(code)
    expect(refusal.message).toContain(words)
    await expect(models.resolve(name)).rejects.toMatchObject({ code, message: refusal.message })
  })

  it('of a named provider is loaded with its window', async () => {
    const named: ModelsConfig['named'] = {
      mine: { provider: 'openai-compatible', baseURL: 'https://models.example/v1', apiKeyEnv: 'MINE', contextWindow: 9, model: 'a/b' },
    }
    const model = await registry({ named, env: { MINE: 'k' } }).resolve('mine')
    expect([model.name, model.contextWindow]).toEqual(['mine/a/b', 9])
  })
})

describe('the default', () => {
  it('is chosen where none is named, and checked', () => {
    expect(registry({ default: 'scripted/demo' }).choose(undefined)).toBe('scripted/demo')
    expect(registry({ default: 'scripted/demo' }).defaultModel()).toBe('scripted/demo')
    expect(refusalOf(() => registry({ default: 'gone/x' }).choose(undefined)).code).toBe('unknown_model')
  })

  it('that is missing is refused with the three ways to set one', () => {
    const { code, message } = refusalOf(() => registry().choose(undefined))
    expect(code).toBe('unknown_model')
    for (const way of ['`model`', 'QUIESCE_MODEL', 'quiesce.yaml']) expect(message).toContain(way)
    expect(registry().defaultModel()).toBeNull()
  })
})

it('lists what can be named without asking anybody, and what each one lacks', () => {
  const named: ModelsConfig['named'] = {
    local: { provider: 'openai-compatible', baseURL: 'http://localhost/v1', contextWindow: 8, model: 'q' },
    bare: { provider: 'scripted' },
  }
  const models = registry({ default: 'deepseek/deepseek-chat', named })
  expect(models.list()).toEqual([
    {
      model: 'deepseek/deepseek-chat',
      provider: 'deepseek',
      default: true,
      available: false,
      reason: '"deepseek/deepseek-chat" needs a key: set DEEPSEEK_API_KEY',
    },
    { model: 'local/q', provider: 'local', contextWindow: 8, available: true },
    { model: 'scripted/demo', provider: 'scripted', available: true },
  ])
  expect(models.list('local').map(({ model }) => model)).toEqual(['local/q'])
  expect(models.list('nobody')).toEqual([])
})

describe('an answer', () => {
  const request = { system: '', messages: [], tools: [], options: {}, signal: new AbortController().signal }
  const hooks = { newCallId: () => 'call_1', onPart: () => undefined, onRetry: async () => undefined }

  it('comes from the named model', async () => {
    writeFileSync(join(scriptsDir, 'one.json'), '[{"text":"hi"}]')
    expect(await registry().answer('scripted/one', request, hooks)).toMatchObject({
      kind: 'answer',
      content: [{ type: 'text', text: 'hi' }],
    })
  })

  it('is a failure where the model is refused', async () => {
    expect(await registry().answer('deepseek/x', request, hooks)).toMatchObject({
      kind: 'failure',
      error: { code: 'model_auth', retryable: false },
    })
    writeFileSync(join(scriptsDir, 'bad.json'), '[{"txt":"hi"}]')
    expect(await registry().answer('scripted/bad', request, hooks)).toMatchObject({ kind: 'failure', error: { code: 'model_request' } })
  })

  it('is retried as its provider says, then as the configuration says (TU-5)', async () => {
    const server = await startChatServer(Array.from({ length: 9 }, () => ({ status: 503 })))
    const named: ModelsConfig['named'] = {
      patient: { provider: 'openai-compatible', baseURL: server.baseURL, retry: { attempts: 4 } },
      plain: { provider: 'openai-compatible', baseURL: server.baseURL },
    }
    const retry = { ...defaultRetry, attempts: 3, firstDelayMs: 0, maxRetryAfterMs: 0 }
    const models = new ModelRegistry({ env: {}, named }, { clock: systemClock, random: () => 0, retry })
    const attempts: Record<string, number[]> = { patient: [], plain: [] }
    for (const [name, seen] of Object.entries(attempts)) {
      const onRetry = async ({ attempt }: { attempt: number }) => void seen.push(attempt)
      expect(await models.answer(`${name}/m`, request, { ...hooks, onRetry })).toMatchObject({ kind: 'failure' })
    }
    await server.close()
    expect(attempts).toEqual({ patient: [1, 2, 3], plain: [1, 2] })
  })

  it('is asked for with the options of its provider, where the session has none of its own', async () => {
    const server = await startChatServer([{ text: 'a' }, { text: 'b' }])
    const modelOptions = { temperature: 0.5, seed: 7, providerOptions: { user: 'me', top_k: 3 } }
    const named: ModelsConfig['named'] = { mine: { provider: 'openai-compatible', baseURL: server.baseURL, modelOptions } }
    const models = registry({ named })
    await models.answer('mine/m', { ...request, options: { seed: 8, providerOptions: { user: 'you' } } }, hooks)
    await models.answer('mine/m', request, hooks)
    await server.close()
    const asked = server.requests.map(({ body }): unknown => JSON.parse(body))
    expect(asked[0]).toMatchObject({ temperature: 0.5, seed: 8, user: 'you', top_k: 3 })
    expect(asked[1]).toMatchObject({ temperature: 0.5, seed: 7, user: 'me', top_k: 3 })
  })
})
