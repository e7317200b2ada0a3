import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defaultRetry } from '../models/retry.ts'
import { type ConfigOptions, loadConfig } from './config.ts'

let root: string
let cwd: string
let home: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'quiesce-config-'))
  cwd = join(root, 'work')
  home = join(root, 'home')
  mkdirSync(cwd)
  mkdirSync(join(home, '.config/quiesce'), { recursive: true })
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const workspaceFile = () => join(cwd, 'quiesce.yaml')
const userFile = () => join(home, '.config/quiesce/config.yaml')
/** In a workspace that is trusted; trust.test.ts has the others. */
const load = (options: ConfigOptions = {}, env: Record<string, string> = {}) =>
  loadConfig(options, { cwd, env: { HOME: home, QUIESCE_TRUST: cwd, ...env } })

describe('where a value comes from', () => {
  it('is the default where nothing says anything', async () => {
    expect(await load()).toEqual({
      store: { value: `sqlite:${home}/.local/share/quiesce/quiesce.db`, source: 'default' },
      model: { value: null, source: 'default' },
      logLevel: { value: 'warn', source: 'default' },
      retry: { value: defaultRetry, source: 'default' },
      models: {},
      refusedModels: {},
      files: [
        { path: workspaceFile(), found: false },
        { path: userFile(), found: false },
      ],
      workspace: { path: cwd, trusted: true, source: 'QUIESCE_TRUST' },
      problems: [],
    })
  })

  it('is the first of option, variable, workspace and user that says something', async () => {
    const wanted = fc.record({ option: fc.boolean(), variable: fc.boolean(), workspace: fc.boolean(), user: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(wanted, fc.constantFrom('model', 'logLevel', 'store'), async (given, what) => {
        const values =
          {
            model: ['a/1', 'a/2', 'a/3', 'a/4'],
            logLevel: ['debug', 'info', 'error', 'silent'],
            store: ['memory:', 'sqlite:/2', 'sqlite:/3', 'sqlite:/4'],
          }[what] ?? []
        const [option, variable, workspace, user] = values
        const name = { model: 'QUIESCE_MODEL', logLevel: 'QUIESCE_LOG', store: 'QUIESCE_STORE' }[what] ?? ''
        rmSync(workspaceFile(), { force: true })
        rmSync(userFile(), { force: true })
        if (given.workspace) writeFileSync(workspaceFile(), `${what}: ${workspace}\n`)
        if (given.user) writeFileSync(userFile(), `${what}: ${user}\n`)
        const config = await load(given.option ? { [what]: option } : {}, given.variable ? { [name]: variable ?? '' } : {})
        const found = { model: config.model, logLevel: config.logLevel, store: config.store }[what]
        const flag = { model: '--model', logLevel: '--log-level', store: '--store' }[what]
        const places = [
          { said: given.option, value: option, source: flag },
          { said: given.variable, value: variable, source: name },
          { said: given.workspace, value: workspace, source: workspaceFile() },
          { said: given.user, value: user, source: userFile() },
        ]
        const first = places.find(({ said }) => said)
        if (first === undefined) expect(found?.source).toBe('default')
        else expect(found).toEqual({ value: first.value, source: first.source })
      }),
      { numRuns: 60 },
    )
  })

  it('passes over empty variables, and XDG directories that are not absolute', async () => {
    const config = await load({}, { QUIESCE_MODEL: ' ', QUIESCE_STORE: '', XDG_DATA_HOME: 'relative' })
    expect(config.model.source).toBe('default')
    expect(config.store.value).toBe(`sqlite:${home}/.local/share/quiesce/quiesce.db`)
    const other = await load({}, { XDG_DATA_HOME: join(root, 'data'), XDG_CONFIG_HOME: join(root, 'conf') })
    expect(other.store.value).toBe(`sqlite:${root}/data/quiesce/quiesce.db`)
    expect(other.files[1]?.path).toBe(join(root, 'conf/quiesce/config.yaml'))
  })

  it('takes a relative store from where it was said', async () => {
    writeFileSync(userFile(), 'store: sqlite:mine.db\n')
    expect((await load()).store.value).toBe(`sqlite:${home}/.config/quiesce/mine.db`)
    expect((await load({ store: 'sqlite:mine.db' })).store.value).toBe(`sqlite:${cwd}/mine.db`)
  })

  it('joins the named models of both files, the workspace first', async () => {
    writeFileSync(workspaceFile(), 'models:\n  local: {provider: openai-compatible, baseURL: "http://127.0.0.1:1/v1", contextWindow: 5}\n')
    writeFileSync(userFile(), 'models:\n  local: {provider: scripted}\n  other: {provider: scripted, model: demo}\n')
    expect((await load()).models).toEqual({
      local: { value: { provider: 'openai-compatible', baseURL: 'http://127.0.0.1:1/v1', contextWindow: 5 }, source: workspaceFile() },
      other: { value: { provider: 'scripted', model: 'demo' }, source: userFile() },
    })
  })

  it('takes every part of a named model, and its name as it is', async () => {
    const entry = {
      provider: 'openai',
      baseURL: 'https://models.example/v1',
      apiKeyEnv: 'MINE',
      api: 'chat',
      contextWindow: 9,
      model: 'a/b',
      modelOptions: { temperature: 0.5, providerOptions: { user: 'me' } },
      retry: { attempts: 2 },
    }
    writeFileSync(userFile(), JSON.stringify({ models: { constructor: entry, 'my-1.b_c': { provider: 'anthropic' } } }))
    const { models } = await load()
    expect(Object.keys(models)).toEqual(['constructor', 'my-1.b_c'])
    expect(models.constructor).toEqual({ value: entry, source: userFile() })
  })

  it('joins what both files say about retries, the workspace first (TU-5)', async () => {
    writeFileSync(workspaceFile(), 'retry: {attempts: 2}\n')
    writeFileSync(userFile(), 'retry: {attempts: 3, firstByteMs: 5}\n')
    expect((await load()).retry).toEqual({
      value: { ...defaultRetry, attempts: 2, firstByteMs: 5 },
      source: `${userFile()}, ${workspaceFile()}`,
    })
  })

  it('takes an empty file, and one of comments', async () => {
    for (const text of ['', '# nothing\n', '{}\n']) {
      writeFileSync(workspaceFile(), text)
      expect(await load()).toMatchObject({ model: { value: null }, files: [{ found: true }, { found: false }] })
    }
  })
})

describe('a file that can not be used', () => {
  it.each([
    [
      'an unknown key',
      'model: a/b\nmodle: a/c\n',
      /quiesce\.yaml:2: unknown key "modle"; allowed are model, logLevel, store, models, retry$/,
    ],
    [
      'an unknown key of a model',
      'models:\n  mine:\n    provider: scripted\n    apiKey: sk\n',
      /:4: unknown key "apiKey" in models\.mine; allowed are provider, baseURL, apiKeyEnv/,
    ],
    ['a value of another type', '# hello\nmodel: 5\n', /:2: model: expected string, got 5/],
    ['a value that is not on the list', 'logLevel: loud\n', /:1: logLevel: expected one of "trace".*got "loud"/],
    ['a value deep inside', 'models:\n  a:\n    provider: scripted\n    contextWindow: 0\n', /:4: models\.a\.contextWindow: too small/],
    ['a missing value', 'models:\n  a:\n    model: x\n', /:2: models\.a\.provider: required/],
    ['a list', '- a\n', /quiesce\.yaml:1: the file: expected record|object/],
    ['no YAML', 'model: a/b\nstore: a: b\n', /quiesce\.yaml:2: not YAML: /],
    [
      'another provider',
      'models:\n  a: {provider: magic}\n',
      /:2: models\.a\.provider: expected one of "openai-compatible", "openai", "anthropic", "scripted", got "magic"/,
    ],
    ['a name with a slash', 'models:\n  a/b: {provider: scripted}\n', /:2: models: "a\/b" can't be named/],
    [
      'an API of another vendor',
      'models:\n  a:\n    provider: anthropic\n    api: chat\n',
      /:4: models\.a\.api: it is for provider openai alone, not for anthropic/,
    ],
    [
      'another API',
      'models:\n  a: {provider: openai, api: completions}\n',
      /models\.a\.api: expected one of "responses", "chat", got "completions"/,
    ],
    [
      'a server for a script',
      'models:\n  a: {provider: scripted, baseURL: "http://x/"}\n',
      /models\.a\.baseURL: a scripted model has none/,
    ],
    ['an address that is none', 'models:\n  a: {provider: openai, baseURL: here}\n', /models\.a\.baseURL: must be a http or https URL/],
    [
      'an address with a query',
      'models:\n  a: {provider: openai, baseURL: "http://x/v1?a=b"}\n',
      /models\.a\.baseURL: must end with its path/,
    ],
    [
      'an option out of range',
      'models:\n  a:\n    provider: openai\n    modelOptions:\n      seed: 1\n      temperature: 3\n',
      /:6: models\.a\.modelOptions\.temperature: expected a number from 0 to 2, got 3/,
    ],
    [
      'an unknown option',
      'models:\n  a:\n    provider: openai\n    modelOptions:\n      top_p: 1\n',
      /:5: models\.a\.modelOptions\.top_p: unknown option; known are temperature,.*providerOptions/,
    ],
    ['an unknown key of retries', 'retry:\n  tries: 3\n', /:2: unknown key "tries" in retry; allowed are attempts, firstDelayMs/],
    ['too many attempts', 'retry: {attempts: 1000}\n', /:1: retry\.attempts: too big: at most 20, got 1000/],
    [
      'retries of a model',
      'models:\n  a: {provider: openai, retry: {firstByteMs: 0}}\n',
      /models\.a\.retry\.firstByteMs: too small: at least 1/,
    ],
    ['its own trust', 'model: a/b\ntrust: [/]\n', /:2: trust: a workspace can't ask for trust itself/],
    ['a store that is none', 'store: postgres://x\n', /quiesce\.yaml: store: expected sqlite:PATH/],
  ])('%s is said with its place', async (_, text, message) => {
    writeFileSync(workspaceFile(), text)
    const failed = load()
    await expect(failed).rejects.toThrow(message)
    await expect(failed).rejects.toMatchObject({ name: 'ConfigError' })
  })

  it('one that can not be read is said, too', async () => {
    mkdirSync(workspaceFile())
    await expect(load()).rejects.toThrow(/quiesce\.yaml: can't be read: it is not a file/)
  })

  it.each([
    ['nesting without end', `models: ${'['.repeat(200_000)}`],
    [
      'aliases of aliases',
      `a: &a [x, x, x, x]\n${[...'bcdefghij'].map((name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghi'[at]}`).join()}]`).join('\n')}`,
    ],
  ])('%s is said', async (_, text) => {
    writeFileSync(workspaceFile(), text)
    await expect(load()).rejects.toMatchObject({ name: 'ConfigError', message: expect.stringMatching(/quiesce\.yaml(:\d+)?: not YAML/) })
  })

  it.each(['/dev/zero', 'pipe', 'large'])('a link to %s is said, and not read', async (target) => {
    if (target === 'pipe') execFileSync('mkfifo', [join(cwd, 'pipe')])
    if (target === 'large') writeFileSync(join(cwd, 'large'), '#'.repeat(1024 * 1024 + 1))
    symlinkSync(target, workspaceFile())
    await expect(load()).rejects.toThrow(/quiesce\.yaml: can't be read: it (is not a file|has 1048577 bytes, at most 1048576 are read)/)
  })

  it.each([
    'models: {mine: {provider: openai, apiKey: sk-secret}}',
    'models: {mine: {provider: openai, apiKeyEnv: sk-secret}}',
    'models: {mine: {provider: openai, baseURL: "https://me:sk-secret@models.example/v1"}}',
    'models: {mine: {provider: openai, baseURL: "https://models.example/v1?key=sk-secret"}}',
    'models: {mine: {provider: openai, baseURL: sk-secret}}',
  ])('never repeats a secret in the wrong place: %s', async (text) => {
    writeFileSync(workspaceFile(), text)
    const message = await load().then(String, String)
    expect(message).toMatch(/quiesce\.yaml:1: /)
    expect(message).not.toContain('sk-secret')
  })

  it('a level or a store of the environment is said with its variable', async () => {
    await expect(load({}, { QUIESCE_LOG: 'loud' })).rejects.toThrow(/QUIESCE_LOG: log level: expected one of trace, debug.*"loud"/)
    await expect(load({}, { QUIESCE_STORE: 'x' })).rejects.toThrow(/QUIESCE_STORE: store: expected sqlite:PATH/)
  })
})
