// Whole scripts that use the SDK and end in every way: whichever it is, no runtime is left.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { fixture, RuntimeWatch } from './watch.ts'

let directory: string
let sdk: string
let watch: RuntimeWatch

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quiesce-sdk-'))
  const outfile = join(directory, 'sdk.mjs')
  const entry = fileURLToPath(new URL('../src/index.ts', import.meta.url))
  await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'esm', logLevel: 'error' })
  sdk = pathToFileURL(outfile).href
})
afterAll(() => rm(directory, { recursive: true, force: true }))
beforeEach(async () => {
  watch = await RuntimeWatch.listen()
})
afterEach(() => watch.close())

interface Script {
  child: ChildProcess
  ended: Promise<{ code: number | null; signal: string | null; stdout: string; stderr: string }>
}

/** Runs a script in which `quiesce` is launched and `session` is created. */
function script(mode: string, body: string): Script {
  const source = `
    import { Quiesce } from ${JSON.stringify(sdk)}
    const quiesce = await Quiesce.launch({ runtime: ${JSON.stringify(fixture)} })
    const session = await quiesce.sessions.create()
    ${body}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], { env: { ...process.env, ...watch.env(mode) } })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = new Promise<Awaited<Script['ended']>>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }))
  })
  return { child, ended }
}

const printed = 'console.log((await session.run("hello")).finalResponse)'

it('ends by itself without close(), once nothing is awaited any more', async () => {
  const { ended } = script('good', printed)
  expect(await ended).toEqual({ code: 0, signal: null, stdout: 'Grüße, 🧭\u2028!\n', stderr: '' })
  await watch.allGone()
  expect(watch.lines).toContain('end of stdin')
})

it('stays as long as a run is awaited', async () => {
  const { ended } = script('waits', printed)
  await watch.said('prompted')
  watch.say('go on')
  expect(await ended).toMatchObject({ code: 0, stdout: 'Grüße, 🧭\u2028!\n' })
  await watch.allGone()
})

it('ends by await using, as TypeScript compiles it, and by try … finally', async () => {
  const { ended } = script('good', `try { ${printed} } finally { await quiesce.close() }`)
  expect(await ended).toMatchObject({ code: 0, stderr: '' })
  await watch.allGone()
  const disposed = script('good', `try { ${printed} } finally { await quiesce[Symbol.asyncDispose]() }`)
  expect(await disposed.ended).toMatchObject({ code: 0, stderr: '' })
  await watch.allGone()
})

it('throws in the middle', async () => {
  const { ended } = script('waits', 'void session.run("hello").catch(() => {}); await quiesce.ping(); throw new Error("mine")')
  const { code, stderr } = await ended
  expect(code).toBe(1)
  expect(stderr).toContain('Error: mine')
  await watch.allGone()
})

it('calls process.exit in the middle', async () => {
  const { ended } = script('waits', 'void session.run("hello").catch(() => {}); await quiesce.ping(); process.exit(9)')
  expect(await ended).toMatchObject({ code: 9, stderr: '' })
  await watch.allGone()
})

it.each(['SIGKILL', 'SIGINT', 'SIGTERM'] as const)('is ended by %s in the middle', async (signal) => {
  const { child, ended } = script('waits', printed)
  await watch.said('prompted')
  child.kill(signal)
  expect(await ended).toMatchObject({ code: null, signal })
  await watch.allGone()
})

it('reports a rejection of a run, and never an unhandled one', async () => {
  const body = `
    const run = session.stream("hello")
    const error = await run.result.catch((error) => error)
    console.log(error.name, error.exitCode)
    session.stream("again")`
  const { ended } = script('dies-mid-run', body)
  expect(await ended).toMatchObject({ code: 0, stdout: 'ConnectionClosedError 7\n', stderr: '' })
})
