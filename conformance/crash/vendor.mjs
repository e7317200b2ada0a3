// Owns a vendor's model for the crash scenarios: chat completions on loopback. Answers by how far the conversation is, so that a
// request that is made again gets the same, and finds fault with every request that a real one would refuse.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { isDeepStrictEqual } from 'node:util'

/**
 * Starts it. `script` has an answer for each assistant message: {text?, calls?: [{name, input}]}; behind its end it says `more`.
 * `committed` answers the facts that are kept at the moment of a request.
 */
export async function startVendor(script, committed) {
  const vendor = new Vendor(script, committed)
  await vendor.listen()
  return vendor
}

class Vendor {
  /** What was wrong with requests. */
  faults = []
  #script
  #committed
  #last = []
  #http

  constructor(script, committed) {
    this.#script = script
    this.#committed = committed
    this.#http = createServer((request, response) => {
      this.#answer(request, response).catch((error) => {
        this.faults.push(error.stack)
        response.destroy()
      })
    })
  }

  get baseURL() {
    return `http://127.0.0.1:${this.#http.address().port}/v1`
  }

  async listen() {
    this.#http.listen(0, '127.0.0.1')
    await once(this.#http, 'listening')
  }

  async close() {
    this.#http.close()
    this.#http.closeAllConnections()
    await once(this.#http, 'close')
  }

  async #answer(request, response) {
    const pieces = []
    try {
      for await (const piece of request) pieces.push(piece)
    } catch {
      return // The runtime died while it asked.
    }
    const { messages } = JSON.parse(Buffer.concat(pieces).toString('utf8'))
    this.faults.push(...invalid(messages), ...uncommitted(messages, this.#committed()))
    // TU-9: what was sent once is sent again, whichever runtime asks.
    if (!isDeepStrictEqual(messages.slice(0, this.#last.length), this.#last))
      this.faults.push('TU-9: a request does not begin with the one before')
    this.#last = messages
    const { text, calls = [] } = this.#script[messages.filter(({ role }) => role === 'assistant').length] ?? { text: 'more' }
    response.on('error', () => undefined).writeHead(200, { 'content-type': 'text/event-stream' })
    const say = (delta, finish = null) =>
      response.write(
        `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 0, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
      )
    say({ role: 'assistant', content: text ?? '' })
    for (const [index, { name, input }] of calls.entries())
      say({ tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name, arguments: JSON.stringify(input) } }] })
    say({}, calls.length > 0 ? 'tool_calls' : 'stop')
    response.end('data: [DONE]\n\n')
  }
}

/** IN-8, TU-3: what a request tells the model is committed before it is made. */
function uncommitted(messages, facts) {
  const kept = { user: 'inbox/admitted', assistant: 'assistant/message', tool: 'tool/result' }
  return Object.entries(kept).flatMap(([role, type]) => {
    const told = messages.filter((message) => message.role === role).length
    const count = facts.filter((fact) => fact.type === type).length
    return told <= count ? [] : [`TU-3: a request has ${told} messages of ${role}, and ${count} facts ${type} are committed`]
  })
}

/** TU-8: every call has its answer right behind it, once, and nothing else is answered. */
function invalid(messages) {
  const found = []
  let open = []
  for (const { role, tool_calls: calls = [], tool_call_id: id } of messages) {
    if (role === 'tool') {
      if (!open.includes(id)) found.push(`TU-8: a request answers the call ${id}, which is not open`)
      open = open.filter((other) => other !== id)
    } else {
      if (open.length > 0) found.push(`TU-8: a request leaves the calls ${open} without an answer`)
      open = calls.map((call) => call.id)
    }
  }
  if (open.length > 0) found.push(`TU-8: a request ends with the calls ${open} open`)
  return found
}
