import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { FrameReader, type FrameSink } from './framing.ts'

type Seen = { frame: string } | { tooLarge: number } | { notText: true }

function collector(): { sink: FrameSink; seen: Seen[] } {
  const seen: Seen[] = []
  return {
    seen,
    sink: {
      frame: (text) => seen.push({ frame: text }),
      tooLarge: (limit) => seen.push({ tooLarge: limit }),
      notText: () => seen.push({ notText: true }),
    },
  }
}

function read(bytes: Buffer, cuts: readonly number[], limit?: number): Seen[] {
  const { sink, seen } = collector()
  const reader = limit === undefined ? new FrameReader(sink) : new FrameReader(sink, limit)
  let start = 0
  for (const cut of [...cuts].map((at) => at % (bytes.length + 1)).sort((a, b) => a - b)) {
    // A reader may not lean on the chunk once `push` is back: streams use their buffers again.
    const chunk = Buffer.from(bytes.subarray(start, cut))
    reader.push(chunk)
    chunk.fill(0xff)
    start = cut
  }
  reader.push(bytes.subarray(start))
  return seen
}

const separators = ['\u2028', '\u2029', '\u0085', '\v', '\f', '\r', '\u001c', '\u001d', '\u001e']
const textOf = fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...separators, '🧭', 'é', '漢')), { maxLength: 8 })
const frameText = textOf.map((parts) => JSON.stringify({ text: parts.join('') }))
const cutsOf = fc.array(fc.nat(), { maxLength: 40 })

describe('FR-1 framing', () => {
  it('gives back every frame of any text, cut anywhere, with LF or CRLF', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(frameText, fc.constantFrom('\n', '\r\n')), { maxLength: 6 }), cutsOf, (frames, cuts) => {
        const bytes = Buffer.from(frames.map(([text, end]) => text + end).join(''), 'utf8')
        expect(read(bytes, cuts)).toEqual(frames.map(([frame]) => ({ frame })))
      }),
    )
  })

  it('keeps raw separators inside a string: only LF splits', () => {
    for (const separator of separators.filter((each) => each !== '\r')) {
      const frame = `{"text":"a${separator}b"}`
      expect(read(Buffer.from(`${frame}\n`), [3, 10, 11, 12, 13])).toEqual([{ frame }])
    }
  })

  it('is the same however it is cut, faults included', () => {
    const piece = fc.oneof(
      frameText.map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
      fc.constant(Buffer.from('\n')),
      fc.constant(Buffer.from('\r\n')),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 10 }), cutsOf, fc.integer({ min: 1, max: 50 }), (pieces, cuts, limit) => {
        const bytes = Buffer.concat(pieces)
        expect(read(bytes, cuts, limit)).toEqual(read(bytes, [], limit))
      }),
    )
  })

  it('ignores empty lines and tolerates the BOM of the first frame alone', () => {
    expect(read(Buffer.from('\n\r\n{"a":1}\n\n{"b":2}\r\n'), [1, 4])).toEqual([{ frame: '{"a":1}' }, { frame: '{"b":2}' }])
    expect(read(Buffer.from('\uFEFF{"a":1}\n\uFEFF{"b":2}\n'), [1, 2])).toEqual([{ frame: '{"a":1}' }, { frame: '\uFEFF{"b":2}' }])
  })

  it('keeps a frame without an LF to itself', () => {
    expect(read(Buffer.from('{"a":1}\n{"b":'), [])).toEqual([{ frame: '{"a":1}' }])
  })

  it('says that a frame is no UTF-8 and goes on', () => {
    const bytes = Buffer.concat([Buffer.from([0x22, 0xc3, 0x28, 0x22, 0x0a]), Buffer.from('{"ok":true}\n')])
    expect(read(bytes, [2])).toEqual([{ notText: true }, { frame: '{"ok":true}' }])
  })

  it('says once that a frame is over the limit, skips to its LF, and goes on', () => {
    const long = 'x'.repeat(101)
    for (const cuts of [[], [50, 100, 101], [101], [102], [100]])
      expect(read(Buffer.from(`${long}\n{"ok":1}\n`), cuts, 100)).toEqual([{ tooLarge: 100 }, { frame: '{"ok":1}' }])
    expect(read(Buffer.from(`${'x'.repeat(100)}\n`), [7], 100)).toEqual([{ frame: 'x'.repeat(100) }])
  })

  it('speaks of a frame over the limit before its LF came', () => {
    expect(read(Buffer.from('x'.repeat(200)), [101, 150], 100)).toEqual([{ tooLarge: 100 }])
  })

  it('is linear: the bytes that it moves and looks at grow as the frame does', () => {
    for (const chunkBytes of [1, 1000, 65_536]) {
      const size = chunkBytes === 1 ? 1 << 15 : 1 << 21
      const moved = vi.spyOn(Buffer.prototype, 'copy')
      const looked = vi.spyOn(Buffer.prototype, 'indexOf')
      const { sink, seen } = collector()
      const reader = new FrameReader(sink)
      const chunk = Buffer.alloc(chunkBytes, 'x')
      for (let sent = 0; sent < size; sent += chunkBytes) reader.push(chunk)
      reader.push(Buffer.from('\n'))
      const bytesMoved = moved.mock.results.reduce((sum, result) => sum + Number(result.value), 0)
      const bytesLooked = looked.mock.contexts.reduce((sum, context) => sum + (context as Buffer).length, 0)
      vi.restoreAllMocks()
      expect(seen.length).toBe(1)
      expect(bytesMoved).toBeLessThan(4 * size)
      expect(bytesLooked).toBeLessThan(2 * size)
    }
  })
})
