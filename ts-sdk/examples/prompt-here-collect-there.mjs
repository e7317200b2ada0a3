// Prompts in one process, and collects what came of it in another, which may be in another language: the store is what they share.
//
//   node ts-sdk/examples/prompt-here-collect-there.mjs            does both, with two runtimes
//   node ts-sdk/examples/prompt-here-collect-there.mjs prompt     prints {"sessionId", "messageId"}
//   node ts-sdk/examples/prompt-here-collect-there.mjs collect SESSION_ID MESSAGE_ID     prints the RunResult
//
// The last two need QUIESCE_STORE, for example sqlite:shared.db. python-sdk/examples/prompt_here_collect_there.py takes the
// same words, so either can collect what the other one prompted.
import assert from 'node:assert/strict'
import { Quiesce } from '@quiesce/sdk'
import { scratch } from './scratch.mjs'

const [command, ...ids] = process.argv.slice(2)
const { workspace, store, model } = scratch()
if (command !== undefined && !process.env.QUIESCE_STORE) {
  console.error('Set QUIESCE_STORE to a store that both processes reach, for example sqlite:shared.db')
  process.exit(2)
}

if (command === undefined) {
  const { sessionId, messageId } = await prompt(workspace)
  const result = await collect(sessionId, messageId)
  assert.equal(result.messageId, messageId)
  assert.notEqual(result.finalResponse, '')
  console.log(result.finalResponse)
} else if (command === 'prompt') {
  console.log(JSON.stringify(await prompt(process.cwd(), ids[0])))
} else if (command === 'collect' && ids.length === 2) {
  console.log(JSON.stringify(await collect(ids[0] ?? '', ids[1] ?? '')))
} else {
  console.error('usage: prompt-here-collect-there.mjs [prompt [TEXT] | collect SESSION_ID MESSAGE_ID]')
  process.exitCode = 2
}

/** Only prompts: the receipt is in the store, and the runtime is closed at once, whatever the agent is doing. @param {string} cwd */
async function prompt(cwd, text = 'Say hello.') {
  const quiesce = await Quiesce.launch({ cwd, store, model })
  try {
    const session = await quiesce.sessions.create({ permissions: 'allow-all' })
    return { sessionId: session.id, ...(await session.prompt(text)) }
  } finally {
    await quiesce.close()
  }
}

/** Collects by id: an open turn goes on first, and one that is over is read from the log. @param {string} sessionId @param {string} messageId */
async function collect(sessionId, messageId) {
  const quiesce = await Quiesce.launch({ store })
  try {
    const session = await quiesce.sessions.get(sessionId)
    return await session.collect(messageId)
  } finally {
    await quiesce.close()
  }
}
