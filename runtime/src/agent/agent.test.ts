import { expect, test } from 'vitest'
import { brokenRules } from '../log/log-rules.fixture.ts'
import { calls, done, fails, quiet, Rig, says } from './agent-rig.fixture.ts'

async function good(rig: Rig): Promise<void> {
  expect(brokenRules(await rig.facts(), true)).toEqual([])
}

const plain = [
  'inbox/receipt',
  'running',
  'turn/start',
  'inbox/admitted',
  'step/start',
  'assistant/message',
  'step/end',
  'turn/end',
  'idle',
]

test('IN-1, TU-3: a prompt is answered once its receipt is durable, and a plain one makes nine facts', async () => {
  const rig = new Rig()
  await rig.create()
  await rig.runtime.sessions.prompt({ sessionId: 's', content: 'hello', messageId: 'm1' })
  expect(await rig.types()).toEqual(['session/create', ...plain.slice(0, 5)])
  const asked = await rig.nextAsk()
  expect(asked.request.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'hello' }] }])
  asked.answer(says('hi'))
  await rig.idle()
  expect(await rig.types()).toEqual(['session/create', ...plain])
  await good(rig)
})

test('IN-3: the same id with the same content answers again, with another it is message_conflict', async () => {
  const rig = new Rig()
  await rig.create()
  const prompt = { sessionId: 's', content: 'hello', messageId: 'm1' }
  await rig.runtime.sessions.prompt(prompt)
  expect(await rig.runtime.sessions.prompt({ ...prompt, expect: 'idle' })).toEqual({ messageId: 'm1' })
  await expect(rig.runtime.sessions.prompt({ ...prompt, content: 'other' })).rejects.toMatchObject({ code: 'message_conflict' })
  await expect(rig.runtime.sessions.prompt({ ...prompt, delivery: 'steer' })).rejects.toMatchObject({ code: 'message_conflict' })
  await expect(rig.runtime.sessions.prompt({ ...prompt, messageId: 'goal:1' })).rejects.toMatchObject({ name: 'InvalidParams' })
  expect((await rig.types()).filter((type) => type === 'inbox/receipt')).toHaveLength(1)
})

test('IN-7: expect idle on a busy session is session_busy, and of two racing clients exactly one wins', async () => {
  const rig = new Rig()
  await rig.create()
  const race = ['a', 'b', 'c'].map((messageId) => rig.runtime.sessions.prompt({ sessionId: 's', content: 'x', messageId, expect: 'idle' }))
  const verdicts = await Promise.allSettled(race)
  expect(verdicts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  for (const verdict of verdicts) if (verdict.status === 'rejected') expect(verdict.reason).toMatchObject({ code: 'session_busy' })
})

test('IN-5: a steer joins the next step of the open turn, and a turn with one pending goes on', async () => {
  const rig = new Rig()
  await rig.create()
  await rig.runtime.sessions.prompt({ sessionId: 's', content: 'first', messageId: 'm1' })
  const first = await rig.nextAsk()
  await rig.runtime.sessions.prompt({ sessionId: 's', content: 'later', messageId: 'f' })
  await rig.runtime.sessions.prompt({ sessionId: 's', content: 'now', messageId: 's1', delivery: 'steer' })
  await rig.runtime.sessions.prompt({ sessionId: 's', content: 'context', messageId: 'i', delivery: 'inject' })
  first.answer(says('one'))
  const second = await rig.nextAsk()
  expect(second.request.messages.map(({ content }) => (content[0] as { text: string }).text)).toEqual(['first', 'one', 'now', 'context'])
  second.answer(says('two'))
  const third = await rig.nextAsk()
  expect(third.request.messages).toHaveLength(6)
  third.answer(says('three'))
  await rig.idle()
  expect((await rig.types()).filter((type) => type === 'turn/start')).toHaveLength(2)
  expect((await rig.types()).filter((type) => type === 'idle')).toHaveLength(1)
  await good(rig)
})

test('IN-6: an inject never wakes, and joins when something else does', async () => {
  const rig = new Rig()
  await rig.create()
  await rig.runtime.sessions.prompt({ sessionId: 's', content: 'context', messageId: 'i', delivery: 'inject' })
  await quiet()
  expect(await rig.types()).toEqual(['session/create', 'inbox/receipt'])
  await rig.runtime.sessions.prompt({ sessionId: 's', content: 'go', messageId: 'm' })
  const asked = await rig.nextAsk()
  expect(asked.request.messages.map(({ content }) => (content[0] as { text: string }).text)).toEqual(['go', 'context'])
  asked.answer(says('x'))
  await rig.idle()
  await good(rig)
})

test('TU-7: parallel calls run together, results are committed as they come, and the model sees them in call order', async () => {
  const rig = new Rig()
  await rig.create()
  await rig.runtime.sessions.prompt({ sessionId: 's', content: 'go' })
  const asked = await rig.nextAsk()
  asked.answer(calls(asked, 'work', 'more'))
  await quiet(() => rig.runtime.called.length === 2)
  const [work, more] = rig.runtime.called
  more?.finish(done('second'))
  await quiet()
  expect((await rig.types()).filter((type) => type === 'tool/result')).toHaveLength(1)
  work?.finish(done('first'))
  const next = await rig.nextAsk()
  expect(next.request.messages.at(-1)?.content.map((block) => (block as { content: string }).content)).toEqual(['first', 'second'])
  next.answer(says('end'))
  await rig.idle()
  await good(rig)
})

test('TU-7: where one tool is not parallel the calls run one after another', async () => {
  const rig = new Rig()
  await rig.create()
  await rig.runtime.sessions.prompt({ sessionId: 's', content: 'go' })
  const asked = await rig.nextAsk()
  asked.answer(calls(asked, 'work', 'solo'))
  ;(await rig.nextCall()).finish(done('a'))
  await quiet(() => rig.runtime.called[0]?.tool === 'solo')
  expect(rig.runtime.called.map(({ tool }) => tool)).toEqual(['solo'])
  rig.runtime.called[0]?.finish(done('b'))
  ;(await rig.nextAsk()).answer(says('end'))
  await rig.idle()
  await good(rig)
})

test('TU-6, CB-2: an unknown tool and a denied ask become error results that the model sees', async () => {
  const rig = new Rig()
  await rig.create('s', { permissions: 'read-only' })
  await rig.runtime.sessions.prompt({ sessionId: 's', content: 'go' })
  const asked = await rig.nextAsk()
  asked.answer(calls(asked, 'nosuch', 'work'))
  const next = await rig.nextAsk()
  const results = next.request.messages.at(-1)?.content
  expect(results).toMatchObject([{ isError: true }, { isError: true }])
  expect(await rig.types()).toContain('permission/decision')
  next.answer(says('end'))
  await rig.idle()
  await good(rig)
})

test('CAN-1, TU-8: a cancel is a fact before its answer; the turn ends cancelled with what had arrived', async () => {
  const rig = new Rig()
  await rig.create()
  const { sessions } = rig.runtime
  expect(await sessions.cancel({ sessionId: 's' }, 'test')).toEqual({ cancelled: false, withdrawn: [] })
  await sessions.prompt({ sessionId: 's', content: 'go' })
  await rig.nextAsk()
  expect(await sessions.cancel({ sessionId: 's' }, 'test')).toEqual({ cancelled: true, withdrawn: [] })
  await rig.idle()
  const facts = await rig.facts()
  expect(facts.find(({ type }) => type === 'assistant/message')).toMatchObject({ data: { interrupted: true, content: [{ text: 'half' }] } })
  expect(facts.find(({ type }) => type === 'turn/end')).toMatchObject({ data: { reason: { kind: 'cancelled', by: 'test' } } })
  await good(rig)
})

test('CAN-1, TU-8: a cancel during tool calls answers each with an error result', async () => {
  const rig = new Rig()
  await rig.create()
  await rig.runtime.sessions.prompt({ sessionId: 's', content: 'go' })
  const asked = await rig.nextAsk()
  asked.answer(calls(asked, 'work', 'more'))
  await rig.nextCall()
  await rig.runtime.sessions.cancel({ sessionId: 's' }, 'test')
  await rig.idle()
  const results = (await rig.facts()).filter(({ type }) => type === 'tool/result')
  expect(results).toMatchObject([{ data: { isError: true } }, { data: { isError: true } }])
  await good(rig)
})

test('CAN-2: scope session withdraws what is pending and reports it', async () => {
  const rig = new Rig()
  await rig.create()
  const { sessions } = rig.runtime
  await sessions.prompt({ sessionId: 's', content: 'go', messageId: 'm1' })
  await rig.nextAsk()
  await sessions.prompt({ sessionId: 's', content: 'later', messageId: 'm2' })
  const answer = await sessions.cancel({ sessionId: 's', scope: 'session' }, 'test')
  expect(answer).toEqual({ cancelled: true, withdrawn: [{ sessionId: 's', messageId: 'm2' }] })
  await rig.idle()
  expect((await rig.types()).filter((type) => type === 'turn/start')).toHaveLength(1)
  await good(rig)
})

test('IN-8: of withdraw and admission exactly one wins; ST-3: a withdrawn message is followed by an idle', async () => {
  const rig = new Rig()
  await rig.create()
  const { sessions } = rig.runtime
  await sessions.prompt({ sessionId: 's', content: 'go', messageId: 'm1' })
  expect(await sessions.withdraw('s', 'm1')).toBe(false)
  await sessions.prompt({ sessionId: 's', content: 'later', messageId: 'm2' })
  expect(await sessions.withdraw('s', 'm2')).toBe(true)
  expect(await sessions.withdraw('s', 'm2')).toBe(false)
  await expect(sessions.withdraw('s', 'nosuch')).rejects.toMatchObject({ code: 'message_not_found' })
  ;(await rig.nextAsk()).answer(says('x'))
  await rig.idle()
  await good(rig)
})

test('IN-9, RUN-11: a failed turn does not strand the queue', async () => {
  const rig = new Rig()
  await rig.create()
  await rig.runtime.sessions.prompt({ sessionId: 's', content: 'one' })
  await rig.runtime.sessions.prompt({ sessionId: 's', content: 'two' })
  ;(await rig.nextAsk()).answer(fails())
  ;(await rig.nextAsk()).answer(says('x'))
  await rig.idle()
  const ends = (await rig.facts()).flatMap((fact) => (fact.type === 'turn/end' ? [fact.data.reason.kind] : []))
  expect(ends).toEqual(['error', 'completed'])
  await good(rig)
})

test('TU-2: a turn ends at maxSteps', async () => {
  const rig = new Rig()
  await rig.create('s', { limits: { maxSteps: 2 } })
  await rig.runtime.sessions.prompt({ sessionId: 's', content: 'go' })
  for (const round of [1, 2]) {
    const asked = await rig.nextAsk()
    asked.answer(calls(asked, 'work'))
    ;(await rig.nextCall()).finish(done(`${round}`))
  }
  await rig.idle()
  expect((await rig.facts()).find(({ type }) => type === 'turn/end')).toMatchObject({ data: { reason: { kind: 'max_steps', limit: 2 } } })
  await good(rig)
})

test('RE-1, RE-2: after a kill the next activation closes what was open and goes on in the same activity', async () => {
  const rig = new Rig()
  await rig.create()
  await rig.runtime.sessions.prompt({ sessionId: 's', content: 'go' })
  const asked = await rig.nextAsk()
  asked.answer(calls(asked, 'work', 'solo'))
  await rig.nextCall()
  const { sessions } = await rig.crash()
  await sessions.activate('s')
  const resumed = await rig.nextAsk()
  expect(resumed.request.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
  resumed.answer(says('done'))
  await rig.idle()
  const facts = await rig.facts()
  const codes = facts.flatMap((fact) => (fact.type === 'tool/result' ? [fact.data.error?.code] : []))
  expect(codes).toEqual(['tool_outcome_unknown', 'tool_not_started'])
  expect(facts.filter((fact) => fact.type === 'agent/status')).toHaveLength(2)
  await good(rig)
})

test('RE-2: settle does not resume, and the third resume in a row settles with recovery_exhausted', async () => {
  const settling = new Rig()
  await settling.create('s', { recovery: 'settle' })
  await settling.runtime.sessions.prompt({ sessionId: 's', content: 'go' })
  await (await settling.crash()).sessions.activate('s')
  await settling.idle()
  await good(settling)

  const rig = new Rig()
  await rig.create()
  await rig.runtime.sessions.prompt({ sessionId: 's', content: 'go' })
  for (const _ of [1, 2]) {
    await (await rig.crash()).sessions.activate('s')
    await rig.nextAsk()
  }
  await (await rig.crash()).sessions.activate('s')
  await rig.idle()
  expect((await rig.facts()).filter(({ type }) => type === 'turn/end').at(-1)).toMatchObject({
    data: { reason: { kind: 'error', error: { code: 'recovery_exhausted' } } },
  })
  await good(rig)
})

test('RE-7: shutdown interrupts an open turn, and it goes on at the next activation', async () => {
  const rig = new Rig()
  await rig.create()
  await rig.runtime.sessions.prompt({ sessionId: 's', content: 'go' })
  await rig.nextAsk()
  await rig.runtime.sessions.shutdown()
  await expect(rig.runtime.sessions.prompt({ sessionId: 's', content: 'x' })).rejects.toMatchObject({ code: 'shutting_down' })
  expect((await rig.types()).at(-1)).toBe('turn/end')
  await rig.boot().sessions.activate('s')
  ;(await rig.nextAsk()).answer(says('done'))
  await rig.idle()
  await good(rig)
})

test('DEL-1: delete ends the activation and its tools; the id is not used again', async () => {
  const rig = new Rig()
  await rig.create()
  const { sessions } = rig.runtime
  await sessions.prompt({ sessionId: 's', content: 'go' })
  const asked = await rig.nextAsk()
  asked.answer(calls(asked, 'work'))
  await rig.nextCall()
  await sessions.delete('s')
  expect(rig.runtime.called).toEqual([])
  await expect(sessions.prompt({ sessionId: 's', content: 'x' })).rejects.toMatchObject({ code: 'session_not_found' })
  await expect(rig.create('s')).rejects.toMatchObject({ code: 'session_exists' })
})

test('RE-6: a store that fails rejects the prompt without a receipt, stops a running agent, and once mended it goes on', async () => {
  const rig = new Rig()
  await rig.create()
  const { runtime } = rig
  const closed: string[] = []
  await runtime.log.follow('s', { facts: () => undefined, closed: (reason) => closed.push(reason) })
  await runtime.sessions.prompt({ sessionId: 's', content: 'one' })
  const asked = await rig.nextAsk()
  runtime.breakStore(true)
  await expect(runtime.sessions.prompt({ sessionId: 's', content: 'two' })).rejects.toMatchObject({ code: 'storage_unavailable' })
  const before = await rig.facts()
  asked.answer(says('lost'))
  await quiet(() => closed.length > 0)
  expect(closed).toEqual(['storage'])
  expect(await rig.facts()).toEqual(before)
  runtime.breakStore(false)
  await runtime.sessions.prompt({ sessionId: 's', content: 'three' })
  for (const text of ['resumed', 'three']) (await rig.nextAsk()).answer(says(text))
  await rig.idle()
  await good(rig)
})

test('a prompt is made of text, image and file blocks: what only a model or the runtime says is refused with its place', async () => {
  const rig = new Rig()
  await rig.create()
  const content = [
    { type: 'text' as const, text: 'x' },
    { type: 'tool_result' as const, callId: 'c', content: 'y' },
  ]
  const refused = rig.runtime.sessions.prompt({ sessionId: 's', content })
  await expect(refused).rejects.toMatchObject({ name: 'InvalidParams', faults: [{ path: 'content[1].type' }] })
})

test('FR-2: what would not fit into a frame again is refused before anything is kept', async () => {
  const rig = new Rig()
  await rig.create()
  const { sessions } = rig.runtime
  const fits = 'x'.repeat(31 * 1024 * 1024 - 200)
  await sessions.prompt({ sessionId: 's', content: fits, delivery: 'inject' })
  for (const content of [`${fits}${'y'.repeat(200)}`, '\u0001'.repeat(6 * 1024 * 1024), '\u20ac'.repeat(11 * 1024 * 1024)])
    await expect(sessions.prompt({ sessionId: 's', content })).rejects.toMatchObject({ code: 'frame_too_large' })
  const metadata = { note: 'x'.repeat(20_000) }
  for (const refused of [sessions.update({ sessionId: 's', metadata }), rig.create('t', { metadata })])
    await expect(refused).rejects.toMatchObject({ name: 'InvalidParams', faults: [{ path: 'metadata' }] })
  expect(await sessions.status('s')).toMatchObject({ seq: 2, pending: { inject: 1 } })
})
