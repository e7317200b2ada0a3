// Owns how a rule's pattern is compared with a command of the shell: narrowly where it allows, widely where it asks or denies.
import { matchesWildcard, Wildcard } from './wildcard.ts'

/** Stands for the end of a line where a summary shows several lines as one. */
export const LINE_END = '⏎'

/** What makes one command two, or sends its input or output elsewhere, or puts what the shell computes in its place. */
const operator = `;&|<>\`$()\\n\\r${LINE_END}`
const barred = new RegExp(`[${operator}]`)
/** With these a text can leave the quotes that it is in, or begin some. */
const barredWithQuotes = new RegExp(`[${operator}'"\\\\#]`)
const quoteOrOperator = new RegExp(`[${operator}'"\\\\]`)

/**
 * Does a rule that allows this pattern allow the command? Only one command at a time: a `*` covers no operator of the shell, and no quote
 * either where the pattern has quotes or operators of its own. A space and a `*` at the end stand for no arguments as well.
 */
export function allowsCommand(pattern: string, command: string): boolean {
  const wanted = trimmed(pattern)
  const given = trimmed(command)
  const bars = quoteOrOperator.test(wanted) ? barredWithQuotes : barred
  return alternatives(wanted).some((one) => matchesWildcard(one, given, bars))
}

/**
 * Does a rule that asks or denies hold for the command, or for one of the commands in it? A rough reading, on the safe side: quotes,
 * backslashes and spare blanks are left out, and so are assignments and words like `then` and `sudo` in front, and the
 * directory of the program. A command can be written in more ways than that.
 */
export function concernsCommand(pattern: string, command: string): boolean {
  const patterns = alternatives(trimmed(pattern)).map((one) => new Wildcard(one))
  return [trimmed(command), ...commandsIn(command)].some((one) => patterns.some((wildcard) => wildcard.matches(one)))
}

const alternatives = (pattern: string) => (/[^*\s] \*$/.test(pattern) ? [pattern, pattern.slice(0, -2)] : [pattern])

/** Only what the shell itself takes for blanks at the ends: other blanks are part of a name. */
function trimmed(text: string): string {
  return text.replace(/^[ \t\n]+|(?<![ \t\n])[ \t\n]+$/g, '')
}

const prefix =
  /^(?:[A-Za-z_]\w*\+?=\S*|[!{]|if|then|elif|else|while|until|do|time|exec|command|builtin|eval|env|sudo|nohup|nice|xargs|(?:ba|da|z)?sh -l?c) /

function commandsIn(command: string): string[] {
  const pieces = command.replaceAll('\\\n', '').split(/[;&|<>`$()\n\r]/)
  return pieces.flatMap((piece) => {
    const plain = piece
      .replace(/["'\\]/g, '')
      .replace(/[ \t]+/g, ' ')
      .replace(/^ | $/g, '')
    const bare = withoutPrefixes(plain)
    return [plain, bare, bare.replace(/^[^ ]*\//, '')]
  })
}

function withoutPrefixes(plain: string): string {
  let rest = plain
  for (let match = prefix.exec(rest); match !== null; match = prefix.exec(rest)) rest = rest.slice(match[0].length)
  return rest
}
