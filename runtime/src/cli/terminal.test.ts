import { closeSync, openSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTerminal } from './terminal.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quiesce-terminal-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** A pipe whose writes fail as the test says. */
function pipe(fail: () => Error | null = () => null) {
  const taken: string[] = []
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk, _, done) => {
      const error = fail()
      if (error === null) taken.push(String(chunk))
      done(error)
    },
  })
  return { stream, taken }
}

const failing = (code: string) => pipe(() => Object.assign(new Error(`${code}: no`), { code }))

/** A file as stdout, opened as the shell opens it; `print` goes to the descriptor. */
function onFile(path: string) {
  const fd = openSync(path, 'w')
  const terminal = openTerminal(Object.assign(pipe().stream, { fd }), pipe().stream)
  return { terminal, close: () => closeSync(fd) }
}

describe('stdout', () => {
  it('gets all of what is printed, through a pipe and into a file', async () => {
    const { stream, taken } = pipe()
    const terminal = openTerminal(stream, pipe().stream)
    for (const text of ['one', '', 'zwei €']) terminal.print(text)
    expect(await terminal.flush()).toBeNull()
    expect(taken.join('')).toBe('onezwei €')

    const path = join(folder, 'out')
    const file = onFile(path)
    const long = '€'.repeat(500_000)
    file.terminal.print(long)
    file.terminal.print('end')
    expect(await file.terminal.flush()).toBeNull()
    file.close()
    expect(readFileSync(path, 'utf8')).toBe(`${long}end`)
  })

  it.each(['EPIPE', 'ECONNRESET'])('whose reader left (%s) is told once, and gets nothing more', async (code) => {
    const terminal = openTerminal(failing(code).stream, pipe().stream)
    let told = 0
    terminal.onLost(() => {
      told += 1
    })
    terminal.print('one')
    expect(await terminal.flush()).toEqual({ kind: 'unread' })
    terminal.print('two')
    expect(await terminal.flush()).toEqual({ kind: 'unread' })
    expect(told).toBe(1)
  })

  it.each(['ENOSPC', 'EIO'])('that refuses a write (%s) is another thing, and says which', async (code) => {
    const terminal = openTerminal(failing(code).stream, pipe().stream)
    terminal.print('one')
    expect(await terminal.flush()).toEqual({ kind: 'refused', why: expect.stringMatching(`could not be written.*${code}`) })
  })

  it('on a full device refuses, too', async () => {
    const { terminal, close } = onFile('/dev/full')
    let told = 0
    terminal.onLost(() => {
      told += 1
    })
    terminal.print('one')
    expect(told).toBe(1)
    terminal.print('two')
    expect(await terminal.flush()).toMatchObject({ kind: 'refused', why: expect.stringMatching(/ENOSPC/) })
    close()
  })
})

it('stderr that is gone is no loss: nobody asked for it', async () => {
  const terminal = openTerminal(pipe().stream, failing('EPIPE').stream)
  terminal.say('one')
  terminal.print('two')
  expect(await terminal.flush()).toBeNull()
})
