// Owns what a model may write as a regular expression: JavaScript's, with a few habits of other dialects taken or refused by name.

/** Characters of a pattern that are shown on either side of a fault. */
const SHOWN = 20

export interface Expression {
  source: string
  flags: string
}

/** Escapes of letters that JavaScript knows; in other dialects others mean something, and here they would silently be the letter. */
const KNOWN_ESCAPES = /[dDwWsSbBnrtfvcxupPk0-9]/

/** *Contract:* rejects with an error for the model that names the place. */
export async function expressionOf(pattern: string, options: { literal: boolean; ignoreCase: boolean }): Promise<Expression> {
  if (options.literal) return { source: pattern.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), flags: options.ignoreCase ? 'iu' : 'u' }
  const inline = /^\(\?i\)/.exec(pattern)?.[0] ?? ''
  const source = pattern.slice(inline.length)
  const flags = options.ignoreCase || inline !== '' ? 'i' : ''
  refuseForeign(pattern)
  if (isValid(source, `${flags}u`)) return { source, flags: `${flags}u` }
  // Without the flag, escapes that nothing needs are allowed, which models write; and what it alone makes possible means another thing.
  if (!/\\[pPu]\{/.test(source) && isValid(source, flags)) return { source, flags }
  throw await faultOf(pattern, source, inline.length, /\\[pPu]\{/.test(source))
}

function isValid(source: string, flags: string): boolean {
  try {
    new RegExp(source, flags)
    return true
  } catch {
    return false
  }
}

/** What is valid, and would mean something else than whoever writes it means. */
function refuseForeign(pattern: string): void {
  for (let at = 0; at < pattern.length; at++) {
    if (pattern[at] === '\\') {
      const next = pattern[++at]
      if (next !== undefined && /[a-zA-Z]/.test(next) && !KNOWN_ESCAPES.test(next))
        throw badPattern(pattern, at - 1, `\\${next} is not known in JavaScript's regular expressions`)
    }
  }
  const posix = pattern.search(/\[:\^?[a-z]+:\]/)
  if (posix >= 0) throw badPattern(pattern, posix, 'classes such as [:space:] are not known, write \\s, \\d, \\w or [A-Za-z]')
}

async function faultOf(pattern: string, source: string, offset: number, unicode: boolean): Promise<Error> {
  const { RegExpSyntaxError, RegExpValidator } = await import('@eslint-community/regexpp')
  try {
    new RegExpValidator({ ecmaVersion: 2023 }).validatePattern(source, 0, source.length, { unicode, unicodeSets: false })
  } catch (error) {
    if (error instanceof RegExpSyntaxError) {
      const words = error.message.replace(/^Invalid regular expression: .*\/[a-z]*: /s, '')
      return badPattern(pattern, error.index + offset, words)
    }
    throw error
  }
  return badPattern(pattern, 0, 'it is no regular expression of JavaScript')
}

/** `at`: how many characters there are before the place. */
function badPattern(pattern: string, at: number, why: string): Error {
  const before = `${at > SHOWN ? '…' : ''}${pattern.slice(Math.max(0, at - SHOWN), at)}`
  const after = `${pattern.slice(at, at + SHOWN)}${pattern.length > at + SHOWN ? '…' : ''}`
  const around = [
    ...(before === '' ? [] : [`after ${JSON.stringify(before)}`]),
    after === '' ? 'at its end' : `before ${JSON.stringify(after)}`,
  ]
  return new Error(
    `the pattern is not a valid regular expression: ${why}, at character ${at + 1} (${around.join(', ')}). ` +
      'To look for it as it is written, set literal to true',
  )
}
