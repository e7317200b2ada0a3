import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, watch, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { deferred } from '../../base/deferred.ts'
import { DirectoryGates, MemoryGates } from './gates.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'quiesce-gates-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

const never = new AbortController().signal

it('of a directory open when another process makes the file, which first sees that the model is there', async () => {
  const gates = new DirectoryGates(join(directory, 'made'))
  const script = `
    const { existsSync, watch, writeFileSync } = require('node:fs')
    const [directory] = process.argv.slice(1)
    const release = () => { watcher.close(); writeFileSync(directory + '/go', '') }
    const watcher = watch(directory, () => { if (existsSync(directory + '/go.reached')) release() })
    process.stdout.write('watching')
  `
  const child = spawn(process.execPath, ['-e', script, join(directory, 'made')], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  await once(child.stdout, 'data')
  await gates.pass('go', never)
  expect(existsSync(join(directory, 'made', 'go'))).toBe(true)
  expect((await exited)[0]).toBe(0)
})

it('of a directory stay open, and ignore other files', async () => {
  const gates = new DirectoryGates(directory)
  let passed = false
  const passing = gates.pass('go', never).then(() => {
    passed = true
  })
  expect(existsSync(join(directory, 'go.reached'))).toBe(true)
  // A later watcher of the directory hears of each file after the gate has.
  const heard = deferred()
  const watcher = watch(directory, (_, name) => {
    if (name === 'other') heard.resolve()
  })
  writeFileSync(join(directory, 'other'), '')
  await heard.promise
  watcher.close()
  await turnOfTheLoop()
  expect(passed).toBe(false)
  writeFileSync(join(directory, 'go'), '')
  await passing
  await gates.pass('go', never)
})

it('of a directory announce what was begun', () => {
  new DirectoryGates(directory).played('steps-0')
  expect(existsSync(join(directory, 'steps-0.played'))).toBe(true)
})

it('let go at an abort, before and during the wait', async () => {
  for (const gates of [new DirectoryGates(directory), new MemoryGates()]) {
    await gates.pass('shut', AbortSignal.abort())
    const abort = new AbortController()
    const passing = gates.pass('shut', abort.signal)
    abort.abort()
    await passing
  }
})

it('in process open before or after the model comes', async () => {
  const gates = new MemoryGates()
  gates.release('early')
  await gates.pass('early', never)
  const passing = gates.pass('late', never)
  await gates.reached('late')
  gates.release('late')
  await passing
})
