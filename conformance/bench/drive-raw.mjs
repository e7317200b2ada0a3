// Owns the driver that speaks plain JSON-RPC, to the floor and to the runtime alike: what they cost without any SDK.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { onLine } from './processes.mjs'
import { oldAndYoung, repeat, serveDriver } from './serve-driver.mjs'

let child
let call
let kept
const waiting = new Map()
const listeners = new Map()

/** Starts a server and greets it. */
async function open({ command: [file, ...args], env }) {
  child = spawn(file, args, { env, stdio: ['pipe', 'pipe', 'inherit'] })
  let lastId = 0
  call = (method, params) =>
    new Promise((resolve, reject) => {
      lastId += 1
      waiting.set(lastId, { resolve, reject })
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: lastId, method, params })}\n`)
    })
  onLine(child.stdout, receive)
  child.on('close', (code, signal) => failAll(new Error(`the server ended with ${signal ?? code}`)))
  child.on('error', failAll)
  child.stdin.on('error', failAll)
  await call('initialize', { protocol: { min: 1, max: 1 }, client: { name: 'bench', version: '0' } })
}

function receive(line) {
  const { id, result, error, method, params } = JSON.parse(line)
  if (method === 'session.event') return listeners.get(params.subscriptionId)?.(params.event)
  if (id === undefined) return
  const { resolve, reject } = waiting.get(id)
  waiting.delete(id)
  if (error === undefined) resolve(result)
  else reject(new Error(`${error.code} ${error.message}`))
}

function failAll(error) {
  for (const { reject } of waiting.values()) reject(error)
  waiting.clear()
}

async function close() {
  if (child === undefined || child.exitCode !== null) return
  const closed = new Promise((resolve) => child.once('close', resolve))
  child.stdin.end()
  await closed
}

/** A session with one subscription, and `run`, which resolves at the idle after its receipt. */
async function openSession(model = 'openai-compatible/instant') {
  const { session } = await call('session/create', { cwd: process.cwd(), model, permissions: 'allow-all' })
  const { sessionId } = session
  const subscriptionId = randomUUID()
  const runs = new Map()
  listeners.set(subscriptionId, ({ type, data }) => {
    const received = type === 'inbox/receipt' ? runs.get(data.message.id) : undefined
    if (received !== undefined) received.begun = true
    if (type !== 'agent/status' || data.status !== 'idle') return
    for (const [messageId, run] of runs) {
      if (!run.begun) continue
      runs.delete(messageId)
      run.resolve()
    }
  })
  await call('session/subscribe', { sessionId, subscriptionId, after: 'now' })
  const prompt = () => {
    const messageId = randomUUID()
    let resolve
    const idle = new Promise((settle) => {
      resolve = settle
    })
    runs.set(messageId, { begun: false, resolve })
    return { idle, answered: call('session/prompt', { sessionId, messageId, content: 'What is the answer?' }) }
  }
  const run = async () => {
    const { idle, answered } = prompt()
    await answered
    await idle
  }
  return { sessionId, prompt, run }
}

const operations = {
  open,
  close,

  async ping({ count }) {
    await repeat(20, () => call('server/ping', {}))
    return repeat(count, () => call('server/ping', {}))
  },

  /** Whole runs in a session of their own. */
  async warm({ count, model }) {
    const { run } = await openSession(model)
    await repeat(5, run)
    return repeat(count, run)
  },

  /** One run in a session that is kept and warm. */
  async once() {
    if (kept === undefined) {
      kept = await openSession()
      await repeat(5, kept.run)
    }
    await kept.run()
  },

  /** From the prompt to its answer; each waits for the idle before. */
  async answer({ count }) {
    const { prompt } = await openSession()
    const samples = []
    for (let index = -5; index < count; index += 1) {
      const begun = performance.now()
      const { idle, answered } = prompt()
      await answered
      if (index >= 0) samples.push(performance.now() - begun)
      await idle
    }
    return samples
  },

  /** So many sessions prompted at once, several times over. */
  async burst({ sessions, count }) {
    const opened = []
    for (let index = 0; index < sessions; index += 1) opened.push(await openSession())
    const burst = () => Promise.all(opened.map(({ run }) => run()))
    await repeat(2, burst)
    return repeat(count, burst)
  },

  async long({ count, early }) {
    const [old, young] = [await openSession(), await openSession()]
    return { sessionId: old.sessionId, ...(await oldAndYoung(count, early, old.run, young.run)) }
  },

  /** All facts of a session, from the first. */
  async history({ sessionId }) {
    const subscriptionId = randomUUID()
    const begun = performance.now()
    let last = 0
    let stop
    const all = new Promise((resolve) => {
      stop = resolve
    })
    let until = Infinity
    listeners.set(subscriptionId, ({ seq }) => {
      last = seq
      if (last >= until) stop()
    })
    until = (await call('session/subscribe', { sessionId, subscriptionId, after: 0 })).seq
    if (last < until) await all
    const ms = performance.now() - begun
    listeners.delete(subscriptionId)
    await call('session/unsubscribe', { subscriptionId })
    return { events: last, ms }
  },

  /** A ping of so many bytes: what a frame costs to read and parse. */
  frame({ bytes, count }) {
    const padding = 'x'.repeat(bytes)
    return repeat(count, () => call('server/ping', { padding }))
  },

  /** A message of so many bytes, which joins the inbox and wakes nobody. */
  async message({ bytes, count }) {
    const { sessionId } = await openSession()
    const content = 'x'.repeat(bytes)
    return repeat(count, () => call('session/prompt', { sessionId, delivery: 'inject', content }))
  },

  /** So many sessions that each had a prompt, made 16 at a time. */
  async sessions({ count }) {
    for (let made = 0; made < count; made += 16) {
      const group = Array.from({ length: Math.min(16, count - made) }, async () => (await openSession()).run())
      await Promise.all(group)
    }
  },

  /** Resident memory of the server, in bytes. */
  memory() {
    const match = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))
    return Number(match[1]) * 1024
  },

  /** An append of 200 bytes and its sync. */
  async sync({ path, count }) {
    const file = openSync(path, 'a')
    const line = `${'x'.repeat(199)}\n`
    try {
      return await repeat(count, () => {
        writeSync(file, line)
        fdatasyncSync(file)
      })
    } finally {
      closeSync(file)
    }
  },

  /** A round trip to the model. */
  async model({ baseURL, count }) {
    const agent = new Agent({ keepAlive: true })
    const options = { agent, method: 'POST', headers: { 'content-type': 'application/json' } }
    const body = JSON.stringify({ model: 'instant', stream: true, messages: [{ role: 'user', content: 'What is the answer?' }] })
    const trip = () =>
      new Promise((resolve, reject) => {
        const sent = request(`${baseURL}/chat/completions`, options, (response) => response.on('end', resolve).resume())
        sent.on('error', reject)
        sent.end(body)
      })
    await repeat(5, trip)
    const samples = await repeat(count, trip)
    agent.destroy()
    return samples
  },

  /** What a shell's start and end cost this process. */
  spawn({ count }) {
    return repeat(
      count,
      () =>
        new Promise((resolve, reject) => {
          spawn('sh', ['-c', 'true'], { stdio: 'ignore', detached: true }).on('close', resolve).on('error', reject)
        }),
    )
  },
}

serveDriver(operations)
