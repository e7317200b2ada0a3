import { describe, expect, it } from 'vitest'
import { parseStoreUrl } from './store-url.ts'

describe('parseStoreUrl', () => {
  it('knows a file and memory', () => {
    expect(parseStoreUrl('memory:')).toEqual({ kind: 'memory' })
    expect(parseStoreUrl('sqlite:a b/ü.db')).toEqual({ kind: 'sqlite', path: 'a b/ü.db' })
    expect(parseStoreUrl('sqlite:/var/q.db')).toEqual({ kind: 'sqlite', path: '/var/q.db' })
  })

  it.each([
    ['', /expected sqlite:PATH \(for example .*\) or memory:, got ""/],
    ['quiesce.db', /expected sqlite:PATH .* got "quiesce\.db"/],
    ['memory:x', /expected sqlite:PATH .* or memory:/],
    ['postgres://x', /got "postgres:/],
    ['sqlite:', /expected sqlite:PATH/],
    ['sqlite:~/q.db', /"~" is not expanded here/],
    ['sqlite:a\0b', /no NUL/],
  ])('says of %j what would be right', (url, message) => {
    expect(() => parseStoreUrl(url)).toThrow(expect.objectContaining({ name: 'InvalidParams', message: expect.stringMatching(message) }))
  })
})
