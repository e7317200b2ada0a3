// Owns the driver that works through the TypeScript SDK.

import { FrameReader } from '../../ts-sdk/dist/framing.js'
import { Quiesce } from '../../ts-sdk/dist/index.js'
import { oldAndYoung, repeat, serveDriver } from './serve-driver.mjs'

const question = 'What is the answer?'
let quiesce

const openSession = (model = 'openai-compatible/instant') => quiesce.sessions.create({ model, permissions: 'allow-all' })

const operations = {
  async open({ runtime, store }) {
    quiesce = await Quiesce.launch({ runtime, store })
  },

  close: () => quiesce?.close(),

  async warm({ count, model }) {
    const session = await openSession(model)
    const run = () => session.run(question)
    await repeat(5, run)
    return repeat(count, run)
  },

  async burst({ sessions, count }) {
    const opened = []
    for (let index = 0; index < sessions; index += 1) opened.push(await openSession())
    const burst = () => Promise.all(opened.map((session) => session.run(question)))
    await repeat(2, burst)
    return repeat(count, burst)
  },

  async long({ count, early }) {
    const [old, young] = [await openSession(), await openSession()]
    const samples = await oldAndYoung(
      count,
      early,
      () => old.run(question),
      () => young.run(question),
    )
    return { sessionId: old.id, ...samples }
  },

  async history({ sessionId }) {
    const begun = performance.now()
    const session = await quiesce.sessions.get(sessionId)
    const { seq } = await session.status()
    for await (const event of session.events({ after: 0 })) if (event.seq === seq) break
    return { events: seq, ms: performance.now() - begun }
  },

  /** A frame of so many bytes that comes in pieces of 64 KiB, cut and parsed. */
  framing({ bytes, count }) {
    const frame = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', method: 'session.event', params: { text: 'x'.repeat(bytes) } })}\n`)
    return repeat(count, () => {
      const reader = new FrameReader()
      let parsed
      for (let at = 0; at < frame.length; at += 65_536) {
        reader.push(frame.subarray(at, at + 65_536), (text) => {
          parsed = JSON.parse(text)
        })
      }
      if (parsed.params.text.length !== bytes) throw new Error('the frame came out wrong')
    })
  },
}

serveDriver(operations)
