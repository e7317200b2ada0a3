#!/usr/bin/env node
// Owns a runtime that plays one right conversation, and ends in the middle of it: after FUZZ_CUT bytes of its stdout, in the way that
// FUZZ_END says. The bytes come in pieces of FUZZ_CHUNK.
import { once } from 'node:events'
import { closeSync } from 'node:fs'
import { createInterface } from 'node:readline'

const cut = Number(process.env.FUZZ_CUT ?? Infinity)
const size = Number(process.env.FUZZ_CHUNK ?? 1000)
const usage = { inputTokens: 10, outputTokens: 5 }
const text = 'a\u2028b\u2029c\u0085d \u{1f9ed} \u6f22'
const session = {
  ...{ sessionId: 's-1', depth: 0, metadata: {}, cwd: '/', roots: [], model: 'm', permissions: 'edit', limits: {} },
  ...{ createdAt: 1, updatedAt: 1, status: 'idle', seq: 0, usage },
}
let written = 0

const ends = {
  exit: () => process.exit(0),
  kill: () => process.kill(process.pid, 'SIGKILL'),
  // Its stdin ends it, or whoever started it.
  close: () => closeSync(1),
}

async function write(message) {
  const bytes = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  for (let start = 0; start < bytes.length; start += size) {
    const piece = bytes.subarray(start, Math.min(start + size, start + cut - written))
    written += piece.length
    if (!process.stdout.write(piece)) await once(process.stdout, 'drain')
    if (written >= cut) return process.stdout.write('', () => ends[process.env.FUZZ_END ?? 'exit']())
  }
  return undefined
}

function facts(messageId) {
  const step = { turnId: 't-1', stepId: 'st-1' }
  const content = [{ type: 'text', text }]
  return [
    ['inbox/receipt', { message: { id: messageId, delivery: 'followup', origin: { kind: 'user' }, content } }],
    ['agent/status', { status: 'running', activityId: 'a-1' }],
    ['turn/start', { turnId: 't-1', activityId: 'a-1', trigger: { kind: 'message', messageId } }],
    ['inbox/admitted', { messageId, ...step }],
    ['step/start', { ...step, model: 'm' }],
    ['assistant/message', { ...step, outputId: 'o-1', content, model: 'm', finish: 'stop', usage }],
    ['step/end', { ...step, usage }],
    ['turn/end', { turnId: 't-1', reason: { kind: 'completed' }, usage }],
    ['agent/status', { status: 'idle', activityId: 'a-1', waitingOn: [] }],
  ]
}

async function answer({ id, method, params }, state) {
  if (method === 'initialize') {
    const limits = { maxFrameBytes: 33554432, maxInFlight: 100, maxPendingMessages: 100 }
    return write({
      id,
      result: { protocol: 1, server: { name: 'cut short', version: '0' }, capabilities: { methods: [], deltas: true }, limits },
    })
  }
  if (method === 'session/subscribe') {
    state.subscriptionId = params.subscriptionId
    return write({ id, result: { subscriptionId: params.subscriptionId, status: 'idle', seq: 0, waitingOn: [] } })
  }
  if (method === 'session/get') return write({ id, result: { session } })
  if (method !== 'session/prompt') return write({ id, result: {} })
  await write({ id, result: { messageId: params.messageId } })
  for (const [i, [type, data]] of facts(params.messageId).entries()) {
    const event = { seq: i + 1, type, time: 1_796_000_000_000, data }
    await write({ method: 'session.event', params: { subscriptionId: state.subscriptionId, sessionId: params.sessionId, event } })
  }
  // How much has to arrive for the run to end well.
  process.stderr.write(`idle by ${written}\n`)
  return undefined
}

const state = {}
let last = Promise.resolve()
process.stdout.on('error', () => {})
createInterface({ input: process.stdin, crlfDelay: 0 })
  .on('line', (line) => {
    last = last.then(() => answer(JSON.parse(line), state))
  })
  .on('close', () => void last.then(() => process.exit(0)))
