// Proves the package of the conformance suite: what is in it, and that it judges a server, and an SDK, where nothing else of the project is.
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../checks/files.mjs'
import { filesBelow, paths, place, scrubbed } from './place.mjs'
import { run, succeed } from './run.mjs'
import { check, expectNone } from './tally.mjs'

const project = join(place, 'suite')
const bin = join(project, 'node_modules/.bin')
const install = (...packages) => succeed(['npm', 'install', '--no-audit', '--no-fund', ...packages], { cwd: project })
const conformance = (...args) => run([join(bin, 'conformance'), ...args], { cwd: project, env: scrubbed(paths.withThisNode) })

/** Installs it beside a server, and nothing else. */
export async function installSuite({ conformance: suite, runtime }) {
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{ "private": true }\n')
  await install(suite.path, runtime.path)
}

export async function checkSuite({ conformance: suite, sdk }) {
  await check('suite: it has its cases, drivers, schemas and the contract, and no source, test or mutant', () => {
    const wanted = ['README.md', 'LICENSE', 'contract.md', 'protocol.schema.json', 'case.schema.json', 'not-covered.yaml']
    wanted.push('bin/conformance.mjs', 'bin/endpoint.mjs', 'dist/main.js', 'drivers/typescript/driver.mjs', 'drivers/python/driver.py')
    expectNone(wanted.filter((name) => !suite.files.includes(name)))
    expectNone(
      suite.files.filter(
        (name) => /\.ts$|\.test\.|mutants\/|\.tsbuildinfo$|expected-failures/.test(name) && !/drivers\/.*expected/.test(name),
      ),
    )
    expectNone(
      ['cases'].filter(
        (name) =>
          !readdirSync(join(repository, 'conformance', name)).every((area) =>
            suite.files.some((file) => file.startsWith(`${name}/${area}`)),
          ),
      ),
    )
  })
  await check('suite: nothing names the repository', () => {
    const files = filesBelow(join(project, 'node_modules/@quiesce/conformance'))
    expectNone(files.filter((file) => readFileSync(file, 'utf8').includes(repository)))
  })
  await check('suite: list has every case', async () => {
    const { stdout } = await conformance('list')
    const there = await succeed([process.execPath, 'conformance/bin/conformance.mjs', 'list'], { cwd: repository })
    assert.equal(stdout, there)
  })
  await check('suite: doctor says which drivers cannot run here, and why', async () => {
    const { status, stdout } = await conformance('doctor')
    assert.equal(status, 0, stdout)
    assert.match(stdout, /skip {2}typescript: it can't run here: .*@quiesce\/sdk/)
    assert.match(stdout, /skip {2}python: it can't run here: /)
  })
  await check('suite: it judges a server by its command', async () => {
    const { status, stdout, stderr } = await conformance(
      'run',
      '--layer',
      'L1',
      '--only',
      'frames/',
      '--server',
      `${join(bin, 'quiesce')} serve --stdio`,
    )
    assert.equal(status, 0, stdout + stderr)
    assert.match(stdout, /\n\d\d+ passed, 0 failed\n$/)
  })
  await check('suite: a server that is none fails, and is told why', async () => {
    const { status, stdout } = await conformance('run', '--layer', 'L1', '--only', 'frames/unknown-method', '--server', 'sh -c "exit 7"')
    assert.equal(status, 1, stdout)
    assert.match(stdout, /FAIL {3}frames\/unknown-method.*\n.*status 7/)
  })
  await check('suite: without an SDK, what needs one runs nothing and says so', async () => {
    const { status, stdout, stderr } = await conformance('run', '--layer', 'L0')
    assert.equal(status, 2, stdout)
    assert.match(stdout, /SKIP {3}every case of driver typescript, which can't run here: /)
    assert.match(stderr, /nothing ran/)
  })
  await install(sdk.path)
  await check('suite: it judges an SDK that is installed beside it, alone and with the runtime', async () => {
    const { status, stdout, stderr } = await conformance(
      'run',
      '--driver',
      'typescript',
      '--only',
      'reducer/one-turn',
      '--only',
      'runs/overlapping-runs-end-at-one-idle',
    )
    assert.equal(status, 0, stdout + stderr)
    assert.match(stdout, /\n[2-9] passed, 0 failed\n$/)
  })
}
