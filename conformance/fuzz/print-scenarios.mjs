// Owns scenarios as lines of JSON, for players in other languages: `print-scenarios.mjs LANGUAGE SEED FIRST COUNT`, or with the places
// of the pieces that are kept, `print-scenarios.mjs LANGUAGE SEED INDEX 1 3,4,9`. The bytes of a step are base64.
import { once } from 'node:events'
import { reduced, removable } from './reduce.mjs'
import { sdkScenario } from './sdk-scenarios.mjs'

const [language, seed, first, count, kept] = process.argv.slice(2)

process.stdout.on('error', () => process.exit(0)) // nobody reads any more
for (let index = Number(first); index < Number(first) + Number(count); index += 1) {
  const scenario = sdkScenario(Number(seed), index, language)
  const places = removable(scenario)
  const left = kept === undefined ? scenario : reduced(scenario, kept.split(',').map(Number), language)
  const steps = left.steps.map((step) => (step.do === 'send' ? { ...step, bytes: step.bytes.toString('base64') } : step))
  if (!process.stdout.write(`${JSON.stringify({ index, removable: places, ...left, steps })}\n`)) await once(process.stdout, 'drain')
}
