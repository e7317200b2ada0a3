// Has an agent fix a failing test, and believes the test, not the agent.
//
//   node ts-sdk/examples/fix-failing-test.mjs
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Quiesce } from '@quiesce/sdk'
import { scratch } from './scratch.mjs'

const { workspace, store, model } = scratch({
  'add.mjs': 'export function add(a, b) {\n  return a - b\n}\n',
  'add.test.mjs': `import assert from 'node:assert'
import { test } from 'node:test'
import { add } from './add.mjs'

test('adds', () => assert.equal(add(2, 3), 5))
`,
})

/** The exit status of the tests. */
const testStatus = () => spawnSync(process.execPath, ['--test'], { cwd: workspace }).status

assert.equal(testStatus(), 1, 'the test must fail at first')

const quiesce = await Quiesce.launch({ cwd: workspace, store, model })
try {
  // The agent may run commands and edit files without asking: for directories and machines that can bear it.
  const session = await quiesce.sessions.create({ permissions: 'allow-all' })
  const result = await session.run('Fix the failing test: run node --test, find the fault in add.mjs, and mend it there.')
  for (const event of result.events) {
    if (event.type === 'tool/call') console.log(`[${event.data.name}]`, event.data.input)
  }
  console.log(result.finalResponse)
} finally {
  await quiesce.close()
}

assert.equal(testStatus(), 0, 'the test must pass now')
assert.match(readFileSync(join(workspace, 'add.mjs'), 'utf8'), /return a \+ b/)
console.log('The test failed before, and passes now.')
