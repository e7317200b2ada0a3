import type { AnyFact } from '@quiesce/schema'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { quiet, Rig, says } from '../agent/agent-rig.fixture.ts'
import { type Deferred, deferred } from '../base/deferred.ts'
import { type Sink, Subscriptions } from './subscriptions.ts'

/** A socket that the test drains by hand. */
class Socket implements Sink {
  readonly sent: { method: string; params: unknown }[] = []
  open = true
  #draining: Deferred | null = null

  send(method: string, params: unknown): void {
    this.sent.push({ method, params })
  }

  ready(): boolean {
    return this.open
  }

  drained(): Promise<void> {
    if (this.open) return Promise.resolve()
    this.#draining ??= deferred()
    return this.#draining.promise
  }

  drain(): void {
    this.open = true
    this.#draining?.resolve()
    this.#draining = null
  }

  seqs(subscriptionId: string): number[] {
    return this.sent.flatMap(({ method, params }) => {
      const { subscriptionId: of, event } = params as { subscriptionId: string; event: AnyFact }
      return method === 'session.event' && of === subscriptionId ? [event.seq] : []
    })
  }

  methods(): string[] {
    return this.sent.map(({ method }) => method)
  }
}

function connect(rig: Rig): { subscriptions: Subscriptions; socket: Socket } {
  const socket = new Socket()
  let ids = 0
  const { log, sessions } = rig.runtime
  const newId = () => `sub${++ids}`
  return { socket, subscriptions: new Subscriptions({ log, store: rig.store, sessions, newId }, socket) }
}

async function run(rig: Rig, text: string): Promise<void> {
  await rig.runtime.sessions.prompt({ sessionId: 's', content: text })
  ;(await rig.nextAsk()).answer(says(`re: ${text}`))
  await rig.idle()
}

test('SUB-1: history first and live after, each fact once and in order, from now, a seq or a message', async () => {
  const rig = new Rig()
  await rig.create()
  await run(rig, 'one')
  await rig.runtime.sessions.prompt({ sessionId: 's', content: 'two', messageId: 'm2' })
  const { subscriptions, socket } = connect(rig)
  const before = (await rig.facts()).length
  for (const [subscriptionId, where] of Object.entries({ all: { after: 0 }, now: {}, message: { from: { messageId: 'm2' } } })) {
    const { result, start } = await subscriptions.subscribe({ sessionId: 's', subscriptionId, ...where })
    expect(result).toMatchObject({ subscriptionId, status: 'running', seq: before })
    expect(socket.seqs(subscriptionId)).toEqual([])
    start()
  }
  ;(await rig.nextAsk()).answer(says('x'))
  await rig.idle()
  const facts = await rig.facts()
  const receipt = facts.find((fact) => fact.type === 'inbox/receipt' && fact.data.message.id === 'm2')?.seq ?? 0
  const all = facts.map(({ seq }) => seq)
  expect(socket.seqs('all')).toEqual(all)
  expect(socket.seqs('now')).toEqual(all.slice(before))
  expect(socket.seqs('message')).toEqual(all.slice(receipt - 1))
})

test('SUB-1: an unknown message, a cursor beyond the log and an unknown session are refused', async () => {
  const rig = new Rig()
  await rig.create()
  const { subscriptions } = connect(rig)
  await expect(subscriptions.subscribe({ sessionId: 's', from: { messageId: 'no' } })).rejects.toMatchObject({ code: 'message_not_found' })
  await expect(subscriptions.subscribe({ sessionId: 's', after: 99 })).rejects.toMatchObject({ code: 'invalid_cursor' })
  await expect(subscriptions.subscribe({ sessionId: 'other' })).rejects.toMatchObject({ code: 'session_not_found' })
  await expect(subscriptions.unsubscribe('nosuch')).rejects.toMatchObject({ code: 'subscription_not_found' })
})

test('ST-6: session.status mirrors each agent/status fact, right after it', async () => {
  const rig = new Rig()
  await rig.create()
  const { subscriptions, socket } = connect(rig)
  ;(await subscriptions.subscribe({ sessionId: 's' })).start()
  await run(rig, 'one')
  const mirrored = socket.sent.flatMap(({ method, params }, i) => {
    const before = socket.sent[i - 1]?.params as { event: AnyFact } | undefined
    return method === 'session.status' ? [[params, before?.event]] : []
  })
  expect(mirrored).toMatchObject([
    [
      { status: 'running', waitingOn: [] },
      { type: 'agent/status', data: { status: 'running' } },
    ],
    [
      { status: 'idle', waitingOn: [] },
      { type: 'agent/status', data: { status: 'idle' } },
    ],
  ])
})

test('SUB-2: a slow subscriber loses nothing and holds up nobody', async () => {
  const rig = new Rig()
  await rig.create()
  const slow = connect(rig)
  const quick = connect(rig)
  slow.socket.open = false
  ;(await slow.subscriptions.subscribe({ sessionId: 's', subscriptionId: 'a', after: 0 })).start()
  ;(await quick.subscriptions.subscribe({ sessionId: 's', subscriptionId: 'b', after: 0 })).start()
  for (let i = 0; i < 130; i += 1) await run(rig, `${i}`)
  const all = (await rig.facts()).map(({ seq }) => seq)
  expect(all.length).toBeGreaterThan(1100)
  expect(slow.socket.seqs('a')).toEqual([])
  expect(quick.socket.seqs('b')).toEqual(all)
  slow.socket.drain()
  await quiet(() => slow.socket.seqs('a').length === all.length)
  expect(slow.socket.seqs('a')).toEqual(all)
})

test('SUB-3, SUB-4: only what was asked for, each subscription for itself, and a repeated id answers the first', async () => {
  const rig = new Rig()
  await rig.create()
  await rig.create('other')
  const { subscriptions, socket } = connect(rig)
  const stranger = connect(rig)
  const first = await subscriptions.subscribe({ sessionId: 's', subscriptionId: 'a' })
  first.start()
  await run(rig, 'one')
  const again = await subscriptions.subscribe({ sessionId: 's', subscriptionId: 'a' })
  again.start()
  await expect(subscriptions.subscribe({ sessionId: 's', subscriptionId: 'a', after: 0 })).rejects.toMatchObject({ name: 'InvalidParams' })
  expect(again.result).toEqual(first.result)
  await rig.runtime.sessions.prompt({ sessionId: 'other', content: 'x', delivery: 'inject' })
  const seqs = socket.seqs('a')
  expect(seqs).toEqual([...new Set(seqs)])
  expect(socket.sent.every(({ params }) => (params as { sessionId: string }).sessionId === 's')).toBe(true)
  expect(stranger.socket.sent).toEqual([])
  await subscriptions.unsubscribe('a')
  const before = socket.sent.length
  await run(rig, 'two')
  expect(socket.sent).toHaveLength(before)
})

test('TU-4: deltas go to caught-up subscriptions that asked, before their message, never into the log', async () => {
  const rig = new Rig()
  await rig.create()
  const { subscriptions, socket } = connect(rig)
  ;(await subscriptions.subscribe({ sessionId: 's', subscriptionId: 'with', deltas: true })).start()
  ;(await subscriptions.subscribe({ sessionId: 's', subscriptionId: 'without' })).start()
  await rig.runtime.sessions.prompt({ sessionId: 's', content: 'x' })
  const asked = await rig.nextAsk()
  asked.hooks.onPart({ type: 'text', text: 'he' })
  socket.open = false
  asked.hooks.onPart({ type: 'text', text: 'dropped for a slow one' })
  socket.open = true
  asked.answer(says('hello'))
  await rig.idle()
  const deltas = socket.sent.filter(({ method }) => method === 'session.delta')
  expect(deltas).toMatchObject([{ params: { subscriptionId: 'with', kind: 'text', text: 'he' } }])
  const message = socket.sent.findIndex(({ params }) => (params as { event?: AnyFact }).event?.type === 'assistant/message')
  expect(socket.methods().lastIndexOf('session.delta')).toBeLessThan(message)
})

test('SUB-5: a deleted session ends its subscriptions with a reason', async () => {
  const rig = new Rig()
  await rig.create()
  const { subscriptions, socket } = connect(rig)
  ;(await subscriptions.subscribe({ sessionId: 's', subscriptionId: 'a' })).start()
  await rig.runtime.sessions.delete('s')
  expect(socket.sent.at(-1)).toEqual({ method: 'session.closed', params: { subscriptionId: 'a', sessionId: 's', reason: 'deleted' } })
  await expect(subscriptions.unsubscribe('a')).rejects.toMatchObject({ code: 'subscription_not_found' })
})

test('SUB-1, SUB-2: whatever the socket does and wherever a cursor starts, every fact behind it arrives once, in order', async () => {
  const step = fc.oneof(
    fc.constant('run'),
    fc.constant('close'),
    fc.constant('drain'),
    fc.constant('let'),
    fc.record({ after: fc.nat(30) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const rig = new Rig()
      await rig.create()
      const { subscriptions, socket } = connect(rig)
      const cursors = new Map<string, number>()
      for (const [i, what] of steps.entries()) {
        if (what === 'run') await run(rig, `${i}`)
        else if (what === 'close') socket.open = false
        else if (what === 'drain') socket.drain()
        else if (what === 'let') await quiet()
        else if (typeof what === 'object') {
          const after = Math.min(what.after, (await rig.facts()).length)
          cursors.set(`c${i}`, after)
          ;(await subscriptions.subscribe({ sessionId: 's', subscriptionId: `c${i}`, after })).start()
        }
      }
      socket.drain()
      await quiet()
      const all = (await rig.facts()).map(({ seq }) => seq)
      for (const [id, after] of cursors) expect(socket.seqs(id)).toEqual(all.slice(after))
    }),
    { numRuns: 60 },
  )
}, 60_000)
