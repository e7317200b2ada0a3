// Owns one scenario against the TypeScript SDK, in this process: its real connection and sessions over a transport of bytes. Says what
// became otherwise than it must.
import { isDeepStrictEqual } from 'node:util'
import { Connection } from '../../ts-sdk/src/connection.ts'
import { ConnectionClosedError } from '../../ts-sdk/src/errors.ts'
import { encode, encodeFact, encodeResult } from '../../ts-sdk/src/generated/guards.ts'
import { feeding } from '../../ts-sdk/src/process.ts'
import { Session } from '../../ts-sdk/src/session.ts'
import { Played } from './played.mjs'
import { unlike } from './unlike.mjs'

/** Nothing that a scenario waits for takes longer, unless it hangs. */
const watchdogMs = Number(process.env.DOG ?? 20_000)
const requestTimeoutMs = 3_600_000

class ByteTransport {
  #limit
  #feed
  #receiver
  #played
  holds = 0
  stops = 0

  constructor(limit, played) {
    this.#limit = limit
    this.#played = played
  }

  start(receiver) {
    this.#receiver = receiver
    this.#feed = feeding(receiver, this.#limit)
  }

  push(chunk) {
    if (this.#feed !== undefined && !this.#feed(chunk)) this.#feed = undefined
  }

  end() {
    if (this.#feed !== undefined) this.#receiver.ended(new ConnectionClosedError('the stream ended'))
  }

  send(frame) {
    this.#played.take(frame)
  }

  hold() {
    this.holds += 1
  }

  release() {
    this.holds -= 1
  }

  stop() {
    this.stops += 1
    return Promise.resolve()
  }
}

/**
 * @param {ReturnType<import('./sdk-scenarios.mjs').sdkScenario>} scenario
 * @returns {Promise<string[]>} what went wrong
 */
export async function playTypescript({ limit, steps, expect, refused, prompts }) {
  const played = new Played()
  const transport = new ByteTransport(limit, played)
  const calls = new Map()
  const opening = Connection.open(transport, requestTimeoutMs)
  const connect = () => opening
  for (const step of steps) {
    if (step.do === 'start') calls.set(step.name, outcomeOf(begin(step, connect)))
    else if (step.do === 'bind' && !(await within(played.bind(step)))) return [`hang: ${step.name} sends no ${step.method}`]
    else if (step.do === 'send') for (const chunk of played.chunks(step)) transport.push(chunk)
    else if (step.do === 'end') transport.end()
    if (step.do !== 'start') await settled()
  }
  const problems = []
  for (const [name, call] of calls) {
    const became = await within(call)
    if (!became) problems.push(`hang: ${name} does not settle`)
    else {
      const { message, ...outcome } = played.named(became)
      const difference = unlike(inTypescript(expect[name]), outcome)
      if (difference !== '') problems.push(`${name}: ${difference}${message === undefined ? '' : `\n${message}`}`)
    }
  }
  await settled()
  if (played.refused !== refused) problems.push(`${played.refused} of ${refused} requests were refused`)
  if (played.prompts !== prompts) problems.push(`${played.prompts} prompts went out instead of ${prompts}`)
  if (transport.holds !== 0) problems.push(`the transport is still held ${transport.holds} times`)
  return problems
}

/** The SDK's own word for a call. */
function begin({ name, kind, session, after, message }, connect) {
  const handle = new Session(session, connect)
  const call = async (method, params = {}) => encodeResult(method, await (await connect()).call(method, params))
  switch (kind) {
    case 'open':
      return connect().then(() => null)
    case 'run':
      return handle.run(name).then(wired)
    case 'stream':
      return streamed(handle.stream(name))
    case 'collect':
      return handle.collect(message).then(wired)
    case 'tail':
      return tailed(handle.events({ after }))
    case 'ping':
      return call('server/ping')
    case 'models':
      return call('model/list')
    case 'get':
      return call('session/get', { sessionId: session })
    case 'withdraw':
      return call('session/withdraw', { sessionId: session, messageId: 'm' })
    case 'cancel':
      return call('session/cancel', { sessionId: session })
    case 'status':
      return call('session/status', { sessionId: session })
  }
}

/** A result as its facts stood on the wire, where the frame around each named its session. */
const wired = (result) => ({
  ...result,
  finalMessage: result.finalMessage === null ? null : encode('AssistantMessageData', result.finalMessage),
  events: result.events.map((event) => encodeFact(event)).map(({ sessionId: _, ...event }) => event),
  waitingOn: result.waitingOn.map((each) => encode('WaitingOn', each)),
})

/** What a stream's result says, once its iteration has given the same facts. */
async function streamed(stream) {
  const seqs = []
  let failed
  try {
    for await (const item of stream) if (item.kind === 'event') seqs.push(item.event.seq)
  } catch (error) {
    failed = error
  }
  const result = wired(await stream.result)
  const given = result.events.map(({ seq }) => seq)
  if (failed !== undefined || !isDeepStrictEqual(seqs, given)) throw new Error(`the iteration gave ${seqs} of ${given}: ${failed}`)
  return result
}

async function tailed(facts) {
  const seqs = []
  try {
    for await (const { seq } of facts) seqs.push(seq)
  } catch (error) {
    throw new Tailed(error, seqs)
  }
  return seqs
}

/** How a tail ended, and what it gave before. */
class Tailed extends Error {
  constructor(cause, events) {
    super('', { cause })
    this.events = events
  }
}

const outcomeOf = (call) => call.then((ok) => ({ ok }), failure)

function failure(error) {
  if (error instanceof Tailed) return { ...failure(error.cause), events: error.events }
  return { error: error.name, ...(error.rpcCode !== undefined && { code: error.code }), message: String(error.stack) }
}

/** TypeScript tells no finish reason, on purpose. */
function inTypescript(told) {
  if (told.ok?.finishReason === undefined) return told
  const { finishReason: _, ...ok } = told.ok
  return { ok }
}

/** Whatever is due in this process is done. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

async function within(work) {
  let timer
  const barked = new Promise((resolve) => {
    timer = setTimeout(() => resolve(undefined), watchdogMs)
  })
  const result = await Promise.race([work, barked])
  clearTimeout(timer)
  return result
}
