import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scrubber } from './scrubber.ts'

const key = 'sk-ab"12\\cd/+=&<\'>.*~ z'
const json = (text: string) => JSON.stringify(text).slice(1, -1)
/** As Go writes JSON, and some others. */
const careful = (text: string) => json(text).replace(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16).padStart(2, '0')}`)
const html = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&#34;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll("'", '&#x27;')

describe('a secret is taken out', () => {
  it.each([
    ['as it is', key],
    ['percent-encoded', encodeURIComponent(key)],
    ['percent-encoded in small letters', encodeURIComponent(key).replace(/%../g, (code) => code.toLowerCase())],
    ['percent-encoded but for the slash', encodeURIComponent(key).replaceAll('%2F', '/')],
    ['in JSON', json(key)],
    ['in JSON within JSON', json(json(key))],
    ['in JSON within JSON within JSON', json(json(json(key)))],
    ['in careful JSON', careful(key)],
    ['in JSON with its slashes escaped', json(key).replaceAll('/', '\\/')],
    ['in HTML', html(key)],
    ['in HTML within JSON', json(html(key))],
    ['in base64', Buffer.from(key).toString('base64')],
    ['in base64 for URLs', Buffer.from(key).toString('base64url')],
  ])('%s', (_, written) => {
    expect(scrubber([key])(`before ${written}, after ${written}`)).toBe('before [secret], after [secret]')
  })

  it('in base64 wherever it begins there', () => {
    for (const before of ['', 'u', 'me:', 'user:', 'Basic x:']) {
      const text = Buffer.from(`${before}${key}`).toString('base64')
      const scrubbed = scrubber([key])(text)
      expect(scrubbed).toContain('[secret]')
      expect(Buffer.from(scrubbed.replace('[secret]', ''), 'base64').toString()).not.toContain('12')
    }
  })

  it('whatever it is, however it is written, and whatever is around it', () => {
    const secret = fc.string({ unit: 'grapheme-ascii', minLength: 8, maxLength: 60 }).filter((text) => text.trim() === text)
    const ways = fc.constantFrom(
      (text: string) => text,
      encodeURIComponent,
      json,
      careful,
      html,
      (text: string) => json(json(text)),
    )
    fc.assert(
      fc.property(secret, ways, fc.string(), fc.string(), (text, way, before, after) => {
        const found = scrubber([text])(`${before}|${way(text)}|${after}`)
        expect(found).toContain('[secret]')
      }),
      { numRuns: 500 },
    )
  })
})

describe('what is no secret stays', () => {
  it.each(['', 'sk-ab', 'sk-ab"12', 'a long text of no consequence: 12345678', 'c2stYWI='])('%j', (text) => {
    expect(scrubber([key])(text)).toBe(text)
  })

  it('where there is none, and where it is empty', () => {
    expect(scrubber([])('abc')).toBe('abc')
    expect(scrubber([''])('abc')).toBe('abc')
    expect(scrubber(['short'])('c2hvcnQ= and a short word')).toBe('c2hvcnQ= and a [secret] word')
  })
})
