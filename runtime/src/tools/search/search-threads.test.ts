import { link, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ManualClock } from '../../base/clock.ts'
import { builtInTools } from '../built-in.ts'
import { globTool } from '../glob.ts'
import { grepTool } from '../grep.ts'
import { temporaryWorkspace, type Workspace } from '../temporary-workspace.ts'
import { searchHere } from './search-here.fixture.ts'
import type { GrepJob, SearchListener } from './search-job.ts'
import { GRACE_MS, KEPT_MS, searchInThreads } from './search-threads.ts'

const source = fileURLToPath(new URL('.', import.meta.url))
const cache = fileURLToPath(new URL('../../../../node_modules/.cache', import.meta.url))
let directory = ''
let entry = new URL('file:///')

// As the executable's bundle has it.
beforeAll(async () => {
  await mkdir(cache, { recursive: true })
  directory = await mkdtemp(join(cache, 'quiesce-search-'))
  const outfile = join(directory, 'search-worker.cjs')
  await build({
    entryPoints: [join(source, 'search-worker.ts')],
    outfile,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    logLevel: 'error',
  })
  entry = pathToFileURL(outfile)
})
afterAll(() => rm(directory, { recursive: true, force: true }))

/** A repeat within a repeat, on a text that it almost fits: it would take longer than the universe is old. */
const endless = '^(a+)+$'
const almost = `${'a'.repeat(200)}b\n`

async function workspaceWith(files: Readonly<Record<string, string>>): Promise<Workspace> {
  const workspace = await temporaryWorkspace()
  for (const [path, content] of Object.entries(files)) await writeFile(join(workspace.root, path), content)
  return workspace
}

function jobIn({ root }: Workspace, expression: string): GrepJob {
  const shown = { limit: 100, maxShown: 10_000, maxKept: 0, guarded: false }
  const what = { source: expression, flags: 'u', glob: null, context: 0, filesOnly: false }
  return { kind: 'grep', start: root, roots: [root], prefix: '', single: false, budgetMs: BUDGET_MS, ...shown, ...what }
}

/** Hears what a search tells, and resolves `first` at the first line that it shows. */
function listener(): SearchListener & { lines: string[]; first: Promise<void> } {
  const lines: string[] = []
  let told = () => {}
  const first = new Promise<void>((resolve) => {
    told = resolve
  })
  return {
    lines,
    first,
    show: (line) => {
      lines.push(line)
      told()
    },
    keep: () => undefined,
    allows: () => true,
  }
}

/** Longer than any machine needs for what is searched here. */
const BUDGET_MS = 600_000

const never = new AbortController().signal

describe('a search in a thread', () => {
  test('answers what one on this thread does, to each of several at once', async () => {
    await using workspace = await workspaceWith({ a: 'x\ny\n', b: 'x\n', c: 'é\n' })
    const search = searchInThreads(new ManualClock(), entry)
    const guard = (real: string) => (real.endsWith('/b') ? 'barred' : undefined)
    const context = { ...workspace.context, spill: null }
    const inputs = [{ pattern: 'x' }, { pattern: 'x', limit: 1 }, { pattern: 'é' }, { pattern: '[xy]', context: 1 }, { pattern: 'none' }]
    for (const surroundings of [context, { ...context, guard }]) {
      const found = await Promise.all(inputs.map((input) => grepTool(search).execute(input, surroundings)))
      const expected = await Promise.all(inputs.map((input) => grepTool(searchHere).execute(input, surroundings)))
      expect(found).toEqual(expected)
      expect(await globTool(search).execute({ pattern: '*' }, surroundings)).toEqual(
        await globTool(searchHere).execute({ pattern: '*' }, surroundings),
      )
    }
  })

  test('keeps the whole list as one on this thread does', async () => {
    await using workspace = await workspaceWith({ a: `${'x'.repeat(300)}\n`.repeat(2_000) })
    const kept: string[] = []
    const job = { ...jobIn(workspace, 'x'), maxKept: 2 ** 20 }
    const search = searchInThreads(new ManualClock(), entry)
    const end = await search(job, { ...listener(), keep: (text) => kept.push(text) }, never)
    expect(end).toMatchObject({ kind: 'grep', lines: 2_000, shown: 32 })
    expect(kept.length).toBeGreaterThan(5)
    expect(kept.join('').split('\n')).toHaveLength(2_001)
  })

  test('an error is one for the model, and the thread goes on', async () => {
    await using workspace = await workspaceWith({ a: 'x' })
    const search = searchInThreads(new ManualClock(), entry)
    await expect(search({ ...jobIn(workspace, 'x'), glob: 'a[' }, listener(), never)).rejects.toThrow('the pattern "a[" is none')
    expect(await search(jobIn(workspace, 'x'), listener(), never)).toMatchObject({ lines: 1 })
  })

  test('one that can not be started is an error', async () => {
    await using workspace = await workspaceWith({})
    const search = searchInThreads(new ManualClock(), pathToFileURL(join(directory, 'gone.cjs')))
    for (let attempt = 0; attempt < 4; attempt++)
      await expect(search(jobIn(workspace, 'x'), listener(), never)).rejects.toThrow('the search failed: Cannot find module')
  })
})

describe('an expression that never ends', () => {
  test('holds up nothing here, and is ended at the time limit; what was found is told', async () => {
    await using workspace = await workspaceWith({ a: 'aaa\n', b: `first\n${almost}`, c: 'aa\n' })
    const clock = new ManualClock()
    const search = searchInThreads(clock, entry)
    const heard = listener()
    const searching = search(jobIn(workspace, endless), heard, never)
    await heard.first
    // The loop turns while the thread is stuck.
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
    clock.advance(BUDGET_MS + GRACE_MS - 1)
    expect(clock.waiting).toBe(1)
    clock.advance(1)
    expect(await searching).toMatchObject({ kind: 'stuck' })
    expect(heard.lines).toEqual(['a:1:aaa'])
    expect(await search(jobIn(workspace, 'first'), listener(), never)).toMatchObject({ lines: 1 })
  })

  test('where it is stuck is told', async () => {
    await using workspace = await workspaceWith({ a: 'y\n', é: `y\n\nx\n` })
    const clock = new ManualClock()
    const search = searchInThreads(clock, entry)
    // While a thread waits for this answer it stands still.
    const allows = () => {
      clock.advance(BUDGET_MS + GRACE_MS)
      return true
    }
    const searching = search({ ...jobIn(workspace, 'x'), guarded: true }, { ...listener(), allows }, never)
    expect(await searching).toEqual({ kind: 'stuck', path: 'é', line: 3 })
  })

  test('is ended by an abort at once', async () => {
    await using workspace = await workspaceWith({ a: 'aaa\n', b: almost })
    const clock = new ManualClock()
    const search = searchInThreads(clock, entry)
    const heard = listener()
    const controller = new AbortController()
    const searching = search(jobIn(workspace, endless), heard, controller.signal)
    await heard.first
    controller.abort(new Error('cancelled'))
    await expect(searching).rejects.toThrow('cancelled')
    expect(clock.waiting).toBe(0)
    expect(await search(jobIn(workspace, 'aaa'), listener(), never)).toMatchObject({ lines: 2 })
  })

  test('two at a time; those that wait come next, or leave when they are aborted', async () => {
    await using workspace = await workspaceWith({ a: 'aaa\n', b: almost })
    const clock = new ManualClock()
    const search = searchInThreads(clock, entry)
    const running = [1, 2].map(() => {
      const [heard, controller] = [listener(), new AbortController()]
      return { heard, controller, end: search(jobIn(workspace, endless), heard, controller.signal).catch((error: Error) => error.message) }
    })
    await Promise.all(running.map(({ heard }) => heard.first))
    const gone = new AbortController()
    const leaving = search(jobIn(workspace, 'aaa'), listener(), gone.signal)
    const waiting = [1, 2, 3].map(() => search(jobIn(workspace, 'aaa'), listener(), never))
    gone.abort(new Error('left'))
    await expect(leaving).rejects.toThrow('left')
    await expect(search(jobIn(workspace, 'x'), listener(), gone.signal)).rejects.toThrow('left')
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    // Each search that runs has a time limit.
    expect(clock.waiting).toBe(2)
    running[0]?.controller.abort(new Error('one'))
    for (const end of await Promise.all(waiting)) expect(end).toMatchObject({ kind: 'grep', lines: 2 })
    running[1]?.controller.abort(new Error('two'))
    expect(await Promise.all(running.map(({ end }) => end))).toEqual(['one', 'two'])
    gone.abort()
  })
})

test('what needs more memory than a search may have is an error that says so', async () => {
  await using workspace = await workspaceWith({ a: 'x\n'.repeat(500_000), b: 'y\n' })
  const search = searchInThreads(new ManualClock(), entry, 16)
  const greedy = { ...jobIn(workspace, 'x'), limit: 2 ** 30, maxShown: 2 ** 30, maxKept: 1 }
  await expect(search(greedy, listener(), never)).rejects.toThrow('needs more memory than it may have')
  expect(await search(jobIn(workspace, 'y'), listener(), never)).toMatchObject({ lines: 1 })
})

test('long lines are not held for the sake of the pieces that are shown, or may yet be', async () => {
  const long = `${'x'.repeat(6 * 2 ** 20)}\n`
  await using workspace = await workspaceWith({ last: `${long.repeat(20)}needle\n` })
  await writeFile(join(workspace.root, '0'), long)
  for (let number = 1; number < 20; number++) await link(join(workspace.root, '0'), join(workspace.root, String(number)))
  const search = searchInThreads(new ManualClock(), entry, 64)
  const heard = listener()
  const context = { ...jobIn(workspace, 'needle'), context: 20, maxShown: 100_000 }
  expect(await search(context, heard, never)).toMatchObject({ lines: 1 })
  expect(heard.lines).toHaveLength(21)
  const shown = { ...jobIn(workspace, '^x'), glob: '[0-9]*', maxShown: 100_000, maxKept: 1 }
  expect(await search(shown, listener(), never)).toMatchObject({ lines: 20, shown: 20, cutLines: 20 })
  const kept = { ...jobIn(workspace, '^x'), glob: '[0-9]*', limit: 1, maxKept: 100_000 }
  expect(await search(kept, listener(), never)).toMatchObject({ lines: 20, shown: 1 })
})

test('a thread is kept for a while, and no longer', async () => {
  await using workspace = await workspaceWith({ a: 'x\n' })
  const clock = new ManualClock()
  const search = searchInThreads(clock, entry)
  await search(jobIn(workspace, 'x'), listener(), never)
  expect(clock.waiting).toBe(1)
  await search(jobIn(workspace, 'x'), listener(), never)
  expect(clock.waiting).toBe(1)
  clock.advance(KEPT_MS)
  expect(clock.waiting).toBe(0)
  expect(await search(jobIn(workspace, 'x'), listener(), never)).toMatchObject({ lines: 1 })
})

test('the tools of a runtime search in threads', () => {
  expect(builtInTools(new ManualClock()).map(({ name }) => name)).toEqual(['read_file', 'write_file', 'edit_file', 'glob', 'grep', 'shell'])
})
