// Owns a model that answers at once: chat completions over server-sent events on loopback, the same for every contestant. It
// prints its port and ends with its stdin. `instant` answers a text; `instant-tool` first asks for a shell command.
import { createServer } from 'node:http'

const chunk = (choices, more = {}) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 0, model: 'instant', choices, ...more })}\n\n`
const delta = (value, finish = null) => chunk([{ index: 0, delta: value, finish_reason: finish }])
const usage = chunk([], { usage: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 } })
const done = 'data: [DONE]\n\n'

const pieces = ['The', ' answer', ' comes', ' at', ' once.']
const text =
  delta({ role: 'assistant', content: '' }) + pieces.map((content) => delta({ content })).join('') + delta({}, 'stop') + usage + done

const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'shell', arguments: '{"command":"true"}' } }
const toolCall = delta({ role: 'assistant', content: null, tool_calls: [call] }) + delta({}, 'tool_calls') + usage + done

/** A tool's result after the last user message means that the command has run. */
function answerTo(body) {
  const asksForTool = body.includes('"model":"instant-tool"') && body.lastIndexOf('"role":"tool"') < body.lastIndexOf('"role":"user"')
  return asksForTool ? toolCall : text
}

const server = createServer((request, response) => {
  const parts = []
  request.on('data', (part) => parts.push(part))
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(answerTo(Buffer.concat(parts).toString('latin1')))
  })
})
server.keepAliveTimeout = 600_000
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`))
process.stdin.on('end', () => process.exit(0)).resume()
