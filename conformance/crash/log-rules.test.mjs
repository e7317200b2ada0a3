import { describe, expect, it } from 'vitest'
import { differsFrom, historyOf, invalidIn } from './history.mjs'
import { LogReading } from './log-rules.mjs'

const usage = { inputTokens: 1, outputTokens: 1 }
const fail = (code) => ({ isError: true, error: { code, message: 'x', retryable: false } })
const call = (callId) => ({ type: 'tool_use', callId, name: 'shell', input: {} })

/** Facts from `[type, data]` pairs. */
const log = (...entries) => entries.map(([type, data], i) => ({ sessionId: 's', seq: i + 1, type, time: 0, data }))

const created = ['session/create', { config: { recovery: 'resume' }, depth: 0 }]
const receipt = (id, delivery = 'followup') => [
  'inbox/receipt',
  { message: { id, delivery, origin: { kind: 'user' }, content: [{ type: 'text', text: id }] } },
]
const running = ['agent/status', { status: 'running', activityId: 'a1' }]
const idle = ['agent/status', { status: 'idle', activityId: 'a1', waitingOn: [] }]
const turn = (n, trigger = { kind: 'message', messageId: 'm1' }) => ['turn/start', { turnId: `t${n}`, activityId: 'a1', trigger }]
const admitted = (messageId, n = 1) => ['inbox/admitted', { messageId, turnId: `t${n}`, stepId: `s${n}` }]
const cancelled = (messageId) => ['inbox/cancelled', { messageId, reason: 'withdrawn' }]
const cancel = (n) => ['agent/cancel', { scope: 'turn', by: 'x', turnId: `t${n}` }]
const step = (n, turnId = `t${n}`) => ['step/start', { turnId, stepId: `s${n}`, model: 'x' }]
const answer = (n, content = [{ type: 'text', text: 'well' }], more = {}) => [
  'assistant/message',
  { turnId: 't', stepId: `s${n}`, outputId: 'o', content, usage, ...more },
]
const asked = (callId, n = 1) => ['tool/call', { turnId: `t${n}`, stepId: `s${n}`, callId, name: 'shell', input: {}, provider: 'runtime' }]
const started = (callId) => ['tool/start', { callId }]
const result = (callId, more = { isError: false }) => ['tool/result', { callId, content: 'x', durationMs: 0, ...more }]
const stepEnd = (n) => ['step/end', { turnId: 't', stepId: `s${n}`, usage }]
const turnEnd = (n, kind = 'completed', more = {}) => ['turn/end', { turnId: `t${n}`, reason: { kind, ...more }, usage }]

const beginning = [created, receipt('m1'), running, turn(1), admitted('m1'), step(1)]
const recovered = (n) => turn(n, { kind: 'recovery', turnId: `t${n - 1}` })
const gaveUp = { error: { code: 'recovery_exhausted', message: 'x', retryable: false } }

const good = {
  'a plain turn': [...beginning, answer(1), stepEnd(1), turnEnd(1), idle],
  'a turn with calls': [
    ...beginning,
    answer(1, [call('c1'), call('c2')]),
    ...[asked('c1'), asked('c2'), started('c1'), result('c1'), started('c2'), result('c2')],
    ...[stepEnd(1), step(2, 't1'), answer(2), stepEnd(2), turnEnd(1), idle],
  ],
  'a recovery': [
    ...beginning,
    answer(1, [call('c1'), call('c2')]),
    ...[asked('c1'), asked('c2'), started('c1'), result('c1', fail('tool_outcome_unknown')), result('c2', fail('tool_not_started'))],
    ...[turnEnd(1, 'interrupted'), recovered(2), step(2), answer(2), stepEnd(2), turnEnd(2), idle],
  ],
  'a recovery that is given up': [
    ...beginning,
    ...[turnEnd(1, 'interrupted'), recovered(2), step(2), turnEnd(2, 'interrupted'), recovered(3), step(3)],
    ...[turnEnd(3, 'error', gaveUp), idle],
  ],
  'a cancel': [...beginning, cancel(1), answer(1, undefined, { interrupted: true }), stepEnd(1), turnEnd(1, 'cancelled'), idle],
  'a withdrawal that owes an idle': [created, receipt('m1'), cancelled('m1'), running, idle],
  'an inject that stays': [...beginning, answer(1), receipt('i1', 'inject'), stepEnd(1), turnEnd(1), idle],
}

const bad = {
  'IN-2: a second receipt': [...beginning, receipt('m1')],
  'IN-2: m1 is admitted, and is cancelled': [...beginning, cancelled('m1')],
  'IN-2: m1 is cancelled, and is admitted': [created, receipt('m1'), cancelled('m1'), running, turn(1), admitted('m1')],
  'IN-4: m2 joins a turn': [created, receipt('m1'), receipt('m2'), running, turn(1), admitted('m1'), admitted('m2')],
  'IN-5: m2 overtakes m1': [created, receipt('m1'), receipt('m2'), running, turn(1), admitted('m2')],
  'IN-5: the step starts without s1': [created, receipt('m1'), receipt('s1', 'steer'), running, turn(1), admitted('m1'), step(1)],
  'IN-5: completed over the steer s1': [...beginning, answer(1), receipt('s1', 'steer'), stepEnd(1), turnEnd(1)],
  'ST-1: running twice': [created, running, running],
  'ST-1: a turn outside its activity': [created, receipt('m1'), turn(1)],
  'ST-1: the idle of another activity': [created, running, ['agent/status', { status: 'idle', activityId: 'a2', waitingOn: [] }]],
  'ST-2: idle in an open turn': [...beginning, idle],
  'ST-2: idle over m2': [...beginning, answer(1), receipt('m2'), stepEnd(1), turnEnd(1), idle],
  'TU-1: a turn inside another': [...beginning, turn(2)],
  'TU-1: an answer outside its step': [...beginning, answer(2)],
  'TU-1: a call that the answer does not ask for': [...beginning, answer(1), asked('c1')],
  'TU-1: c1 starts unasked': [...beginning, answer(1, [call('c1')]), asked('c1'), started('c1'), started('c1')],
  'TU-1: c1 succeeds and never started': [...beginning, answer(1, [call('c1')]), asked('c1'), result('c1')],
  'TU-1: a result of c1, which is not open': [
    ...beginning,
    answer(1, [call('c1')]),
    ...[asked('c1'), started('c1'), result('c1'), result('c1')],
  ],
  'TU-1: the step ends, and c1 is open': [...beginning, answer(1, [call('c1')]), asked('c1'), stepEnd(1)],
  'TU-1: it ends completed in an open step': [...beginning, answer(1), turnEnd(1)],
  'TU-8: c1 has no result': [...beginning, answer(1, [call('c1')]), asked('c1'), turnEnd(1, 'interrupted')],
  'TU-8: no fact about the calls c1': [...beginning, answer(1, [call('c1')]), turnEnd(1, 'interrupted')],
  'RE-2: c1 started, and is called not started': [
    ...beginning,
    answer(1, [call('c1')]),
    ...[asked('c1'), started('c1'), result('c1', fail('tool_not_started'))],
  ],
  'RE-2: c1 never started, and its outcome': [
    ...beginning,
    answer(1, [call('c1')]),
    ...[asked('c1'), result('c1', fail('tool_outcome_unknown'))],
  ],
  'RE-2: it goes on from t1': [...beginning, answer(1), stepEnd(1), turnEnd(1), recovered(2)],
  'RE-2: another turn starts': [...beginning, turnEnd(1, 'interrupted'), turn(2)],
  'RE-7: idle where a turn should go on': [...beginning, turnEnd(1, 'interrupted'), idle],
  'RE-2: a turn goes on where it should settle': [
    ['session/create', { config: { recovery: 'settle' }, depth: 0 }],
    ...[...beginning.slice(1), turnEnd(1, 'interrupted'), recovered(2)],
  ],
  'RE-2: given up after 0': [...beginning, turnEnd(1, 'error', gaveUp)],
  'RE-2: resumed 3 times': [
    ...beginning,
    ...[turnEnd(1, 'interrupted'), recovered(2), step(2), turnEnd(2, 'interrupted'), recovered(3), step(3), turnEnd(3, 'interrupted')],
    ...[recovered(4), step(4), turnEnd(4, 'interrupted')],
  ],
  'CAN-1: it ends interrupted': [...beginning, cancel(1), turnEnd(1, 'interrupted')],
  'CAN-1: it ends cancelled': [...beginning, turnEnd(1, 'cancelled')],
  'CAN-1: a step in a cancelled turn': [...beginning, answer(1), stepEnd(1), cancel(1), step(2, 't1')],
  'CAN-1: a cancel names a turn': [...beginning, cancel(7)],
  'CAN-2: m2 still waits': [...beginning, receipt('m2'), ['agent/cancel', { scope: 'session', by: 'x', turnId: 't1' }]],
  'the id t1 is used again': [...beginning, answer(1), stepEnd(1), turnEnd(1), turn(1)],
  'seq 3 after 1': [created, running].map(([type, data], i) => ({ seq: 1 + 2 * i, type, data })),
}

describe('the rules of a log', () => {
  it.each(Object.entries(good))('find nothing wrong with %s, and nothing open', (_, entries) => {
    const reading = LogReading.of(log(...entries))
    expect(reading.broken).toEqual([])
    expect(reading.unfinished).toEqual([])
    expect(reading.settled).toBe(true)
  })

  it.each(Object.entries(bad))('find: %s', (why, entries) => {
    const facts = Array.isArray(entries[0]) ? log(...entries) : entries
    expect(LogReading.of(facts).broken.some((said) => said.startsWith(why))).toBe(true)
  })

  it.each([
    ['ST-1: it runs for ever', beginning],
    ['ST-3: no idle follows', [created, receipt('m1'), cancelled('m1')]],
    ['IN-5: m1 waits for ever', [created, receipt('m1')]],
  ])('tell of what is left open: %s', (why, entries) => {
    expect(LogReading.of(log(...entries)).unfinished.some((said) => said.startsWith(why))).toBe(true)
  })

  it('know every type of fact', () => {
    expect(LogReading.of(log(['something/new', {}])).broken).toEqual(['a type that no rule knows (seq 1, something/new)'])
  })
})

describe('a history', () => {
  const facts = log(
    ...beginning,
    answer(1, [call('c1'), call('c2')]),
    ...[asked('c1'), asked('c2'), started('c1'), started('c2'), result('c2'), result('c1', fail('tool_failed')), stepEnd(1)],
    ...[receipt('s1', 'steer'), admitted('s1'), step(2, 't1'), answer(2)],
  )
  const block = (callId, isError) => ({ type: 'tool_result', callId, content: 'x', isError })

  it('has the results of a step together, in the order of the calls', () => {
    expect(historyOf(facts)).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'm1' }], messageId: 'm1' },
      { role: 'assistant', content: [call('c1'), call('c2')] },
      { role: 'tool', content: [block('c1', true), block('c2', false)] },
      { role: 'user', content: [{ type: 'text', text: 's1' }], messageId: 's1' },
      { role: 'assistant', content: [{ type: 'text', text: 'well' }] },
    ])
    expect(invalidIn(historyOf(facts))).toEqual([])
  })

  it('is compared with what the runtime tells, the seqs apart', () => {
    const told = historyOf(facts).map((message, seq) => ({ ...message, seq }))
    expect(differsFrom(facts, told)).toEqual([])
    expect(differsFrom(facts, told.slice(1))[0]).toMatch(/^message 0: the log says/)
    expect(differsFrom(facts, [...told, told[0]])).toEqual(['the log makes 5 messages, the runtime 6'])
  })

  it.each([
    ['a call without its result', ([user, asks, , next]) => [user, asks, next]],
    ['a result that is missing', ([user, asks, results]) => [user, asks, { ...results, content: results.content.slice(1) }]],
    ['a result of nothing', ([user, , results]) => [user, results]],
    ['an empty message', ([user]) => [{ ...user, content: [] }]],
    ['an answer to nobody', ([, asks]) => [asks]],
  ])('is not valid with %s', (_, change) => {
    expect(invalidIn(change(historyOf(facts)))).not.toEqual([])
  })
})
