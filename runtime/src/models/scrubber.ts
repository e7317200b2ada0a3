// Owns how a secret is found in a text that others wrote: as it is, percent-encoded, escaped for JSON or HTML (also several times
// over), or in base64. Takes it out.

const found = '[secret]'

/** Takes every secret out of a text, however it is written in it. */
export function scrubber(secrets: readonly string[]): (text: string) => string {
  const patterns = secrets.filter((secret) => secret !== '').map(patternOf)
  return (text) => patterns.reduce((rest, pattern) => rest.replace(pattern, found), text)
}

function patternOf(secret: string): RegExp {
  return new RegExp([[...secret].map(written).join(''), ...inBase64(secret)].join('|'), 'g')
}

/** One character in each of the ways in which it may be written; letters and digits are what they are everywhere. */
function written(char: string): string {
  if (/[A-Za-z0-9]/.test(char)) return char
  const percent = encodeURIComponent(char) === char ? percentOf(char) : encodeURIComponent(char)
  const hex = char.charCodeAt(0).toString(16)
  const unicode = `\\\\+u0*${anyCase(hex)}`
  const entity = `&(?:amp;)?(?:#0*${char.charCodeAt(0)}|#[xX]0*${anyCase(hex)}|${named.get(char) ?? '(?!)'});`
  const plain = char === '\\' ? '\\\\+' : `\\\\*${escaped(char)}`
  return `(?:${unicode}|${anyCase(percent)}|${entity}|${plain})`
}

const named = new Map([
  ['"', 'quot'],
  ['&', 'amp'],
  ['<', 'lt'],
  ['>', 'gt'],
  ["'", 'apos'],
])

function percentOf(char: string): string {
  return `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`
}

function anyCase(text: string): string {
  return text.replace(/[a-fA-F]/g, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`)
}

function escaped(char: string): string {
  return char.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&')
}

/** Wherever in a longer text it begins: the letters that belong to it alone. Those of a short secret would be in many a text. */
function inBase64(secret: string): string[] {
  if (secret.length < 8) return []
  const bytes = Buffer.from(secret)
  return [0, 1, 2].map((offset) => {
    const letters = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    const own = letters.slice(Math.ceil((offset * 4) / 3), Math.floor(((offset + bytes.length) * 4) / 3))
    return `${[...own].map((letter) => (letter === '+' || letter === '-' ? '[+-]' : letter === '/' ? '[/_]' : letter)).join('')}[A-Za-z0-9+/_-]?=*`
  })
}
