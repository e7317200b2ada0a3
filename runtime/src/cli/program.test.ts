import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Refusal } from '../log/refusal.ts'
import { ConfigError } from './config-error.ts'
import { type Commands, type DoctorOptions, type RunOptions, runProgram } from './program.ts'
import type { Loss, Terminal } from './terminal.ts'

let said = ''
let printed = ''
let loss: Loss | null = null
const terminal: Terminal = {
  print: (text) => {
    printed += text
  },
  say: (line) => {
    said += `${line}\n`
  },
  stdoutIsTty: false,
  stderrIsTty: false,
  onLost: () => undefined,
  flush: async () => loss,
}

beforeEach(() => {
  said = ''
  printed = ''
  loss = null
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said += String(text)
    return true
  })
})
afterEach(() => vi.restoreAllMocks())

async function program(args: string[], fail?: unknown) {
  const ran: { run?: RunOptions; serve?: unknown; doctor?: DoctorOptions } = {}
  const commands: Commands = {
    run: async (options) => {
      ran.run = options
      if (fail !== undefined) throw fail
      return 4
    },
    serve: async (options) => {
      ran.serve = options
      return 0
    },
    doctor: async (options) => {
      ran.doctor = options
      return 1
    },
  }
  const status = await runProgram(args, commands, terminal)
  return { status, ran }
}

describe('the command line', () => {
  it('runs with the defaults of the contract (CLI-1)', async () => {
    const { status, ran } = await program(['run', 'fix', 'the tests'])
    expect(status).toBe(4)
    expect(ran.run).toEqual({
      words: ['fix', 'the tests'],
      cwd: process.cwd(),
      until: 'quiescent',
      wait: true,
      output: 'text',
      quiet: false,
      config: {},
    })
  })

  it('takes every option', async () => {
    const line =
      'run --model a/b --store memory: --log-level debug --cwd /tmp --system S --permissions read-only --max-steps 3 --timeout 1.5m --until idle --no-wait --output jsonl -q -'
    const { ran } = await program(line.split(' '))
    expect(ran.run).toEqual({
      words: ['-'],
      cwd: '/tmp',
      system: 'S',
      permissions: 'read-only',
      maxSteps: 3,
      timeoutMs: 90_000,
      until: 'idle',
      wait: false,
      output: 'jsonl',
      quiet: true,
      config: { model: 'a/b', store: 'memory:', logLevel: 'debug' },
    })
    expect((await program(['run', '--session', 's1', 'x'])).ran.run).toMatchObject({ session: 's1' })
    expect((await program(['serve', '--stdio', '--store', 'memory:'])).ran.serve).toEqual({ config: { store: 'memory:' } })
    expect((await program(['doctor', '--json'])).ran.doctor).toEqual({ json: true, config: {} })
    expect((await program(['doctor', '--probe'])).ran.doctor).toEqual({ json: false, probe: true, config: {} })
  })

  it.each([
    ['250ms', 250],
    ['90', 90_000],
    ['90s', 90_000],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['596h', 596 * 3_600_000],
  ])('reads the time %s', async (text, ms) => {
    expect((await program(['run', '--timeout', text, 'x'])).ran.run?.timeoutMs).toBe(ms)
  })

  it.each([
    ['an unknown command', ['fly'], /unknown command 'fly'/],
    ['an unknown option', ['run', '--fast', 'x'], /unknown option '--fast'/],
    ['no prompt', ['run'], /no prompt/],
    ['an empty prompt', ['run', ' '], /no prompt/],
    ['stdin twice', ['run', '-', '-'], /read once/],
    ['an unknown mode', ['run', '--permissions', 'all', 'x'], /Allowed choices are read-only, edit, allow-all/],
    ['an unknown state', ['run', '--until', 'done', 'x'], /Allowed choices are idle, quiescent/],
    ['an unknown format', ['run', '--output', 'xml', 'x'], /Allowed choices are text, json, jsonl/],
    ['an unknown level', ['run', '--log-level', 'loud', 'x'], /Allowed choices are trace/],
    ['no steps', ['run', '--max-steps', '0', 'x'], /whole number from 1/],
    ['half a step', ['run', '--max-steps', '1.5', 'x'], /whole number from 1/],
    ['no time', ['run', '--timeout', '0', 'x'], /time above 0/],
    ['a time that is none', ['run', '--timeout', 'soon', 'x'], /time above 0/],
    ['a time beyond timers', ['run', '--timeout', '99999999h', 'x'], /'99999999h' is invalid\. It must be at most 596h\./],
    ['a system text for an old session', ['run', '--session', 's', '--system', 'S', 'x'], /--system belongs to a new session/],
    ['a directory for an old session', ['run', '--session', 's', '--cwd', '/', 'x'], /--cwd belongs to a new session/],
    ['a server without a transport', ['serve'], /--stdio/],
    ['nothing at all', [], /Usage: quiesce/],
  ])('CLI-4: %s is a usage error, exit status 2, and nothing runs', async (_, args, message) => {
    const { status, ran } = await program(args)
    expect(status).toBe(2)
    expect(ran).toEqual({})
    expect(said).toMatch(message)
    expect(printed).toBe('')
  })

  it('prints help and version on stdout, with status 0', async () => {
    expect((await program(['--help'])).status).toBe(0)
    expect(printed).toMatch(/Examples:[\s\S]*scripted\/demo/)
    printed = ''
    expect((await program(['run', '--help'])).status).toBe(0)
    expect(printed).toMatch(/Exit status:[\s\S]*4 {2}no answer/)
    printed = ''
    expect((await program(['--version'])).status).toBe(0)
    expect(printed).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect(said).toBe('')
  })
})

describe('CLI-4: help that is lost', () => {
  it.each([
    ['a refused write', { kind: 'refused', why: 'stdout: ENOSPC' } as const, 5, 'quiesce: stdout: ENOSPC\n'],
    ['a reader that left', { kind: 'unread' } as const, 3, ''],
  ])('is no success: %s', async (_, lost, status, words) => {
    loss = lost
    for (const args of [['--help'], ['run', '--help'], ['--version']]) {
      said = ''
      expect((await program(args)).status).toBe(status)
      expect(said).toBe(words)
    }
  })
})

describe('CLI-4: what a command fails with', () => {
  it.each([
    ['a bad config', new ConfigError('quiesce.yaml:1: no'), 2, 'quiesce: quiesce.yaml:1: no\n'],
    ['no model', new Refusal('unknown_model', 'no model'), 2, 'quiesce: no model\n'],
    ['no key', new Refusal('model_auth', 'no key'), 2, 'quiesce: no key\n'],
    ['no such session', new Refusal('session_not_found', 'no session'), 2, 'quiesce: no session\n'],
    ['a busy session', new Refusal('session_busy', 'busy'), 5, 'quiesce: busy\n'],
    ['a store that fails', new Refusal('storage_unavailable', 'disk full'), 5, 'quiesce: disk full\n'],
  ])('%s', async (_, error, status, words) => {
    expect((await program(['run', 'x'], error)).status).toBe(status)
    expect(said).toBe(words)
  })

  it('a fault of the runtime is 5, with its stack', async () => {
    expect((await program(['run', 'x'], new TypeError('x is not a function'))).status).toBe(5)
    expect(said).toMatch(/^quiesce: TypeError: x is not a function\n +at /)
  })
})
