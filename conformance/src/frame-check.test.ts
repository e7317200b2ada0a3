import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from './case.ts'
import { FrameCheck, FrameSchema } from './frame-check.ts'
import { faultsOfLog } from './log-check.ts'

const schema = new FrameSchema(new URL('../../schema/protocol.schema.json', import.meta.url).pathname)

/** A connection's frames, and what the check says of each of the server's. */
class Talk {
  readonly faults: (string | null)[] = []
  readonly #check = new FrameCheck(schema)
  #ids = 0

  ask(method: string, params: JsonObject, result: Json | undefined): this {
    this.#ids += 1
    this.#check.toServer({ jsonrpc: '2.0', id: this.#ids, method, params })
    return result === undefined ? this : this.say({ id: this.#ids, result })
  }

  say(frame: JsonObject): this {
    this.faults.push(this.#check.toClient({ jsonrpc: '2.0', ...frame }))
    return this
  }

  subscribed(params: JsonObject = {}, seq = 4): this {
    const result = { subscriptionId: 'sub', status: 'idle', seq, waitingOn: [] }
    return this.ask('session/subscribe', { sessionId: 's', subscriptionId: 'sub', ...params }, result)
  }

  event(seq: number, type = 'x/y', data: JsonObject = {}, more: JsonObject = {}): this {
    return this.say({
      method: 'session.event',
      params: { subscriptionId: 'sub', sessionId: 's', event: { seq, time: 1, type, data }, ...more },
    })
  }

  status(seq: number, status: string): this {
    return this.say({
      method: 'session.status',
      params: { subscriptionId: 'sub', sessionId: 's', seq, status, activityId: 'a', waitingOn: [] },
    })
  }

  delta(stepId: string): this {
    const params = { subscriptionId: 'sub', sessionId: 's', turnId: 't', stepId, kind: 'text', index: 0, text: 'x' }
    return this.say({ method: 'session.delta', params })
  }

  get last(): string | null {
    return this.faults.at(-1) ?? null
  }
}

const idle = { status: 'idle', activityId: 'a', waitingOn: [] }
const message = {
  turnId: 't',
  stepId: 'st',
  outputId: 'o',
  content: [],
  model: 'm',
  finish: 'stop',
  usage: { inputTokens: 1, outputTokens: 1 },
}

describe('a connection', () => {
  it('that is right has no faults', () => {
    const talk = new Talk().subscribed({ after: 2, deltas: true }).event(3).event(4, 'agent/status', idle).status(4, 'idle').delta('st')
    talk.event(5, 'assistant/message', message).subscribed({ after: 2, deltas: true }).event(6)
    talk
      .ask('session/unsubscribe', { subscriptionId: 'sub' }, {})
      .subscribed({ from: { messageId: 'm' } })
      .event(99)
      .event(100)
    talk.ask('server/ping', {}, undefined).say({ id: null, error: { code: -32700, message: 'no' } })
    expect(talk.faults.filter((fault) => fault !== null)).toEqual([])
  })

  it.each<[string, (talk: Talk) => Talk, RegExp]>([
    ['a gap', (talk) => talk.subscribed().event(6), /gets seq 6, and 5 is due \(SUB-1, SUB-4\)/],
    ['a repeat', (talk) => talk.subscribed().event(5).event(5), /gets seq 5, and 6 is due/],
    ['a fact of the past', (talk) => talk.subscribed({ after: 'now' }).event(4), /gets seq 4, and 5 is due/],
    [
      'a gap behind a message',
      (talk) =>
        talk
          .subscribed({ from: { messageId: 'm' } })
          .event(9)
          .event(11),
      /and 10 is due/,
    ],
    ['a gap behind a map', (talk) => talk.subscribed({ after: { s: 1 } }).event(3), /and 2 is due/],
    ['a fact that nobody asked for', (talk) => talk.event(1), /not open \(SUB-3\)/],
    ['a fact before its answer', (talk) => talk.ask('session/subscribe', { sessionId: 's' }, undefined).event(5), /not open/],
    ['a fact of another session', (talk) => talk.subscribed().event(5, 'x/y', {}, { sessionId: 'other' }), /which sub is not about/],
    [
      'a fact behind the end',
      (talk) =>
        talk
          .subscribed()
          .say({ method: 'session.closed', params: { subscriptionId: 'sub', sessionId: 's', reason: 'deleted' } })
          .event(5),
      /which is over \(SUB-3, SUB-5\)/,
    ],
    [
      'a fact for one who left',
      (talk) => talk.subscribed().ask('session/unsubscribe', { subscriptionId: 'sub' }, {}).event(5),
      /which is over/,
    ],
    ['a status without its fact', (talk) => talk.subscribed().event(5).status(5, 'idle'), /the fact to mirror is none \(ST-6\)/],
    ['another status', (talk) => talk.subscribed().event(5, 'agent/status', idle).status(5, 'running'), /the fact to mirror is idle at 5/],
    ['a status twice', (talk) => talk.subscribed().event(5, 'agent/status', idle).status(5, 'idle').status(5, 'idle'), /is none/],
    ['a delta unasked', (talk) => talk.subscribed().delta('st'), /asked for none \(TU-4\)/],
    [
      'a delta behind its message',
      (talk) => talk.subscribed({ deltas: true }).event(5, 'assistant/message', message).delta('st'),
      /behind its message/,
    ],
    ['an answer twice', (talk) => talk.ask('server/ping', {}, {}).say({ id: 1, result: {} }), /nobody waits/],
    ['an answer to nobody', (talk) => talk.say({ id: 'x', result: {} }), /nobody waits/],
    ['a result that is none', (talk) => talk.ask('session/prompt', {}, {}), /messageId/],
    ['neither result nor error', (talk) => talk.say({ id: 1 }), /either a result or an error/],
    ['a request', (talk) => talk.say({ id: 1, method: 'client/ask', params: {} }), /sends no requests/],
    [
      'a notification that there is not',
      (talk) => talk.say({ method: 'session.finished', params: {} }),
      /no notification session.finished/,
    ],
  ])('is told of %s', (_, speak, fault) => expect(speak(new Talk()).last).toMatch(fault))

  it('may have the same id in flight twice, each answered once', () => {
    const check = new FrameCheck(schema)
    for (const method of ['session/prompt', 'server/ping']) check.toServer({ jsonrpc: '2.0', id: 'x', method, params: {} })
    const answers: JsonObject[] = [{ result: { messageId: 'm' } }, { error: { code: -32600, message: 'in flight' } }, { result: {} }]
    const faults = answers.map((answer) => check.toClient({ jsonrpc: '2.0', id: 'x', ...answer }))
    expect(faults).toEqual([null, null, expect.stringMatching(/nobody waits/)])
  })
})

describe('a log', () => {
  const created = { seq: 1, type: 'session/create', data: { config: {} } }

  it('may hold facts that nobody knows, and must keep the rules', () => {
    expect(faultsOfLog([created, { seq: 2, type: 'x/y', data: {} }])).toEqual([])
    expect(faultsOfLog([created, { seq: 3, type: 'x/y', data: {} }])).toEqual([expect.stringMatching(/^seq 3 after 1/)])
    const running = { type: 'agent/status', data: { status: 'running', activityId: 'a' } }
    expect(faultsOfLog([created, { ...running, seq: 2 }, { ...running, seq: 3 }]).join()).toMatch(/ST-1: running twice/)
  })
})
