import { describe, expect, it } from 'vitest'
import { Log } from '../test/facts.ts'
import type { Request } from '../test/fake-runtime.ts'
import { linked } from '../test/linked.ts'
import { ConnectionClosedError } from './errors.ts'
import type { StreamItem } from './stream.ts'

function delta(subscribed: Request, text: string, kind = 'text') {
  const { subscriptionId, sessionId } = subscribed.params
  return { subscriptionId, sessionId, turnId: 't-1', stepId: 'st-1', kind, index: 0, text }
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

const brief = (item: StreamItem) => (item.kind === 'event' ? item.event.type : `${item.kind} ${item.text}`)

describe('stream', () => {
  async function streaming() {
    const started = await linked()
    const run = started.session.stream('hello')
    const subscribed = await started.runtime.received('session/subscribe')
    const prompt = await started.runtime.received('session/prompt')
    return { ...started, run, subscribed, messageId: prompt.params.messageId, log: new Log() }
  }

  it("gives the interval's facts, each once, and the pieces in between; then it ends", async () => {
    const { runtime, run, subscribed, messageId, log } = await streaming()
    expect(subscribed.params.deltas).toBe(true)
    expect(run.messageId).toBe(messageId)
    const stale = log.idle()
    runtime.notify('session.delta', delta(subscribed, 'of a turn before'))
    runtime.facts(subscribed, [stale, log.receipt(messageId), log.running(), ...log.turnStart(messageId), stale])
    runtime.notify('session.delta', delta(subscribed, 'Hm', 'reasoning'))
    runtime.notify('session.delta', delta(subscribed, 'Hi'))
    runtime.notify('session.delta', delta(subscribed, '{}', 'tool_input'))
    runtime.notify('session.delta', delta(subscribed, '?', 'telepathy'))
    runtime.facts(subscribed, [...log.turnEnd('Hi.'), log.idle()])
    const items = await all(run)
    expect(items.map(brief)).toEqual([
      'inbox/receipt',
      'agent/status',
      'turn/start',
      'inbox/admitted',
      'step/start',
      'reasoning_delta Hm',
      'delta Hi',
      'tool_input_delta {}',
      'assistant/message',
      'step/end',
      'turn/end',
      'agent/status',
    ])
    const { events, finalResponse } = await run.result
    expect(finalResponse).toBe('Hi.')
    expect(items.flatMap((item) => (item.kind === 'event' ? [item.event] : []))).toEqual(events)
  })

  it('goes on without being iterated, and when iterating stops', async () => {
    const { runtime, run, subscribed, messageId, log } = await streaming()
    runtime.facts(subscribed, [log.receipt(messageId)])
    for await (const item of run) if (item.kind === 'event') break
    runtime.facts(subscribed, [log.running(), ...log.turnStart(messageId), ...log.turnEnd('Hi.'), log.idle()])
    expect((await run.result).events).toHaveLength(9)
    const { params } = await runtime.received('session/unsubscribe')
    expect(params.subscriptionId).toBe(subscribed.params.subscriptionId)
  })

  it('throws to its reader what its result rejects with, and is no unhandled rejection', async () => {
    const { runtime, run } = await streaming()
    runtime.end(new ConnectionClosedError('gone'))
    await expect(all(run)).rejects.toThrow('gone')
    await expect(run.result).rejects.toThrow(ConnectionClosedError)
  })

  it('leaves out pieces for a reader who is far behind, but no fact (TU-4)', async () => {
    const { runtime, run, subscribed, messageId, log } = await streaming()
    runtime.facts(subscribed, [log.receipt(messageId)])
    for (let n = 0; n < 5000; n++) runtime.notify('session.delta', delta(subscribed, 'x'))
    runtime.facts(subscribed, [log.running(), ...log.turnStart(messageId), ...log.turnEnd('Hi.'), log.idle()])
    const { events } = await run.result
    const items = await all(run)
    expect(items.filter(({ kind }) => kind === 'delta')).toHaveLength(4095)
    expect(items.filter(({ kind }) => kind === 'event')).toHaveLength(events.length)
  })

  it('is iterated once', async () => {
    const { run } = await streaming()
    run[Symbol.asyncIterator]()
    expect(() => run[Symbol.asyncIterator]()).toThrow('can be iterated once')
  })
})
