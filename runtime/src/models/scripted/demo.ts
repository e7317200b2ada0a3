// Owns the built-in script of `scripted/demo`: deterministic, no network, and its tool calls are real. Keyed by plain prompts:
//
//   "Which files are here, and what do they say?"   a list, read_file (up to three at once), an answer from what they say.
//   "What does FILE say?"                           read_file, an answer with its first line.
//   "Write a haiku to FILE"                         write_file, then the haiku again, streamed in pieces.
//   "Fix the failing test"                          a list, shell (the tests), read_file, edit_file, shell again, an answer
//                                                   from the result. For a directory with add.mjs and add.test.mjs (node --test), or
//                                                   add.py and test_add.py (unittest), where add's operator is wrong.
//   "Run `COMMAND` ..."                             shell (that command), then an answer that tells how it ended and takes up
//                                                   what was said meanwhile.
//   "Wait for the file FILE"                        a shell command that ends once FILE exists; then an answer that takes up
//                                                   what was said meanwhile. For steering and cancelling.
//   anything else                                   a short answer that repeats what was asked.
//
// The list comes from glob where it is on offer, else from shell. A step that fails (a permission denied, say) doesn't end a case: the answer tells it.
import type { ModelMessage } from '../model.ts'
import { type Exchange, exchangeOf, type Result } from './history.ts'
import type { Entry, Placed, Script } from './script.ts'

interface Asked extends Exchange {
  /** The first group of the case's expression. */
  name: string | undefined
  tools: readonly string[]
}

interface Case {
  place: string
  opens: RegExp
  entry(asked: Asked): Entry
}

const cases: readonly Case[] = [
  { place: 'files', opens: /which files are here/i, entry: files },
  { place: 'file', opens: /what does ["'`]?([\w./-]*\w)["'`]? say/i, entry: file },
  { place: 'haiku', opens: /\bhaiku\b.*?\b(?:to|into|in)\s+["'`]?([\w./-]*\w)/is, entry: haiku },
  { place: 'fix', opens: /fix the failing test/i, entry: fix },
  { place: 'run', opens: /\brun `([^`]+)`/i, entry: run },
  { place: 'wait', opens: /wait (?:for|until) the file ["'`]?([\w.-]*\w)/i, entry: wait },
]

export const demo: Script = {
  places: [],
  entryFor(messages: readonly ModelMessage[], tools: readonly string[]): Placed {
    const exchange = exchangeOf(messages, (text) => cases.some(({ opens }) => opens.test(text)))
    for (const { place, opens, entry } of cases) {
      const match = opens.exec(exchange.opener)
      if (match !== null) return { place: `${place}-${exchange.step}`, entry: entry({ ...exchange, name: match[1], tools }) }
    }
    return { place: 'echo', entry: echo(exchange) }
  },
}

function list(tools: readonly string[]): Entry {
  return { tool: tools.includes('glob') ? { name: 'glob', input: { pattern: '*' } } : { name: 'shell', input: { command: 'ls -p' } } }
}

function files({ step, results, tools }: Asked): Entry {
  const paths = pathsIn(results[0]?.[0]).slice(0, 3)
  if (step === 0) return { text: 'I will look.', ...list(tools) }
  if (paths.length === 0) return said(`I see no file here. ${quoted(results[0]?.[0])}`)
  if (step === 1) return { tools: paths.map((path) => ({ name: 'read_file', input: { path } })) }
  const lines = paths.map((path, index) => `${path} says: "${firstLine(results[1]?.[index])}"`)
  return said(`I found ${paths.length === 1 ? 'one file' : `${paths.length} files`}. ${lines.join('. ')}.`)
}

function file({ step, results, name: path = 'README.md' }: Asked): Entry {
  if (step === 0) return { text: `I will read ${path}.`, tool: { name: 'read_file', input: { path } } }
  const read = results[0]?.[0]
  return said(read?.isError === false ? `${path} says: "${firstLine(read)}".` : `I could not read ${path}. ${quoted(read)}`)
}

const poem = 'Quiet log at dusk:\neach fact finds its own number,\nthen the agent sleeps.\n'

function haiku({ step, results, name: path = 'haiku.txt' }: Asked): Entry {
  if (step === 0) return { tool: { name: 'write_file', input: { path, content: poem } } }
  const written = results[0]?.[0]
  return said(written?.isError === false ? `I wrote this to ${path}:\n\n${poem}` : `I could not write ${path}. ${quoted(written)}`)
}

const projects = [
  { source: 'add.mjs', command: 'node --test' },
  { source: 'add.py', command: 'python3 -B -m unittest' }, // -B: a bytecode file of the same second and size would hide the edit
] as const

function fix({ step, results, tools }: Asked): Entry {
  const [listed, , read, edited, tested] = results.map((step) => step[0])
  if (step === 0) return { text: 'I will see what is here.', ...list(tools) }
  const project = projects.find(({ source }) => pathsIn(listed).includes(source))
  if (project === undefined) return said(`I see neither ${projects.map(({ source }) => source).join(' nor ')} here. ${quoted(listed)}`)
  const { source, command } = project
  const run: Entry = { tool: { name: 'shell', input: { command } } }
  if (step === 1) return { ...run, text: `I will run ${command}.` }
  if (step === 2) return { tool: { name: 'read_file', input: { path: source } } }
  const [wrong] = /return a [-*/%] b/.exec(read?.text ?? '') ?? []
  if (wrong === undefined) return said(`I see no wrong operator in ${source}. ${quoted(read)}`)
  const input = { path: source, oldText: wrong, newText: 'return a + b' }
  if (step === 3) return { text: `add does not add: it says "${wrong}".`, tool: { name: 'edit_file', input } }
  if (edited?.isError !== false) return said(`I could not edit ${source}. ${quoted(edited)}`)
  if (step === 4) return run
  const verdict = /\bexit status 0\b/.test(tested?.text ?? '') ? 'the test passes now' : `the test run says: "${firstLine(tested)}"`
  return said(`I changed "${wrong}" to "return a + b" in ${source}, and ${verdict}.`)
}

function run({ step, results, steering, name: command = 'true' }: Asked): Entry {
  if (step === 0) return { text: 'I will run that.', tool: { name: 'shell', input: { command } } }
  return said(`The shell says: "${lastLine(results[0]?.[0])}".${heard(steering)}`)
}

function wait({ step, results, steering, name: file = 'go' }: Asked): Entry {
  const there = `${file} is there`
  if (step === 0) {
    const command = `until [ -e ${file} ]; do sleep 0.05; done; echo '${there}'`
    return { text: `I will wait for ${file}.`, tool: { name: 'shell', input: { command } } }
  }
  const seen = results[0]?.[0]?.text.includes(there) === true
  return said(`${seen ? `The file ${there}.` : `I stopped waiting for ${file}.`}${heard(steering)}`)
}

function echo({ opener, steering }: Exchange): Entry {
  return said(`You asked: "${short(opener)}".${heard(steering)} I am the scripted demo model: the same answer every time, and no network.`)
}

function heard(steering: readonly string[]): string {
  return steering.map((text) => ` You also said: "${short(text)}", and I take that into account.`).join('')
}

/** An answer in pieces of a few words, so that it is seen to stream. */
function said(text: string): Entry {
  return { chunks: text.trim().match(/(?:\S+\s*){1,4}/g) ?? [] }
}

function quoted(result: Result | undefined): string {
  return result === undefined ? '' : `The tool says: "${firstLine(result)}".`
}

/** Lines of a listing that are files' paths. */
function pathsIn(result: Result | undefined): string[] {
  if (result === undefined || result.isError) return []
  return result.text.split('\n').filter((line) => /^[\w./-]*\w$/.test(line))
}

/** The first line that isn't empty, without the number that read_file puts before it. */
function firstLine(result: Result | undefined): string {
  const lines = (result?.text ?? '').split('\n').map((line) => line.replace(/^\d+\t/, '').trim())
  return short(lines.find((line) => line !== '') ?? '')
}

/** The line that says how a command ended; a refusal has one line only. */
function lastLine(result: Result | undefined): string {
  return short((result?.text ?? '').trimEnd().split('\n').at(-1) ?? '')
}

function short(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 120 ? `${line.slice(0, 117)}...` : line
}
