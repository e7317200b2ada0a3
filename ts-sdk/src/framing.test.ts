import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { ProtocolError } from './errors.ts'
import { FrameReader, frameOf } from './framing.ts'

function read(chunks: readonly Uint8Array[], reader = new FrameReader()): string[] {
  const frames: string[] = []
  for (const chunk of chunks) reader.push(chunk, (frame) => frames.push(frame))
  return frames
}

function cut(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const points = [0, ...at.map((point) => point % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  return points.slice(1).map((end, index) => bytes.subarray(points[index], end))
}

it('gives back any text, cut anywhere (FR-1)', () => {
  const text = fc.string({ unit: 'binary', maxLength: 40 })
  fc.assert(
    fc.property(fc.array(text, { maxLength: 8 }), fc.array(fc.nat(), { maxLength: 30 }), (texts, at) => {
      const bytes = Buffer.from(texts.map((value) => frameOf({ value })).join(''))
      expect(read(cut(bytes, at)).map((frame) => JSON.parse(frame).value)).toEqual(texts)
    }),
  )
})

it('is cut by LF alone: other separators are text (FR-1)', () => {
  const value = 'a\u2028b\u2029c\u0085d\u000be\u000cf\rg\ufeff🧭'
  expect(read([Buffer.from(`${JSON.stringify({ value })}\n`)]).map((frame) => JSON.parse(frame))).toEqual([{ value }])
})

it('keeps a byte order mark, passes over blank lines, and waits for the LF', () => {
  expect(read([Buffer.from('\n \r\n{}\r\n{"half"')])).toEqual(['{}\r'])
  expect(read([Buffer.from('\ufeff{}\n')])).toEqual(['\ufeff{}'])
  expect(read([Buffer.from(' \t\r\n\u2028\n\u00a0\n\v\n')])).toEqual(['\u2028', '\u00a0', '\v'])
})

it('joins the chunks of a frame once, however many they are (FR-1)', () => {
  const concat = vi.spyOn(Buffer, 'concat')
  const frame = `"${'x'.repeat(100_000)}"`
  const chunks = Array.from(Buffer.from(`${frame}\n`), (byte) => Uint8Array.of(byte))
  expect(read(chunks)).toEqual([frame])
  expect(concat).toHaveBeenCalledTimes(1)
  concat.mockRestore()
})

it('takes a frame of the limit and refuses one byte more, before the LF comes', () => {
  const limited = () => new FrameReader(10)
  expect(read([Buffer.from('1234567890\n12\n')], limited())).toEqual(['1234567890', '12'])
  expect(() => read([Buffer.from('12345'), Buffer.from('678901')], limited())).toThrow(ProtocolError)
  expect(() => read([Buffer.from('12345678901\n')], limited())).toThrow('more than 10 bytes')
})

it('refuses what is not UTF-8', () => {
  expect(() => read([Uint8Array.of(0x22, 0xff, 0x22, 0x0a)])).toThrow('not UTF-8')
  expect(() => read([Uint8Array.of(0x22, 0xc3, 0x0a)])).toThrow(ProtocolError)
})

it('writes one line, whatever the text holds', () => {
  const frame = frameOf({ text: 'a\nb\u2028c\ud800' })
  expect(frame.indexOf('\n')).toBe(frame.length - 1)
  expect(Buffer.from(frame).toString('utf8')).toBe(frame)
})
