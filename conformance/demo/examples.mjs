// Owns the suite of the examples: each as the demo runs it, alone, with a newcomer's mistakes, interrupted, and as README.md shows it.
//
//   node conformance/demo/examples.mjs [words of a title]
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../checks/files.mjs'
import { alone, examples, held, mistakes, pasted } from './catalogue.mjs'
import { passSignalsOn, run } from './example-run.mjs'

passSignalsOn()

const wanted = process.argv.slice(2).join(' ').toLowerCase()
const blocks = pasted(readFileSync(join(repository, 'README.md'), 'utf8'))
const suite = [
  ...[...examples, ...alone, ...mistakes, ...blocks].map((example) => [example, {}]),
  ...held.map((example) => [example, { interruptAt: 'started' }]),
].filter(([{ title }]) => title.toLowerCase().includes(wanted))

let passed = 0
let failed = 0

function count({ title, problem, seconds, output }) {
  if (problem === null) passed += 1
  else failed += 1
  console.log(`${problem === null ? 'ok    ' : 'FAILED'}  ${title} (${seconds.toFixed(1)} s)`)
  if (problem !== null) console.log(`${problem}\n${output.trimEnd()}\n`)
}

const enough = blocks.length === 3
count({
  title: 'README: blocks that can be pasted',
  problem: enough ? null : `there must be 3, one in each language and one of quiesce run: found ${blocks.length}`,
  seconds: 0,
  output: '',
})
for (const [example, how] of suite) count(await run(example, how))
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
