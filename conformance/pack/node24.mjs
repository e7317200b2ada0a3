// Runs the runtime's suite on Node 24, so that both SQLite drivers are real. Prints `N passed, N failed` as its last line.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { repository } from '../checks/files.mjs'
import { fromVitest } from '../checks/test-counts.mjs'
import { checkDriver, driverOf, node24 } from './node-versions.mjs'
import { run } from './run.mjs'
import { add, check, suite } from './tally.mjs'

const scratch = mkdtempSync(join(tmpdir(), 'quiesce-node24-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))

const env = { ...process.env, FORCE_COLOR: '0' }

function checkOwnDriver(node) {
  const own = { QUIESCE_STORE: `sqlite:${scratch}/quiesce.db`, QUIESCE_MODEL: 'scripted/demo' }
  return checkDriver(node, 'runtime/bin/quiesce.js', { cwd: repository, env: { ...env, ...own } })
}

await suite(async () => {
  const program = await node24()
  await check('Node 24 uses node:sqlite', () => checkOwnDriver(program))
  await check(`Node ${process.versions.node} uses ${driverOf(process.version)}`, () => checkOwnDriver(process.execPath))
  const counts = join(scratch, 'vitest.json')
  const command = [program, 'node_modules/vitest/vitest.mjs', 'run', 'runtime/src', '--reporter=dot', '--reporter=json']
  // No older Node starts with this option, so whatever process the suite starts is of Node 24 too.
  const onlyNode24 = { PATH: `${dirname(program)}:${process.env.PATH}`, NODE_OPTIONS: '--experimental-sqlite' }
  const { status } = await run([...command, `--outputFile.json=${counts}`], {
    cwd: repository,
    env: { ...env, ...onlyNode24 },
    show: (text) => process.stdout.write(text),
  })
  const report = JSON.parse(readFileSync(counts, 'utf8'))
  add(fromVitest(report))
  await check('the suite used node:sqlite', () => {
    assert.equal(status, 0)
    const tests = report.testResults.flatMap((file) => file.assertionResults)
    const proof = tests.find(({ title }) => title === 'is the one of Node where there is one, else libsql')
    assert.equal(proof?.status, 'passed')
  })
})
