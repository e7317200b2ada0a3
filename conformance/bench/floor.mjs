// The floor: the least that the protocol's promises cost. JSON-RPC over stdio, a sync before the answer to a prompt, every fact
// appended, a second sync before idle, one keep-alive call to the model. No validation, no tools, no recovery, one file for all.
//
//   node floor.mjs LOG BASE_URL http|provider
import { randomUUID } from 'node:crypto'
import { fdatasyncSync, openSync, writeSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const [path, baseURL, way] = process.argv.slice(2)
const log = openSync(path, 'a')
const ask = way === 'provider' ? await byProvider() : byHttp()
const sessions = new Map()
let rest = ''

process.stdin.setEncoding('utf8')
process.stdin.on('end', () => process.exit(0))
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n')
  rest = lines.pop()
  for (const line of lines) receive(JSON.parse(line))
})

function receive({ id, method, params }) {
  const answer = (result) => JSON.stringify({ jsonrpc: '2.0', id, result })
  const session = sessions.get(params.sessionId)
  if (method === 'session/prompt') prompt(session, params, answer)
  else if (method === 'session/create') send([answer({ session: { sessionId: create() } })])
  else if (method === 'session/subscribe') subscribe(session, params, answer)
  else send([answer({})])
}

function create() {
  const sessionId = randomUUID()
  sessions.set(sessionId, { sessionId, seq: 0, frames: [], messages: [], subscriptions: [] })
  return sessionId
}

function subscribe(session, { subscriptionId = randomUUID(), after }, answer) {
  session.subscriptions.push(subscriptionId)
  send([answer({ subscriptionId, seq: session.seq })])
  if (after === 'now') return
  const missed = session.frames.slice(after).map((event) => notification(subscriptionId, session, event))
  for (let at = 0; at < missed.length; at += 64) send(missed.slice(at, at + 64))
}

function prompt(session, { messageId, content }, answer) {
  const [activityId, turnId, stepId] = [randomUUID(), randomUUID(), randomUUID()]
  const message = { id: messageId, delivery: 'followup', origin: { kind: 'user' }, content }
  const begun = commit(session, [
    ['inbox/receipt', { message }],
    ['agent/status', { status: 'running', activityId }],
    ['turn/start', { turnId, activityId, trigger: { kind: 'message', messageId } }],
    ['inbox/admitted', { messageId, turnId, stepId }],
    ['step/start', { turnId, stepId, model: 'instant' }],
  ])
  send([answer({ messageId }), ...begun])
  session.messages.push({ role: 'user', content })
  ask(session.messages).then((text) => {
    session.messages.push({ role: 'assistant', content: text })
    const usage = { inputTokens: 20, outputTokens: 5 }
    const outputId = randomUUID()
    const ended = commit(session, [
      ['assistant/message', { turnId, stepId, outputId, content: [{ type: 'text', text }], model: 'instant', finish: 'stop', usage }],
      ['step/end', { turnId, stepId, usage }],
      ['turn/end', { turnId, reason: { kind: 'completed' }, usage }],
      ['agent/status', { status: 'idle', activityId, waitingOn: [] }],
    ])
    send(ended)
  })
}

/** On disk first; gives the frames that tell of it. */
function commit(session, facts) {
  const time = Date.now()
  const events = facts.map(([type, data]) => {
    session.seq += 1
    return JSON.stringify({ seq: session.seq, type, time, data })
  })
  writeSync(log, `${events.join('\n')}\n`)
  fdatasyncSync(log)
  session.frames.push(...events)
  return session.subscriptions.flatMap((id) => events.map((event) => notification(id, session, event)))
}

const notification = (subscriptionId, { sessionId }, event) =>
  `{"jsonrpc":"2.0","method":"session.event","params":{"subscriptionId":"${subscriptionId}","sessionId":"${sessionId}","event":${event}}}`

const send = (frames) => process.stdout.write(`${frames.join('\n')}\n`)

function byHttp() {
  const agent = new Agent({ keepAlive: true })
  const options = { agent, method: 'POST', headers: { 'content-type': 'application/json' } }
  return (messages) =>
    new Promise((resolve, reject) => {
      const sent = request(`${baseURL}/chat/completions`, options, (response) => {
        let body = ''
        response.setEncoding('utf8')
        response.on('data', (chunk) => {
          body += chunk
        })
        response.on('end', () => resolve(textOf(body)))
      })
      sent.on('error', reject)
      sent.end(JSON.stringify({ model: 'instant', stream: true, stream_options: { include_usage: true }, messages }))
    })
}

function textOf(body) {
  const events = body.split('\n\n').filter((line) => line.startsWith('data: {'))
  return events.map((line) => JSON.parse(line.slice(6)).choices[0]?.delta.content ?? '').join('')
}

/** The same package that the runtime is made of. */
async function byProvider() {
  const found = createRequire(new URL('../../runtime/package.json', import.meta.url)).resolve('@ai-sdk/openai-compatible')
  const { createOpenAICompatible } = await import(pathToFileURL(found).href)
  const model = createOpenAICompatible({ name: 'instant', baseURL, includeUsage: true }).chatModel('instant')
  return async (messages) => {
    const prompt = messages.map(({ role, content }) => ({ role, content: [{ type: 'text', text: content }] }))
    const { stream } = await model.doStream({ prompt })
    let text = ''
    for await (const part of stream) if (part.type === 'text-delta') text += part.delta
    return text
  }
}
