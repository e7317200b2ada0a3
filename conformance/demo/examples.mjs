// Owns the suite of the examples: each as the demo runs it, alone, with a newcomer's mistakes, interrupted, and as README.md shows it.
//
//   node conformance/demo/examples.mjs [words of a title]
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../checks/files.mjs'
import { alone, examples, held, mistakes, pasted } from './catalogue.mjs'
import { run } from './example-run.mjs'

const wanted = process.argv.slice(2).join(' ').toLowerCase()
const blocks = pasted(readFileSync(join(repository, 'README.md'), 'utf8'))
const suite = [
  ...[...examples, ...alone, ...mistakes, ...blocks].map((example) => [example, {}]),
  ...held.map((example) => [example, { interruptAt: 'started' }]),
].filter(([{ title }]) => title.toLowerCase().includes(wanted))

const results = []
if (blocks.length !== 3)
  results.push({ title: 'README', problem: `it must have 3 blocks that can be pasted, not ${blocks.length}`, seconds: 0, output: '' })
for (const [example, how] of suite) results.push(await run(example, how))

for (const { title, problem, seconds, output } of results) {
  console.log(
    `${problem === null ? 'ok' : 'FAILED'}  ${title} (${seconds.toFixed(1)} s)${problem === null ? '' : `: ${problem}\n${output.trimEnd()}\n`}`,
  )
}
const failed = results.filter(({ problem }) => problem !== null).length
console.log(`${results.length - failed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
