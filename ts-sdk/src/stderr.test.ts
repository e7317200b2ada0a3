import { expect, it, vi } from 'vitest'
import { StderrLog } from './stderr.ts'

it('gives whole lines, however they are cut, and the last one at the end', () => {
  const lines: string[] = []
  const log = new StderrLog((line) => lines.push(line))
  const bytes = Buffer.from('eins\nzwölf 🧭\r\n\nund')
  for (const byte of bytes) log.push(Buffer.of(byte))
  expect(lines).toEqual(['eins', 'zwölf 🧭\r', ''])
  log.end()
  log.end()
  expect(lines).toEqual(['eins', 'zwölf 🧭\r', '', 'und'])
})

it('keeps the end alone, however much is written', () => {
  const log = new StderrLog()
  for (let n = 0; n < 2000; n++) log.push(Buffer.from(`line ${n}: ${'x'.repeat(40)}\n`))
  expect(log.tail.length).toBeLessThanOrEqual(8192)
  expect(log.tail).toMatch(/line 1999: x+$/)
})

it('goes on behind a handler that throws, and warns', () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const lines: string[] = []
  const log = new StderrLog((line) => {
    lines.push(line)
    throw line === 'a' ? new Error('mine') : line
  })
  log.push(Buffer.from('a\nb\n'))
  expect(lines).toEqual(['a', 'b'])
  expect(warn.mock.calls.map(([warning]) => String(warning))).toEqual(['Error: mine', 'Error: onStderr threw b'])
  warn.mockRestore()
})
