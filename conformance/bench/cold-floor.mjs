// One prompt in new processes, as the floor does it: what a script with the least of an SDK costs.
import { spawn } from 'node:child_process'
import { onLine } from './processes.mjs'

const server = spawn(process.execPath, process.argv.slice(2), { stdio: ['pipe', 'pipe', 'inherit'] })
const send = (id, method, params) => server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
let answer

onLine(server.stdout, (line) => {
  const { id, result, params } = JSON.parse(line)
  if (id === 1) {
    const { sessionId } = result.session
    send(2, 'session/subscribe', { sessionId, after: 'now' })
    send(3, 'session/prompt', { sessionId, messageId: 'first', content: 'What is the answer?' })
  }
  if (params?.event.type === 'assistant/message') answer = params.event.data.content[0].text
  if (params?.event.data.status === 'idle') server.stdin.end()
})
server.on('close', () => process.stdout.write(`${answer}\n`))
send(0, 'initialize', {})
send(1, 'session/create', {})
