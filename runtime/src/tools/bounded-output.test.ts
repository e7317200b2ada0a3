import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BoundedOutput } from './bounded-output.ts'

const collect = (limits: { head: number; tail: number }, chunks: readonly Buffer[]) => {
  const output = new BoundedOutput(limits)
  for (const chunk of chunks) output.push(chunk)
  return output
}

const chunked = (bytes: Buffer, sizes: readonly number[]): Buffer[] => {
  const chunks: Buffer[] = []
  let at = 0
  for (const size of sizes) {
    chunks.push(bytes.subarray(at, at + size))
    at += size
  }
  return [...chunks, bytes.subarray(at)]
}

test('head and tail are those of the whole, however it came in pieces', () => {
  const limits = fc.record({ head: fc.integer({ min: 1, max: 12 }), tail: fc.integer({ min: 1, max: 12 }) })
  fc.assert(
    fc.property(limits, fc.stringMatching(/^[a-z]{0,60}$/), fc.array(fc.integer({ min: 0, max: 20 })), ({ head, tail }, text, sizes) => {
      const cut = text.length - head - tail
      const expected = cut <= 0 ? text : `${text.slice(0, head)}\n[${cut} bytes of the output are cut here]\n${text.slice(-tail)}`
      const output = collect({ head, tail }, chunked(Buffer.from(text), sizes))
      expect(output.text()).toBe(expected)
      expect(output.total).toBe(text.length)
      if (cut <= 0) expect(output.bytes().toString()).toBe(text)
      else expect(() => output.bytes()).toThrow('cut')
    }),
  )
})

test('a character is never cut in two, and every byte is shown or counted', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'é', '€', '😀'), maxLength: 40 })
  fc.assert(
    fc.property(fc.integer({ min: 4, max: 12 }), fc.integer({ min: 4, max: 12 }), text, (head, tail, whole) => {
      const shown = collect({ head, tail }, [Buffer.from(whole)]).text()
      expect(shown).not.toContain('\uFFFD')
      const note = /\n\[(\d+) bytes of the output are cut here\]\n/.exec(shown)
      const rest = note === null ? shown : shown.replace(note[0], '')
      expect(Buffer.byteLength(rest) + Number(note?.[1] ?? 0)).toBe(Buffer.byteLength(whole))
      if (note === null) expect(shown).toBe(whole)
    }),
  )
})

test('bytes that are no text are shown as U+FFFD, cut or not', () => {
  expect(collect({ head: 4, tail: 4 }, [Buffer.from([0x61, 0, 0xff, 0x62])]).text()).toBe('a\uFFFD\uFFFDb')
  const binary = fc.uint8Array({ maxLength: 100 })
  fc.assert(
    fc.property(
      binary,
      (bytes) =>
        !collect({ head: 8, tail: 8 }, [Buffer.from(bytes)])
          .text()
          .includes('\0'),
    ),
  )
})
