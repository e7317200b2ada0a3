// Owns `make demo`: every example, one after another, and a report that says what each has proven. No key, no network.
import { examples } from './catalogue.mjs'
import { passSignalsOn, run } from './example-run.mjs'

passSignalsOn()

const width = Math.max(...examples.map(({ title }) => title.length))

console.log('Quiesce: agents at work, in both languages. The model is a script; the tools, the store and the processes are real.\n')
const failures = []
let seconds = 0
for (const example of examples) {
  const result = await run(example)
  seconds += result.seconds
  const { title, proves } = example
  console.log(
    `${result.problem === null ? 'ok    ' : 'FAILED'}  ${title.padEnd(width)}  ${result.seconds.toFixed(1).padStart(5)} s  ${proves}`,
  )
  if (result.problem !== null) failures.push({ ...result, command: example.command })
}

for (const { title, problem, output, command } of failures) {
  console.error(`\n== ${title}: ${problem}\n   ${command.join(' ')}\n\n${output.trimEnd()}`)
}
const all = failures.length === 0 ? ', and left no process and no file behind' : ''
console.log(`\n${examples.length - failures.length} of ${examples.length} examples work (${seconds.toFixed(0)} s)${all}.`)
if (failures.length > 0) process.exitCode = 1
else {
  console.log(`
What to try next:
  node ts-sdk/examples/quickstart.mjs                                     one of these by itself; python-sdk/examples/ has the others
  node_modules/.bin/quiesce run --model scripted/demo "What does README.md say?"
  node_modules/.bin/quiesce doctor                                        what is configured, and what a real model needs
  README.md                                                               a first script of your own, and how to set a real model`)
}
