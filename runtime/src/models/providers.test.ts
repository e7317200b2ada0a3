import { describe, expect, it } from 'vitest'
import { Refusal } from '../log/refusal.ts'
import { reportProviders } from './provider-report.ts'
import { type ModelsConfig, settingsFor } from './providers.ts'

type Config = Partial<ModelsConfig>

function told(name: string, { env = {}, named = {}, refused = {} }: Config) {
  try {
    return settingsFor({ env, named, refused }, name)
  } catch (error) {
    if (error instanceof Refusal) return { code: error.code, message: error.message }
    throw error
  }
}

const named: ModelsConfig['named'] = {
  gateway: {
    provider: 'anthropic',
    baseURL: 'https://gateway.example/anthropic',
    apiKeyEnv: 'GATEWAY_KEY',
    contextWindow: 9,
    model: 'a/b',
  },
  open: { provider: 'openai', baseURL: 'https://gateway.example/openai' },
  chat: { provider: 'openai', api: 'chat' },
  local: { provider: 'openai-compatible', baseURL: 'http://127.0.0.1:8000/v1' },
  second: { provider: 'anthropic', apiKeyEnv: 'SECOND_KEY' },
}

const keys = {
  ANTHROPIC_API_KEY: 'anthropic-key',
  OPENAI_API_KEY: 'openai-key',
  OPENAI_COMPATIBLE_API_KEY: 'compatible-key',
  DEEPSEEK_API_KEY: 'deepseek-key',
}

describe('where a request goes, and with which key', () => {
  const none = undefined
  it.each([
    ['anthropic/claude', {}, 'https://api.anthropic.com/v1', 'anthropic-key'],
    ['openai/gpt', {}, 'https://api.openai.com/v1', 'openai-key'],
    ['deepseek/chat', {}, 'https://api.deepseek.com/v1', 'deepseek-key'],
    ['chat/gpt', {}, 'https://api.openai.com/v1', 'openai-key'],
    ['anthropic/x', { ANTHROPIC_BASE_URL: 'https://proxy.example/v1/' }, 'https://proxy.example/v1', 'anthropic-key'],
    ['anthropic/x', { ANTHROPIC_BASE_URL: 'https://proxy.example' }, 'https://proxy.example/v1', 'anthropic-key'],
    ['openai/x', { OPENAI_BASE_URL: 'https://proxy.example/v2' }, 'https://proxy.example/v2', 'openai-key'],
    ['second/x', { SECOND_KEY: 'second-key' }, 'https://api.anthropic.com/v1', 'second-key'],
    ['openai-compatible/x', { OPENAI_COMPATIBLE_BASE_URL: 'https://models.example' }, 'https://models.example', 'compatible-key'],
    // A base URL of a definition gets the key that the definition names, and no other.
    ['gateway/x', { GATEWAY_KEY: 'gateway-key' }, 'https://gateway.example/anthropic', 'gateway-key'],
    ['open/x', {}, 'https://gateway.example/openai', none],
    ['local/org/qwen3', {}, 'http://127.0.0.1:8000/v1', none],
  ])('%s with %j: %s', (name, env, baseURL, apiKey) => {
    const settings = told(name, { named, env: { ...keys, ...env } })
    const model = name.slice(name.indexOf('/') + 1)
    const contextWindow = name === 'gateway/x' ? { contextWindow: 9 } : {}
    expect(settings).toMatchObject({ name, server: { name, modelId: model } })
    expect('server' in settings && settings.server).toEqual({
      name,
      modelId: model,
      baseURL,
      ...(apiKey !== undefined && { apiKey }),
      ...contextWindow,
    })
  })

  it('speaks the API of the definition', () => {
    expect(told('openai/x', { env: keys })).toMatchObject({ provider: 'openai', api: 'responses' })
    expect(told('chat/x', { named, env: keys })).toMatchObject({ provider: 'openai', api: 'chat' })
    expect(told('gateway', { named, env: { GATEWAY_KEY: 'k' } })).toMatchObject({ provider: 'anthropic', name: 'gateway/a/b' })
  })

  it('a definition takes the place of the provider that is built in under its name', () => {
    const mine: ModelsConfig['named'] = { openai: { provider: 'openai-compatible', baseURL: 'https://proxy.example/v1' } }
    expect(told('openai/x', { named: mine, env: keys })).toEqual({
      provider: 'openai-compatible',
      name: 'openai/x',
      server: { name: 'openai/x', modelId: 'x', baseURL: 'https://proxy.example/v1' },
    })
  })

  it('a server on this machine may do without a key, but not without the one that its definition names', () => {
    const env = {
      OPENAI_BASE_URL: 'http://localhost:1/v1',
      ANTHROPIC_BASE_URL: 'http://[::1]:1',
      OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.2',
    }
    for (const name of ['openai/x', 'anthropic/x', 'openai-compatible/x']) expect(told(name, { env })).not.toHaveProperty('server.apiKey')
    const mine: ModelsConfig['named'] = { mine: { provider: 'openai', baseURL: 'http://localhost:1/v1', apiKeyEnv: 'MINE' } }
    expect(told('mine/x', { named: mine, env: keys })).toEqual({ code: 'model_auth', message: '"mine/x" needs a key: set MINE' })
  })
})

describe('what is refused', () => {
  const at = (address: string) => ({ OPENAI_COMPATIBLE_BASE_URL: address })
  it.each([
    ['openai-compatible/m', {}, 'unknown_model', "set OPENAI_COMPATIBLE_BASE_URL to the server's base URL"],
    ['openai-compatible/m', at(''), 'unknown_model', 'set OPENAI_COMPATIBLE_BASE_URL'],
    ['openai-compatible/m', at('localhost:8000'), 'unknown_model', 'OPENAI_COMPATIBLE_BASE_URL must be a http or https URL'],
    ['openai-compatible/m', at('nonsense'), 'unknown_model', 'must be a http or https URL'],
    ['openai-compatible/m', at('http://me:hidden@localhost/v1'), 'unknown_model', 'must not carry credentials'],
    ['openai-compatible/m', at('http://localhost/v1?key=hidden'), 'unknown_model', 'must end with its path'],
    ['openai-compatible/m', at('http://models.example/v1'), 'model_auth', 'set OPENAI_COMPATIBLE_API_KEY'],
    ['openai-compatible/m', { ...at('http://models.example'), OPENAI_COMPATIBLE_API_KEY: ' ' }, 'model_auth', 'OPENAI_COMPATIBLE_API_KEY'],
    ['anthropic/m', {}, 'model_auth', '"anthropic/m" needs a key: set ANTHROPIC_API_KEY'],
    ['openai/m', { OPENAI_API_KEY: 'hidden\nhidden' }, 'model_auth', 'OPENAI_API_KEY holds a character that no key has'],
    ['anthropic/m', { ANTHROPIC_API_KEY: 'hidden…' }, 'model_auth', 'ANTHROPIC_API_KEY holds a character that no key has'],
    ['gateway/m', keys, 'model_auth', 'set GATEWAY_KEY'],
    ['evil/m', keys, 'unknown_model', 'unknown model "evil/m": it is not trusted'],
  ])('%s with %j: %s, %s', (name, env, code, words) => {
    const refusal = told(name, { named, env, refused: { evil: 'it is not trusted' } })
    expect(refusal).toMatchObject({ code })
    expect(refusal).toHaveProperty('message', expect.stringContaining(words))
    expect(JSON.stringify(refusal)).not.toMatch(/hidden/)
  })
})

describe('the report', () => {
  it('tells of each provider what it is, where it is, and what it lacks; and no secret', () => {
    const env = {
      ...keys,
      ANTHROPIC_API_KEY: '',
      OPENAI_BASE_URL: 'https://me:hidden@proxy.example/v1?key=hidden',
    }
    const report = reportProviders({ named, env })
    const common = { contextWindow: null, model: null, configured: true }
    expect(report).toEqual([
      {
        ...common,
        name: 'anthropic',
        provider: 'anthropic',
        api: 'messages',
        baseURL: 'https://api.anthropic.com/v1',
        baseURLFrom: 'default',
        key: { variable: 'ANTHROPIC_API_KEY', set: false },
        configured: false,
        reason: 'set ANTHROPIC_API_KEY',
      },
      {
        ...common,
        name: 'chat',
        provider: 'openai',
        api: 'chat',
        baseURL: null,
        baseURLFrom: 'OPENAI_BASE_URL',
        key: { variable: 'OPENAI_API_KEY', set: true },
        configured: false,
        reason: 'OPENAI_BASE_URL must not carry credentials: put the key in an environment variable',
      },
      expect.objectContaining({ name: 'deepseek', provider: 'openai-compatible', api: 'chat', baseURL: 'https://api.deepseek.com/v1' }),
      expect.objectContaining({
        name: 'gateway',
        baseURLFrom: 'baseURL',
        key: { variable: 'GATEWAY_KEY', set: false },
        contextWindow: 9,
        model: 'a/b',
        reason: 'set GATEWAY_KEY',
      }),
      {
        ...common,
        name: 'local',
        provider: 'openai-compatible',
        api: 'chat',
        baseURL: 'http://127.0.0.1:8000/v1',
        baseURLFrom: 'baseURL',
        key: null,
      },
      expect.objectContaining({ name: 'open', api: 'responses', key: null, configured: true }),
      expect.objectContaining({ name: 'openai', api: 'responses', configured: false }),
      expect.objectContaining({ name: 'openai-compatible', baseURL: null, baseURLFrom: 'OPENAI_COMPATIBLE_BASE_URL' }),
      { ...common, name: 'scripted', provider: 'scripted', api: null, baseURL: null, baseURLFrom: null, key: null },
      expect.objectContaining({ name: 'second', key: { variable: 'SECOND_KEY', set: false } }),
    ])
    expect(JSON.stringify(report)).not.toMatch(/hidden|-key/)
  })
})
