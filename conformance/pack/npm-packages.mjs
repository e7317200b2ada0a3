// Proves the npm packages: what is in them, what they weigh, that their types resolve, and that they run where nothing else is.
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../checks/files.mjs'
import { checkDriver, driverOf } from './node-versions.mjs'
import { filesBelow, paths, place, scriptsLoaded, scrubbed, sizeBelow } from './place.mjs'
import { succeed } from './run.mjs'
import { check, expectNone } from './tally.mjs'

const megabyte = 1_000_000
const project = join(place, 'project')
const modules = join(project, 'node_modules')

/** Uses the types as somebody would, and marks what they must refuse: types that did not resolve would let it pass. */
const consumer = `import { Quiesce, type RunResult, SessionBusyError } from '@quiesce/sdk'

export async function ask(question: string): Promise<string> {
  await using quiesce = await Quiesce.launch({ model: 'scripted/demo', requestTimeoutMs: 1000 })
  const session = await quiesce.sessions.create({ permissions: 'read-only' })
  const result: RunResult = await session.run(question, { timeoutMs: 1000 })
  for (const event of result.events) if (event.type === 'turn/end') console.log(event.data.reason.kind satisfies string)
  // @ts-expect-error: there is no such permission
  await quiesce.sessions.create({ permissions: 'none' })
  // @ts-expect-error: a message is text or blocks
  await session.prompt(1)
  // @ts-expect-error: there is no such option
  await Quiesce.launch({ modle: 'scripted/demo' })
  return result.finalResponse
}

export const isBusy = (error: unknown): boolean => error instanceof SessionBusyError && error.retryable
`

/** Installs both tarballs into an empty project. */
export async function installNpm({ sdk, runtime }) {
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{ "private": true }\n')
  await succeed(['npm', 'install', '--no-audit', '--no-fund', sdk.path, runtime.path], { cwd: project })
  for (const name of ['quickstart.mjs', 'scratch.mjs']) cpSync(join(repository, 'ts-sdk/examples', name), join(project, name))
}

export async function checkContents({ sdk, runtime }) {
  await check('npm: both packages have README, LICENSE and no source or test', () => {
    for (const { files } of [sdk, runtime]) {
      expectNone(['LICENSE', 'README.md', 'package.json'].filter((name) => !files.includes(name)))
      expectNone(files.filter((name) => /\.test\.|\.fixture\.|\.tsbuildinfo$|(?<!\.d)\.ts$/.test(name)))
    }
    assert.ok(sdk.files.includes('dist/index.d.ts'))
    assert.ok(runtime.files.includes('dist/bundle/THIRD-PARTY-LICENSES.txt'))
  })
}

export async function checkNpm(node24) {
  await check('npm: the SDK needs nothing, the runtime libsql alone', () => {
    const needs = (name) => JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8')).dependencies
    assert.equal(needs('@quiesce/sdk'), undefined)
    assert.deepEqual(Object.keys(needs('@quiesce/runtime')), ['libsql'])
  })
  await check('npm: the installed runtime stays below 30 MB', () => {
    const size = sizeBelow(modules) - sizeBelow(join(modules, '@quiesce/sdk'))
    console.log(`        ${(size / megabyte).toFixed(1)} MB`)
    assert.ok(size < 30 * megabyte, `it has ${size} bytes`)
  })
  await check('npm: nothing names the repository', () => {
    const files = filesBelow(join(modules, '@quiesce'))
    expectNone(files.filter((file) => readFileSync(file, 'utf8').includes(repository)))
  })
  await check('npm: the types resolve for a strict consumer of dist alone', checkTypes)
  await checkRuns(process.version, paths.withThisNode)
  await checkRuns('v24.0.0', node24)
}

async function checkTypes() {
  for (const name of ['@types/node', 'undici-types'])
    cpSync(join(repository, 'node_modules', name), join(modules, name), { recursive: true })
  writeFileSync(join(project, 'consumer.mts'), consumer)
  const options = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--noEmit', '--skipLibCheck', 'false']
  const target = ['--target', 'es2023', '--module', 'nodenext', '--lib', 'es2023,esnext.disposable', '--types', 'node']
  await succeed([join(repository, 'node_modules/.bin/tsc'), ...options, ...target, 'consumer.mts'], { cwd: project })
}

async function checkRuns(version, path) {
  const node = join(path, 'node')
  const [name] = version.split('.')
  await check(`npm: the quickstart runs on Node ${name}, and loads nothing from elsewhere`, async () => {
    const coverage = join(place, `coverage-npm-${name}`)
    const said = await succeed([node, 'quickstart.mjs'], { cwd: project, env: scrubbed(path, { NODE_V8_COVERAGE: coverage }) })
    assert.match(said, /Buy milk/)
    const scripts = scriptsLoaded(coverage)
    for (const file of [
      '@quiesce/sdk/dist/index.js',
      '@quiesce/runtime/dist/bundle/quiesce.js',
      '@quiesce/runtime/dist/bundle/store-worker.js',
    ])
      assert.ok(scripts.includes(join(modules, file)), `${file} was not loaded`)
    expectNone(scripts.filter((script) => !script.startsWith(`${project}/`)))
  })
  await check(`npm: the runtime on Node ${name} uses ${driverOf(version)}`, () =>
    checkDriver(node, join(modules, '.bin/quiesce'), { cwd: project, env: scrubbed(path) }),
  )
}
