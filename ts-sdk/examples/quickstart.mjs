// The smallest whole thing: start a runtime, create a session, run a prompt, print the answer.
//
//   node ts-sdk/examples/quickstart.mjs
import { Quiesce } from '@quiesce/sdk'
import { scratch } from './scratch.mjs'

const { workspace, store, model } = scratch({ 'notes.txt': 'Buy milk\n' })

// Starts the runtime, a process of its own. Where `using` is there (Node 24, TypeScript): await using quiesce = …
const quiesce = await Quiesce.launch({ cwd: workspace, store, model })
try {
  // A session is one durable conversation. `read-only` lets the agent look at files, and change nothing.
  const session = await quiesce.sessions.create({ permissions: 'read-only' })

  // run() prompts, and resolves when the agent is idle again.
  const result = await session.run('What does notes.txt say?')
  console.log(result.finalResponse)

  // A model that fails is no exception: the facts of the run say how each turn ended.
  const end = result.events.findLast((event) => event.type === 'turn/end')
  if (result.finalResponse === '') {
    console.error('There is no answer. The last turn ended so:', end?.data.reason)
    process.exitCode = 1
  }
} finally {
  await quiesce.close()
}
