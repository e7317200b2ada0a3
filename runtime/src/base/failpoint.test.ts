import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FailpointActions, failpointFor } from './failpoint.ts'

/** Remembers what a point did instead of doing it. */
function remembering() {
  const done: string[] = []
  let places = 0
  const actions: FailpointActions = {
    record: (file, line) => done.push(`${file} ${line}`),
    kill: () => done.push(`killed at ${places}`),
    ordinal: () => ++places,
  }
  return { done, actions }
}

describe('a failpoint', () => {
  it('does nothing where nothing is set, and asks for no detail', () => {
    const { done, actions } = remembering()
    for (const setting of [undefined, '']) failpointFor(setting, actions)('a', () => expect.unreachable())
    expect(done).toEqual([])
  })

  it('records every point in order, counted by its whole name', () => {
    const { done, actions } = remembering()
    const point = failpointFor('record:/x:y', actions)
    point('a')
    point('b', () => 'c+d')
    point('a')
    expect(done).toEqual(['/x:y 1 a#1\n', '/x:y 2 b:c+d#1\n', '/x:y 3 a#2\n'])
  })

  it('kills at the nth time of a name, once', () => {
    const { done, actions } = remembering()
    const point = failpointFor('b:c#d#2', actions)
    for (const name of ['b', 'b:c#d', 'x', 'b:c#d', 'b:c#d']) point(name)
    expect(done).toEqual(['killed at 4'])
  })

  it('kills at an ordinal, whatever is there', () => {
    const { done, actions } = remembering()
    const point = failpointFor('@2', actions)
    for (const name of ['a', 'b', 'c']) point(name)
    expect(done).toEqual(['killed at 2'])
  })

  it('kills and records, the point where it kills included', () => {
    const { done, actions } = remembering()
    const point = failpointFor('b#1;record:/x', actions)
    for (const name of ['a', 'b', 'c']) point(name)
    expect(done).toEqual(['/x 1 a#1\n', '/x 2 b#1\n', 'killed at 2', '/x 3 c#1\n'])
  })

  it.each(['a', 'a#', 'a#x', '#1', '@', '@x', 'record:', ';', 'a#1;', 'a;record:/x', 'a#1record:/x'])(
    'refuses %s, and says what would be right',
    (setting) => {
      expect(() => failpointFor(setting, remembering().actions)).toThrow(
        `QUIESCE_FAILPOINT: expected <name>#<n>, @<ordinal>, record:<file>, or one of the first two with ;record:<file>, got ${JSON.stringify(setting)}`,
      )
    },
  )
})

describe('the failpoints of a process', () => {
  const folder = mkdtempSync(join(tmpdir(), 'quiesce-failpoint-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const program = `
    import { Worker, isMainThread } from 'node:worker_threads'
    import { failpoint } from './failpoint.ts'
    if (isMainThread) {
      failpoint('main')
      new Worker(new URL(import.meta.url)).on('exit', () => {
        failpoint('main')
        console.log('survived')
      })
    } else {
      failpoint('thread')
      failpoint('thread')
    }`

  beforeAll(async () => {
    const resolveDir = fileURLToPath(new URL('.', import.meta.url))
    const stdin = { contents: program, resolveDir, loader: 'ts' as const }
    await build({ stdin, bundle: true, platform: 'node', format: 'esm', outfile: join(folder, 'program.mjs') })
  })

  const run = (setting: string) =>
    promisify(execFile)(process.execPath, [join(folder, 'program.mjs')], { env: { ...process.env, QUIESCE_FAILPOINT: setting } })

  it('are counted together over its threads', async () => {
    await run(`record:${folder}/points`)
    expect(readFileSync(join(folder, 'points'), 'utf8')).toBe('1 main#1\n2 thread#1\n3 thread#2\n4 main#2\n')
  })

  it.each(['main#1', 'main#2', 'thread#2', '@3'])('kill all of it at %s', async (setting) => {
    await expect(run(setting)).rejects.toMatchObject({ signal: 'SIGKILL', stdout: '' })
  })

  it('leave it alone where none is met', async () => {
    expect(await run('other#1')).toMatchObject({ stdout: 'survived\n' })
  })
})
