// Owns the list of examples: how each is run, what it proves, and what must be seen of it. Runs nothing.
import { join } from 'node:path'
import { repository } from '../checks/files.mjs'

const python = join(repository, '.venv/bin/python')
const typescript = (name) => ['node', join(repository, 'ts-sdk/examples', `${name}.mjs`)]
const pythonic = (name) => [python, join(repository, 'python-sdk/examples', `${name}.py`)]

/**
 * @typedef {object} Example
 * @property {string} title
 * @property {string[]} command
 * @property {string} proves what holds when it ends well, in words for a reader of the report
 * @property {RegExp} shows must be found in its stdout
 * @property {number} [status] its exit status; default 0
 * @property {RegExp} [says] must be found in its stderr
 * @property {Record<string, string>} [env] joined to its environment
 * @property {Record<string, string>} [files] put into the directory that it is run in, by name
 */

/** @type {Example[]} */
export const examples = [
  {
    title: 'TypeScript quickstart',
    command: typescript('quickstart'),
    proves: 'a read-only session reads a file, and answers from it',
    shows: /^notes\.txt says: "Buy milk"\.$/m,
  },
  {
    title: 'TypeScript streaming',
    command: typescript('streaming'),
    proves: 'the deltas joined are the final text, and the file was written',
    shows: /^\[write_file\]\n[\s\S]*\nthen the agent sleeps\.\n\[\d+ facts, \d+ tokens written\]$/m,
  },
  {
    title: 'TypeScript steer and cancel',
    command: typescript('steer-and-cancel'),
    proves: 'the answer takes up what was said meanwhile; a cancelled shell is gone',
    shows: /PELICAN[\s\S]*^Cancelled: process \d+ is gone\.$/m,
  },
  {
    title: 'TypeScript fix a failing test',
    command: typescript('fix-failing-test'),
    proves: 'node --test failed before and passes after, and the source was edited',
    shows: /^The test failed before, and passes now\.$/m,
  },
  {
    title: 'Python quickstart',
    command: pythonic('quickstart'),
    proves: 'the same, with the finish reason of the last turn',
    shows: /^notes\.txt says: "Buy milk"\.\n\(completed\)$/m,
  },
  {
    title: 'Python quickstart, asyncio',
    command: pythonic('quickstart_async'),
    proves: 'two sessions of one runtime run at the same time',
    shows: /^(?=[\s\S]*^notes\.txt says: "Buy milk"\. \(completed\)$)[\s\S]*^plan\.txt says: "Bake a cake"\. \(completed\)$/m,
  },
  {
    title: 'Python streaming',
    command: pythonic('streaming'),
    proves: 'the deltas joined are the final text, and the file was written',
    shows: /^\[write_file\]\n[\s\S]*\nthen the agent sleeps\.\n\[\d+ facts, \d+ tokens written\]$/m,
  },
  {
    title: 'Python steer and cancel',
    command: pythonic('steer_and_cancel'),
    proves: 'the answer takes up what was said meanwhile; a cancelled shell is gone',
    shows: /PELICAN[\s\S]*^Cancelled: process \d+ is gone\.$/m,
  },
  {
    title: 'Python fix a failing test',
    command: pythonic('fix_failing_test'),
    proves: 'unittest failed before and passes after, and the source was edited',
    shows: /^The test failed before, and passes now\.$/m,
  },
  {
    title: 'Prompt here, collect there',
    command: ['node', join(repository, 'conformance/demo/across-languages.mjs')],
    proves: 'what one language prompts the other collects: equal results, both ways',
    shows: /^(.* prompts, .* collects: equal .*\n){4}$/,
  },
]

/** What a newcomer meets when something is wrong: the message must name it and say what would be right. */
export const mistakes = [
  { name: 'quickstart', make: typescript, language: 'TypeScript' },
  { name: 'quickstart', make: pythonic, language: 'Python' },
].flatMap(({ name, make, language }) => [
  {
    title: `${language}: a model of an unknown provider`,
    command: make(name),
    env: { QUIESCE_MODEL: 'nonsense/model' },
    status: 1,
    shows: /^$/,
    says: /UnknownModelError.*"nonsense" is no provider: known are .*scripted/,
  },
  {
    title: `${language}: a model without its key`,
    command: make(name),
    env: { QUIESCE_MODEL: 'deepseek/deepseek-chat' },
    status: 1,
    shows: /^$/,
    says: /ModelAuthError.*needs a key: set DEEPSEEK_API_KEY/,
  },
  {
    title: `${language}: a runtime that isn't there`,
    command: make(name),
    env: { QUIESCE_RUNTIME: '/nowhere/quiesce' },
    status: 1,
    shows: /^$/,
    says: /RuntimeNotFoundError.*QUIESCE_RUNTIME names \/nowhere\/quiesce, which does not exist/,
  },
])

/** What isn't in the report: the examples without a model, and the pair in one language alone. */
export const alone = [
  {
    title: 'TypeScript quickstart without a model',
    command: typescript('quickstart'),
    env: { QUIESCE_MODEL: '' },
    shows: /Buy milk/,
    says: /scripted demo model answers.*\n.*QUIESCE_MODEL=/,
  },
  {
    title: 'Python quickstart without a model',
    command: pythonic('quickstart'),
    env: { QUIESCE_MODEL: '' },
    shows: /Buy milk/,
    says: /scripted demo model answers.*\n.*QUIESCE_MODEL=/,
  },
  {
    title: 'TypeScript prompt and collect, alone',
    command: typescript('prompt-here-collect-there'),
    shows: /\S/,
  },
  { title: 'Python prompt and collect, alone', command: pythonic('prompt_here_collect_there'), shows: /\S/ },
]

/** Each is at work, with a command that runs, for as long as nobody interrupts it; the file `started` says that it has come so far. */
export const held = [
  { title: 'TypeScript: Ctrl-C in the middle', command: typescript('steer-and-cancel'), status: 130 },
  { title: 'Python: Ctrl-C in the middle', command: pythonic('steer_and_cancel'), status: 130 },
].map((example) => ({ ...example, env: { QUIESCE_MODEL: `scripted/${join(repository, 'conformance/demo/held.json')}` } }))

/** The blocks of a README that can be pasted, as examples: its scripts, and its `quiesce run`. @param {string} readme */
export function pasted(readme) {
  const blocks = [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, text]) => ({ language, text }))
  const script = (language) => blocks.filter((block) => block.language === language).map(({ text }) => text)
  const says = /^README\.md says: "# Quiesce"/m
  const files = { 'README.md': readme }
  return [
    ...script('js').map((text) => ({
      title: 'README: the script in TypeScript',
      command: ['node', 'hello.mjs'],
      files: { ...files, 'hello.mjs': text },
      shows: says,
    })),
    ...script('python').map((text) => ({
      title: 'README: the script in Python',
      command: [python, 'hello.py'],
      files: { ...files, 'hello.py': text },
      shows: says,
    })),
    ...script('sh')
      .filter((text) => text.includes('quiesce run'))
      .map((text) => ({ title: 'README: quiesce run', command: ['bash', '-euc', text], files, shows: says })),
  ]
}
