import { execFile } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterEach, beforeEach, expect, it } from 'vitest'

/** A bundle of two files, one of them loaded when it is needed, and one whose name says that it is never read. */
const files = {
  'main-1.js': `({
    'main-1.js'(exports, require, module, moduleUrl) {
      const { words } = require('./words.js')
      exports.moduleUrl = moduleUrl
      const later = () => require('./later-1.js').say(words(), require('node:path').basename(moduleUrl))
      if (process.argv[2] === 'later') later()
      else console.log(words(), require('./main-1.js').moduleUrl === moduleUrl)
    },
    'words.js'(exports) { exports.words = () => 'some words' },
  })`,
  'later-1.js': `({ 'later-1.js'(exports) { exports.say = (...words) => console.log('later', ...words) } })`,
  'never-1.js': 'this is no script',
}

let place: string
let cache: string

beforeEach(async () => {
  place = mkdtempSync(join(tmpdir(), 'quiesce-code-'))
  cache = join(place, 'cache')
  for (const [name, text] of Object.entries(files)) writeFileSync(join(place, name), text)
  await makeStart('id')
})
afterEach(() => rmSync(place, { recursive: true, force: true }))

async function makeStart(id: string): Promise<void> {
  const start = `import { startBundle } from './code-cache.ts'
    startBundle({ directory: __dirname, main: 'main-1.js', id: '${id}', profile: 'test' })`
  await build({
    stdin: { contents: start, resolveDir: fileURLToPath(new URL('.', import.meta.url)) },
    outfile: join(place, 'start.js'),
    bundle: true,
    platform: 'node',
    format: 'cjs',
  })
}

async function run(args: readonly string[] = [], env: Record<string, string> = {}): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [join(place, 'start.js'), ...args], {
    env: { XDG_CACHE_HOME: cache, ...env },
  })
  expect(stderr).toBe('')
  return stdout
}

const code = () => join(cache, 'quiesce/code')
const directories = () => (existsSync(code()) ? readdirSync(code()).map((name) => join(code(), name)) : [])
const kept = () => directories().flatMap((directory) => readdirSync(directory).map((name) => join(directory, name)))
/** Differs where a file was put in its place anew. */
const marks = () => kept().map((path) => statSync(path).ino)

it('keeps the code of what was used, for this user alone, and uses it from then on', async () => {
  expect(await run()).toBe('some words true\n')
  expect(kept().map((path) => path.slice(path.lastIndexOf('/') + 1))).toEqual(['main-1.js.test'])
  expect([...directories(), ...kept()].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600])
  const [before] = marks()
  expect(await run()).toBe('some words true\n')
  expect(marks()).toEqual([before])
  expect(await run(['later'])).toBe('later some words main-1.js\n')
  expect(kept()).toHaveLength(2)
  expect(marks()).toContain(before)
})

it.each([
  ['cut', (data: Buffer) => data.subarray(0, data.length - 100)],
  ['empty', () => Buffer.alloc(0)],
  ['full of zeros', (data: Buffer) => Buffer.alloc(data.length)],
  ['of something else', () => Buffer.from('something else, and long enough to be looked at'.repeat(20))],
])('passes over code that is %s, and puts good code in its place', async (_what, spoil) => {
  await run()
  const [path = ''] = kept()
  const good = readFileSync(path)
  writeFileSync(path, spoil(good))
  const before = marks()
  expect(await run()).toBe('some words true\n')
  expect(marks()).not.toEqual(before)
  expect(readFileSync(path).length).toBe(good.length)
})

it('keeps the code of Nodes with other options apart', async () => {
  await run()
  const before = marks()
  await run([], { NODE_OPTIONS: '--stack-trace-limit=20' })
  expect(directories()).toHaveLength(2)
  expect(marks()).toEqual(expect.arrayContaining(before))
})

it('works where nothing can be kept, or nothing is wanted', async () => {
  writeFileSync(join(place, 'file'), '')
  for (const env of [
    { XDG_CACHE_HOME: join(place, 'file') },
    { XDG_CACHE_HOME: 'relative', HOME: '' },
    { NODE_DISABLE_COMPILE_CACHE: '1' },
  ])
    expect(await run([], env)).toBe('some words true\n')
  expect(existsSync(cache)).toBe(false)
})

it('takes no code from a directory that others can write to', async () => {
  await run()
  const [directory = ''] = directories()
  chmodSync(directory, 0o777)
  const [path = ''] = kept()
  writeFileSync(path, '')
  expect(await run()).toBe('some words true\n')
  expect(readFileSync(path, 'utf8')).toBe('')
})

it('starts many times at once, and leaves no other file', async () => {
  const said = await Promise.all(Array.from({ length: 6 }, () => run()))
  expect(new Set(said)).toEqual(new Set(['some words true\n']))
  expect(kept().filter((path) => !path.endsWith('.js.test'))).toEqual([])
  expect(kept()).toHaveLength(1)
})

it('removes the code of bundles that nobody has made anew for a month', async () => {
  await run()
  const old = directories()
  const recent = join(code(), 'recent')
  mkdirSync(recent)
  const month = Date.now() / 1000 - 31 * 24 * 3600
  for (const directory of old) utimesSync(directory, month, month)
  await makeStart('other')
  await run()
  expect(directories().filter((directory) => old.includes(directory))).toEqual([])
  expect(directories()).toContain(recent)
  expect(directories()).toHaveLength(2)
})
