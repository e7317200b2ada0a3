import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type Host, identify, isGone, linuxHost, thisHost } from './process-identity.ts'

const host = (starts: Readonly<Record<number, string>>, bootId = 'boot-1'): Host => ({
  name: () => 'here',
  bootId: () => bootId,
  processStart: (pid) => starts[pid] ?? null,
})
const other = { host: 'here', bootId: 'boot-1', pid: 7, processStart: '100' }

describe('is the other process gone?', () => {
  it.each([
    ['it runs', other, host({ 7: '100' }), false],
    ['nobody has its pid', other, host({}), true],
    ['another process has its pid', other, host({ 7: '101' }), true],
    ['the host was booted since', other, host({ 7: '100' }, 'boot-2'), true],
    ['it is of another host', { ...other, host: 'there' }, host({}), false],
    ['its boot is not known', { ...other, bootId: 'unknown' }, host({}), false],
    ['this boot is not known', other, host({}, 'unknown'), false],
    ['its start is not known', { ...other, processStart: 'unknown' }, host({ 7: '101' }), false],
  ])('%s', (_, process, on, gone) => {
    expect(isGone(process, on)).toBe(gone)
  })
})

describe('this process', () => {
  it('is not gone, and is the same each time', () => {
    const identity = identify()
    expect(identity).toMatchObject({ pid: process.pid, host: expect.stringMatching(/./), processStart: expect.stringMatching(/./) })
    expect(identify()).toEqual(identity)
    expect(isGone(identity)).toBe(false)
  })

  it('tells a child that runs from one that ended', async () => {
    const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] })
    await once(child, 'spawn')
    const identity = identify(thisHost, child.pid)
    expect(isGone(identity)).toBe(false)
    child.stdin?.end()
    await once(child, 'exit')
    expect(isGone(identity)).toBe(true)
  })
})

describe('the proc file system', () => {
  const proc = mkdtempSync(join(tmpdir(), 'quiesce-proc-'))
  afterAll(() => rmSync(proc, { recursive: true, force: true }))

  const stat = (pid: number, text: string) => {
    mkdirSync(join(proc, String(pid)))
    writeFileSync(join(proc, String(pid), 'stat'), text)
  }
  const fields = (state: string, start: string) => `${state} ${Array.from({ length: 18 }, (_, i) => i + 1).join(' ')} ${start} 0 0`

  it('is read past any name, and a zombie counts as gone', () => {
    stat(1, `1 (node) ${fields('S', '4242')}`)
    stat(2, `2 (a) b (c) 9 9) ${fields('R', '77')}`)
    stat(3, `3 (dead) ${fields('Z', '88')}`)
    const { processStart, bootId } = linuxHost(proc)
    expect([1, 2, 3, 4].map((pid) => processStart(pid))).toEqual(['4242', '77', null, null])
    expect(bootId()).toBe('unknown')
  })
})
