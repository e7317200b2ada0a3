// Shows an answer while it is being written, and what the agent does meanwhile.
//
//   node ts-sdk/examples/streaming.mjs
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Quiesce } from '@quiesce/sdk'
import { scratch } from './scratch.mjs'

const { workspace, store, model } = scratch()
const quiesce = await Quiesce.launch({ cwd: workspace, store, model })
try {
  // `edit` lets the agent write files in the workspace without asking.
  const session = await quiesce.sessions.create({ permissions: 'edit' })
  const run = session.stream('Write a haiku about logs to haiku.txt, then tell me the haiku.')

  // Deltas are pieces of text on their way; events are the facts that the session's log keeps.
  /** @type {Map<string, string>} */
  const textOfStep = new Map()
  for await (const item of run) {
    if (item.kind === 'delta') {
      process.stdout.write(item.text)
      textOfStep.set(item.stepId, (textOfStep.get(item.stepId) ?? '') + item.text)
    } else if (item.kind === 'event' && item.event.type === 'tool/call') {
      console.log(`[${item.event.data.name}]`)
    }
  }

  // The same that run() gives. Its text is what the deltas of the last step were, joined.
  const result = await run.result
  console.log(`\n[${result.events.length} facts, ${result.usage.outputTokens} tokens written]`)
  assert.ok(result.finalMessage, 'the agent said nothing')
  assert.equal(textOfStep.get(result.finalMessage.stepId), result.finalResponse)

  // What an agent says it did, and what it did, are two things: look at the file.
  assert.notEqual(readFileSync(join(workspace, 'haiku.txt'), 'utf8').trim(), '')
} finally {
  await quiesce.close()
}
