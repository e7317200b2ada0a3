import { expect, test } from 'vitest'
import type { Delta } from '../log/event-log.ts'
import { Rig, says } from './agent-rig.fixture.ts'

test('TU-9: each request of a session carries its id, by which a vendor may find its cache', async () => {
  const rig = new Rig()
  for (const sessionId of ['a', 'b']) {
    await rig.create(sessionId)
    await rig.runtime.sessions.prompt({ sessionId, content: 'hello' })
    const asked = await rig.nextAsk()
    expect(asked.request.sessionId).toBe(sessionId)
    asked.answer(says('hi'))
    await rig.idle(sessionId)
  }
})

test('TU-4: what only seals a block is no delta', async () => {
  const rig = new Rig()
  await rig.create()
  const heard: Delta[] = []
  await rig.runtime.log.follow('s', { facts: () => undefined, delta: (delta) => heard.push(delta) })
  await rig.runtime.sessions.prompt({ sessionId: 's', content: 'hello' })
  const { hooks, answer } = await rig.nextAsk()
  hooks.onPart({ type: 'reasoning', text: 'hm' })
  hooks.onPart({ type: 'reasoning', text: '', signature: 'seal' })
  hooks.onPart({ type: 'text', text: 'hi' })
  hooks.onPart({ type: 'text', text: '', signature: 'seal' })
  answer(says('hi'))
  await rig.idle()
  expect(heard.map(({ kind, text }) => [kind, text])).toEqual([
    ['reasoning', 'hm'],
    ['text', 'hi'],
  ])
})
