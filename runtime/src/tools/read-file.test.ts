import { open, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MAX_IMAGE_BYTES } from './image-file.ts'
import { readFileTool } from './read-file.ts'
import { temporaryWorkspace } from './temporary-workspace.ts'

async function read(content: string | Buffer, at: { offset?: number; limit?: number } = {}): Promise<string> {
  await using workspace = await temporaryWorkspace()
  await writeFile(join(workspace.root, 'f'), content)
  const outcome = await readFileTool.execute({ path: 'f', ...at }, workspace.context)
  expect(outcome.isError).toBe(false)
  return outcome.content
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('')

test('lines come numbered, with or without a last newline', async () => {
  expect(await read('a\n\nb\n')).toBe('1\ta\n2\t\n3\tb')
  expect(await read('a\nb')).toBe('1\ta\n2\tb')
  expect(await read('\n')).toBe('1\t')
  expect(await read('')).toBe('[f is empty]')
})

test('offset and limit pick lines, and the note says how to go on', async () => {
  expect(await read(numbered(5), { offset: 2, limit: 2 })).toBe(
    '2\tline 2\n3\tline 3\n[lines 2 to 3 are shown, and the file goes on: read on with offset 4]',
  )
  expect(await read(numbered(5), { offset: 4, limit: 2 })).toBe('4\tline 4\n5\tline 5')
  expect(await read(numbered(5), { offset: 6 })).toBe('[f has only 5 lines: nothing is left from line 6 on]')
})

test('reading on with the offset of each note shows every line once, whatever the lines are', async () => {
  const line = fc.oneof(
    fc.stringMatching(/^[a-zé€]{0,20}$/),
    fc.integer({ min: 0, max: 1_900 }).map((length) => 'x'.repeat(length)),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 120 }), fc.integer({ min: 1, max: 200 }), async (lines, limit) => {
      await using workspace = await temporaryWorkspace()
      await writeFile(join(workspace.root, 'f'), lines.map((text) => `${text}\n`).join(''))
      const seen: string[] = []
      for (let offset: number | undefined = 1; offset !== undefined; ) {
        const { content } = await readFileTool.execute({ path: 'f', offset, limit }, workspace.context)
        expect(Buffer.byteLength(content)).toBeLessThan(52 * 1024)
        const shown = content.split('\n')
        const note: RegExpExecArray | null = /read on with offset (\d+)\]$/.exec(shown.at(-1) ?? '')
        seen.push(...(note === null ? shown : shown.slice(0, -1)))
        offset = note === null ? undefined : Number(note[1])
      }
      expect(seen).toEqual(lines.map((text, index) => `${index + 1}\t${text}`))
    }),
    { numRuns: 40 },
  )
})

test('at most 50 KiB at once, whatever the limit', async () => {
  const content = await read(`${'x'.repeat(1_899)}\n`.repeat(100), { limit: 100 })
  expect(Buffer.byteLength(content)).toBeLessThan(50 * 1024 + 100)
  expect(content).toMatch(/\[lines 1 to 26 are shown, and the file goes on: read on with offset 27\]$/)
})

test('by default 2,000 lines', async () => {
  const content = await read(numbered(3_000))
  expect(content).toContain('\n2000\tline 2000\n[lines 1 to 2000 are shown')
})

test('a long line is cut at a whole character', async () => {
  const content = await read(`${'x'.repeat(1_999)}€ and more\nshort\n`)
  expect(content).toBe(`1\t${'x'.repeat(1_999)}\n2\tshort\n[1 long lines are cut after 2000 bytes: see the rest with shell (cut -b)]`)
  expect(await read(`${'x'.repeat(2_000)}\r\n`)).toBe(`1\t${'x'.repeat(2_000)}\n[lines end in CRLF, which edit_file keeps]`)
})

test('a line over many chunks, and characters at the seam of two', async () => {
  expect((await read(`${'y'.repeat(300_000)}\nend`)).split('\n')[1]).toBe('2\tend')
  const content = await read(`${'z\n'.repeat(32_767)}z€é\n${'q'.repeat(70_000)}`, { offset: 32_768, limit: 1 })
  expect(content.split('\n')[0]).toBe('32768\tz€é')
  expect(await read(`${'z\n'.repeat(32_767)}zz€${'q'.repeat(1_900)}\n${'q\n'.repeat(40_000)}`, { offset: 32_768, limit: 1 })).toContain(
    'zz€qqq',
  )
  expect((await read(`${'a'.repeat(65_536)}${'b'.repeat(65_536)}\n`)).slice(0, 2_002)).toBe(`1\t${'a'.repeat(2_000)}`)
})

test('a file larger than memory should hold is read at its beginning only', async () => {
  await using workspace = await temporaryWorkspace()
  const handle = await open(join(workspace.root, 'f'), 'w')
  await handle.write(`${'text '.repeat(20_000)}\n`.repeat(10))
  await handle.truncate(50 * 1024 ** 3)
  await handle.close()
  const { content } = await readFileTool.execute({ path: 'f', limit: 3 }, workspace.context)
  expect(content.split('\n')).toHaveLength(5)
})

test('a byte order mark is not shown, CRLF and invalid bytes are told', async () => {
  expect(await read('\uFEFFa\r\nb\r\n')).toBe('1\ta\n2\tb\n[lines end in CRLF, which edit_file keeps]')
  expect(await read(Buffer.from([0x61, 0xe9, 0x0a]))).toBe('1\ta\uFFFD\n[there are bytes that are not valid UTF-8, shown as \uFFFD]')
})

test('binary files are refused with what to do', async () => {
  await expect(read(Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0]))).rejects.toThrow('f is a binary file (6 bytes)')
  await expect(read('%PDF-1.7\nall text so far')).rejects.toThrow('f is a PDF file (24 bytes); use shell (pdftotext, for example)')
})

test('an abort ends a long read', async () => {
  await using workspace = await temporaryWorkspace()
  await writeFile(join(workspace.root, 'f'), 'x')
  await expect(readFileTool.execute({ path: 'f' }, { ...workspace.context, signal: AbortSignal.abort() })).rejects.toThrow('aborted')
})

/** Each 3 pixels wide and 2 high, but the one that is turned. */
const images = {
  png: 'iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAFUlEQVR4nGM8wcXFwMDAwMDAxAADABByAOAp6i43AAAAAElFTkSuQmCC',
  gif: 'R0lGODdhAwACAIEAAMgKCgAAAAAAAAAAACwAAAAAAwACAAAIBgABCBwYEAA7',
  webp: 'UklGRjwAAABXRUJQVlA4IDAAAADQAQCdASoDAAIAAUAmJaACdLoB+AADsAD+9hNf/izkYjs83/4E78Cd+BO/8AAAAAA=',
  lossless: 'UklGRh4AAABXRUJQVlA4TBEAAAAvAkAAAAdQhSJXof+BiOh/AAA=',
  extended:
    'UklGRmAAAABXRUJQVlA4WAoAAAAIAAAAAgAAAQAAVlA4IDAAAADQAQCdASoDAAIAAUAmJaACdLoB+AADsAD+9hNf/izkYjs83/4E78Cd+BO/8AAAAABFWElGCgAAAElJKgAIAAAAAAA=',
  jpeg: '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAxNDQ0Hyc5PTgyPC4zNDL/2wBDAQkJCQwLDBgNDRgyIRwhMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjL/wgARCAACAAMDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAX/xAAVAQEBAAAAAAAAAAAAAAAAAAAEBv/aAAwDAQACEAMQAAABgANV/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABBQJ//8QAFBEBAAAAAAAAAAAAAAAAAAAAAP/aAAgBAwEBPwF//8QAFBEBAAAAAAAAAAAAAAAAAAAAAP/aAAgBAgEBPwF//8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQAGPwJ//8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPyF//9oADAMBAAIAAwAAABDz/8QAFBEBAAAAAAAAAAAAAAAAAAAAAP/aAAgBAwEBPxB//8QAFBEBAAAAAAAAAAAAAAAAAAAAAP/aAAgBAgEBPxB//8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxB//9k=',
}
const bytesOf = (name: keyof typeof images) => Buffer.from(images[name], 'base64')

describe('images', () => {
  async function look(content: Buffer, path = 'f') {
    await using workspace = await temporaryWorkspace()
    await writeFile(join(workspace.root, path), content)
    return await readFileTool.execute({ path }, workspace.context)
  }

  test.each([
    ['png', 'png'],
    ['gif', 'gif'],
    ['webp', 'webp'],
    ['lossless', 'webp'],
    ['extended', 'webp'],
    ['jpeg', 'jpeg'],
  ] as const)('%s is shown, with its size in words', async (name, kind) => {
    const bytes = bytesOf(name)
    expect(await look(bytes)).toEqual({
      content: `[f: a ${kind.toUpperCase()} image of 3 x 2 pixels, ${bytes.length} bytes]`,
      images: [{ type: 'image', mediaType: `image/${kind}`, data: images[name] }],
      isError: false,
    })
  })

  test('one that is turned when it is shown has the size that it then has', async () => {
    const exif = Buffer.from('ffe1002245786966 0000 4d4d002a00000008 0001 0112 0003 00000001 0006 0000 00000000'.replaceAll(' ', ''), 'hex')
    const jpeg = bytesOf('jpeg')
    expect((await look(Buffer.concat([jpeg.subarray(0, 2), exif, jpeg.subarray(2)]))).content).toContain('a JPEG image of 2 x 3 pixels')
  })

  test('bytes decide, not the name; SVG is text', async () => {
    expect((await look(bytesOf('png'), 'a.txt')).images).toHaveLength(1)
    expect(await look(Buffer.from('<svg/>'), 'a.svg')).toEqual({ content: '1\t<svg/>', isError: false })
    expect((await look(Buffer.from('no image'), 'a.png')).content).toBe('1\tno image')
  })

  test.each(Object.keys(images) as (keyof typeof images)[])(
    '%s that is cut anywhere is refused, and is no image without its beginning',
    async (name) => {
      const bytes = bytesOf(name)
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 12, max: bytes.length - 1 }), async (length) => {
          await expect(look(bytes.subarray(0, length))).rejects.toThrow(
            /^f (begins like a [A-Z]+ image, but its header is damaged or cut|is a [A-Z]+ image of which the end is missing)/,
          )
        }),
        { numRuns: 30 },
      )
      expect((await look(Buffer.concat([bytes, Buffer.alloc(100)]))).images).toHaveLength(1)
    },
  )

  test('a JPEG with a whole small picture in it, but no end of its own', async () => {
    const jpeg = bytesOf('jpeg')
    const segment = Buffer.concat([Buffer.from([0xff, 0xe2, 0, 0]), jpeg])
    segment.writeUInt16BE(segment.length - 2, 2)
    const whole = Buffer.concat([jpeg.subarray(0, 2), segment, jpeg.subarray(2)])
    expect((await look(whole)).content).toContain('3 x 2 pixels')
    await expect(look(whole.subarray(0, -3))).rejects.toThrow('of which the end is missing')
  })

  test('a damaged header, no size, and too much of it', async () => {
    const png = bytesOf('png')
    const sized = (width: number) => {
      const copy = Buffer.from(png)
      copy.writeUInt32BE(width, 16)
      return copy
    }
    await expect(look(sized(0))).rejects.toThrow('its header is damaged or cut')
    await expect(look(sized(8_001))).rejects.toThrow(
      'f is 8001 x 2 pixels, and at most 8000 a side are shown: make a smaller copy with shell',
    )
    await expect(look(Buffer.concat([png.subarray(0, 12), Buffer.from('XXXX'), png.subarray(16)]))).rejects.toThrow(
      'its header is damaged or cut',
    )
    await expect(look(Buffer.from(`\xff\xd8\xff${'x'.repeat(3_000_000)}`, 'latin1'))).rejects.toThrow('its header is damaged or cut')
    await expect(look(Buffer.from('RIFF\x04\0\0\0WEBPVP8?', 'latin1'))).rejects.toThrow('its header is damaged or cut')
  })

  test('as large as vendors take it, and no larger', async () => {
    await using workspace = await temporaryWorkspace()
    const path = join(workspace.root, 'f')
    await writeFile(path, bytesOf('png'))
    await truncate(path, MAX_IMAGE_BYTES)
    const { images: shown } = await readFileTool.execute({ path: 'f' }, workspace.context)
    expect(shown?.[0]?.data?.length).toBe(5 * 1024 * 1024)
    await truncate(path, MAX_IMAGE_BYTES + 1)
    await expect(readFileTool.execute({ path: 'f' }, workspace.context)).rejects.toThrow('f is an image of more than 3932160 bytes')
  })
})
