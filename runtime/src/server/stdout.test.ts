import { Console } from 'node:console'
import fs, * as imported from 'node:fs'
import { Writable } from 'node:stream'
import { afterEach, expect, it, vi } from 'vitest'
import { type TakenStdout, takeStdout } from './stdout.ts'

let taken: TakenStdout | undefined
afterEach(() => {
  taken?.restore()
  taken = undefined
  vi.restoreAllMocks()
})

function stream(): { texts: string[]; writable: Writable } {
  const texts: string[] = []
  const writable = new Writable({
    write: (chunk: Buffer, _, done) => {
      texts.push(chunk.toString('utf8'))
      done()
    },
  })
  return { texts, writable }
}

it('FR-5: frames alone reach stdout, whatever a library prints', () => {
  const out = stream()
  const err = stream()
  // A library that took hold of the stream before: a logger, a console of its own.
  const early = new Console({ stdout: out.writable, stderr: err.writable })
  taken = takeStdout(out.writable, err.writable)
  early.log('from a console')
  out.writable.write('from a stream\n')
  out.writable.write(Buffer.from('bytes\n'), () => undefined)
  taken.write('{"frame":1}\n', () => undefined)
  expect(out.texts).toEqual(['{"frame":1}\n'])
  expect(err.texts).toEqual(['from a console\n', 'from a stream\n', 'bytes\n'])
})

it('FR-5: a library that writes to the descriptor itself reaches stderr', () => {
  const written: unknown[] = []
  vi.spyOn(fs, 'writeSync').mockImplementation((fd: number) => {
    written.push(fd)
    return 0
  })
  taken = takeStdout(stream().writable, stream().writable)
  fs.writeSync(1, 'x')
  imported.writeSync(1, 'x')
  fs.writeSync(2, 'x')
  fs.writeSync(7, 'x')
  expect(written).toEqual([2, 2, 2, 7])
})

it('gives stdout back', () => {
  const out = stream()
  const before = fs.writeSync
  taken = takeStdout(out.writable, stream().writable)
  taken.restore()
  out.writable.write('mine')
  expect(out.texts).toEqual(['mine'])
  expect(fs.writeSync).toBe(before)
})
