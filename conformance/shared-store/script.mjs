// One of several scripts on one store: runs its prompts one after the other, and says what came as JSON lines. Its task is its only
// argument, as JSON: {sessionId, create, cwd, prompts}.
import { Quiesce } from '@quiesce/sdk'

const { sessionId, create, cwd, prompts } = JSON.parse(process.argv[2])
const say = (what) => process.stdout.write(`${JSON.stringify(what)}\n`)

const quiesce = await Quiesce.launch({ cwd })
try {
  const session = create ? await quiesce.sessions.create({ sessionId, permissions: 'allow-all' }) : await quiesce.sessions.get(sessionId)
  say({ ready: session.id })
  for (const prompt of prompts) {
    try {
      const { messageId, finalResponse, events } = await session.run(prompt)
      say({ prompt, messageId, finalResponse, events })
    } catch (error) {
      say({ prompt, error: error.constructor.name, message: error.message })
    }
  }
} finally {
  await quiesce.close()
}
