import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { RuntimeNotFoundError } from './errors.ts'
import { type LaunchOptions, planLaunch } from './launch.ts'

let directory: string
/** A module beside which no runtime is installed, until a test does so. */
let from: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'quiesce-launch-'))
  from = pathToFileURL(join(directory, 'node_modules', '@quiesce', 'sdk', 'dist', 'launch.js')).href
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

function executable(path: string, mode = 0o755): string {
  const file = join(directory, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, '#!/bin/sh\n')
  chmodSync(file, mode)
  return file
}

/** Installs the package beside the SDK, its executable as one of another name. */
function installed(): string {
  const file = executable('node_modules/@quiesce/runtime/bin/main.js', 0o644)
  const manifest = join(directory, 'node_modules/@quiesce/runtime/package.json')
  writeFileSync(manifest, JSON.stringify({ name: '@quiesce/runtime', version: '0.1.0', bin: { quiesce: 'bin/main.js' } }))
  return file
}

const clean = { QUIESCE_RUNTIME: undefined, PATH: '' }
const plan = (options: LaunchOptions) => planLaunch({ ...options, env: { ...clean, ...options.env } }, from)
const started = (options: LaunchOptions) => {
  const { command, args } = plan(options)
  return [command, ...args]
}

it('takes the option, then QUIESCE_RUNTIME, then the package beside it, then PATH', () => {
  const onPath = executable('path/quiesce')
  const PATH = `:${join(directory, 'nowhere')}:${dirname(onPath)}`
  expect(started({ env: { PATH } })).toEqual([onPath, 'serve', '--stdio'])
  const beside = installed()
  expect(started({ env: { PATH } })).toEqual([process.execPath, beside, 'serve', '--stdio'])
  const named = executable('named/runtime')
  expect(started({ env: { PATH, QUIESCE_RUNTIME: named } })).toEqual([named, 'serve', '--stdio'])
  const option = executable('option/runtime.mjs', 0o644)
  expect(started({ runtime: option, env: { PATH, QUIESCE_RUNTIME: named } })).toEqual([process.execPath, option, 'serve', '--stdio'])
})

it('says where it looked when it found none', () => {
  expect(() => plan({})).toThrow(RuntimeNotFoundError)
  expect(() => plan({})).toThrow(
    `no Quiesce runtime was found. Looked at: the runtime option (not given); QUIESCE_RUNTIME (not set); the package @quiesce/runtime beside ${from} (not installed); quiesce on PATH (not there).`,
  )
})

it('takes no other runtime where the one that was named is wrong', () => {
  installed()
  const unfit = executable('unfit', 0o644)
  expect(() => plan({ runtime: unfit })).toThrow(`the runtime option names ${unfit}, which is not executable`)
  expect(() => plan({ runtime: './missing' })).toThrow('the runtime option names ./missing, which does not exist')
  expect(() => plan({ runtime: directory })).toThrow(
    `the runtime option names ${directory}, which is a directory; it must be the executable`,
  )
  expect(() => plan({ env: { QUIESCE_RUNTIME: 'missing' } })).toThrow('QUIESCE_RUNTIME names missing, which does not exist')
})

it('looks for a bare name on PATH, and for a path from here', () => {
  const onPath = executable('path/my-runtime')
  expect(started({ runtime: 'my-runtime', env: { PATH: dirname(onPath) } })[0]).toBe(onPath)
  expect(started({ runtime: relative('.', onPath) })[0]).toBe(onPath)
  const link = join(directory, 'link')
  symlinkSync(onPath, link)
  expect(started({ runtime: link })[0]).toBe(link)
})

it('gives store and log level by the environment, and nothing on the command line', () => {
  const runtime = executable('runtime')
  const { args, env, cwd } = plan({
    runtime,
    store: 'memory:',
    logLevel: 'debug',
    model: 'm/m',
    cwd: directory,
    env: { MINE: '1', HOME: undefined },
  })
  expect(args).toEqual(['serve', '--stdio'])
  expect(env).toMatchObject({ QUIESCE_STORE: 'memory:', QUIESCE_LOG: 'debug', MINE: '1', HOME: undefined })
  expect(cwd).toBe(directory)
  expect(plan({ runtime, env: { QUIESCE_STORE: 'memory:' } }).env.QUIESCE_STORE).toBe('memory:')
})

it('refuses a directory that is none', () => {
  const runtime = executable('runtime')
  expect(() => plan({ runtime, cwd: runtime })).toThrow(`the cwd option names ${runtime}, which is not a directory`)
})
