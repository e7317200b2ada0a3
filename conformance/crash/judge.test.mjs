import { describe, expect, it } from 'vitest'
import { historyOf } from './history.mjs'
import { judge, takeover } from './judge.mjs'
import { LogReading } from './log-rules.mjs'
import { vacuous } from './tally.mjs'

const usage = { inputTokens: 1, outputTokens: 1 }
const command = { command: 'echo one >> effects.txt' }
const text = (said) => [{ type: 'text', text: said }]

/** A turn with a call that was running when the runtime died, and one that was not. */
const before = [
  ['session/create', { config: {}, depth: 0 }],
  ['inbox/receipt', { message: { id: 'm1', delivery: 'followup', origin: { kind: 'user' }, content: text('say m1') } }],
  ['agent/status', { status: 'running', activityId: 'a1' }],
  ['turn/start', { turnId: 't1', activityId: 'a1', trigger: { kind: 'message', messageId: 'm1' } }],
  ['inbox/admitted', { messageId: 'm1', turnId: 't1', stepId: 's1' }],
  ['step/start', { turnId: 't1', stepId: 's1', model: 'x' }],
  [
    'assistant/message',
    {
      stepId: 's1',
      content: ['c1', 'c2'].map((callId) => ({ type: 'tool_use', callId, name: 'shell', input: command })),
      usage,
    },
  ],
  ['tool/call', { callId: 'c1', stepId: 's1', name: 'shell', input: command }],
  ['tool/call', { callId: 'c2', stepId: 's1', name: 'shell', input: {} }],
  ['tool/start', { callId: 'c1' }],
]
const lost = (callId, code) => [
  'tool/result',
  { callId, content: 'x', isError: true, error: { code, message: 'x', retryable: false }, durationMs: 0 },
]
const closing = [
  lost('c1', 'tool_outcome_unknown'),
  lost('c2', 'tool_not_started'),
  ['turn/end', { turnId: 't1', reason: { kind: 'interrupted' }, usage }],
  ['turn/start', { turnId: 't2', activityId: 'a1', trigger: { kind: 'recovery', turnId: 't1' } }],
  ['step/start', { turnId: 't2', stepId: 's2', model: 'x' }],
]
const ending = [
  ['assistant/message', { stepId: 's2', content: text('well'), usage }],
  ['step/end', { stepId: 's2', usage }],
  ['turn/end', { turnId: 't2', reason: { kind: 'completed' }, usage }],
  ['agent/status', { status: 'idle', activityId: 'a1', waitingOn: [] }],
]
const placed = (entries) => entries.map(([type, data], i) => ({ sessionId: 's', seq: i + 1, type, time: 0, data }))
const whole = placed([...before, ...closing, ...ending])

/** A story in which all is well, to be spoilt. */
function story() {
  const facts = structuredClone(whole)
  const left = facts.slice(0, before.length)
  const event = (fact) => ({
    method: 'session.event',
    params: { subscriptionId: 'sub', sessionId: 's', event: structuredClone(fact) },
  })
  const prompt = (answer) => ({ method: 'session/prompt', params: { sessionId: 's', messageId: 'm1', content: 'say m1' }, answer })
  const told = {
    scenario: { files: [{ path: 'a', before: null, after: 'A', tag: 'no such call' }] },
    complaints: [],
    points: [['x#1'], []],
    runs: [
      {
        k: 0,
        kill: 'x#1',
        left: new Map(),
        ends: [{ code: null, signal: 'SIGKILL' }],
        processes: [{ stderr: '' }],
        clients: [{ calls: [prompt({ result: { messageId: 'm1' } })], notifications: left.slice(1, 4).map(event) }],
      },
      {
        k: 1,
        left: new Map([['s', left]]),
        ends: [{ code: 0, signal: null }],
        processes: [{ stderr: '' }],
        clients: [{ calls: [prompt({ result: { messageId: 'm1' } })], notifications: facts.map(event) }],
      },
    ],
    final: new Map([
      [
        's',
        {
          facts,
          messages: historyOf(facts).map((message) => ({ ...message, seq: 1 })),
          session: { seq: facts.length },
          status: { status: 'idle', seq: facts.length },
          reading: LogReading.of(facts),
        },
      ],
    ]),
    effects: ['one'],
    files: { a: null },
    temporaryFiles: [],
    damage: [],
    sent: (method) => told.runs.flatMap(({ clients }) => clients.flatMap(({ calls }) => calls)).filter((call) => call.method === method),
  }
  return told
}

const first = (told) => told.runs[0].clients[0]
const session = (told) => told.final.get('s')

const spoilt = {
  'RE-1: m2 was answered, and has 0 receipts': (told) => {
    first(told).calls[0].params.messageId = 'm2'
    first(told).calls[0].answer.result.messageId = 'm2'
  },
  'RE-1: the receipt of m1 holds another message': (told) => {
    first(told).calls[0].params.content = 'another'
  },
  'IN-1: m1 was answered': (told) => {
    first(told).calls[0].answer.result.turnId = 't1'
  },
  'RE-1: agent/status was sent as seq 3': (told) => {
    first(told).notifications[1].params.event.data.status = 'idle'
  },
  'RE-1: turn/start was sent as seq 14': (told) => {
    first(told).notifications.push(...told.runs[1].clients[0].notifications.slice(4, 14))
  },
  'SUB-1: seq 4 was sent after 2': (told) => first(told).notifications.splice(1, 1),
  'SUB-1: seq 4 was sent after 4': (told) => first(told).notifications.push(first(told).notifications[2]),
  'ST-6: status running was sent': (told) => {
    first(told).notifications.push({
      method: 'session.status',
      params: { sessionId: 's', subscriptionId: 'sub', seq: 2, status: 'running' },
    })
  },
  'ST-6: session/status says': (told) => {
    session(told).status.status = 'running'
  },
  'RE-1: run 1 changed what was committed': (told) => {
    told.runs[1].left.set('s', structuredClone(told.runs[1].left.get('s')))
    told.runs[1].left.get('s')[0].time = 1
  },
  'RE-1: session s is gone': (told) => told.final.set('s', null) && told.runs[1].left.set('s', null),
  'RE-2: after run 0': (told) => told.runs[1].left.get('s').splice(9),
  'TU-8: message 1': (told) => session(told).messages.splice(1, 1),
  'TU-3: the command one ran 2 times': (told) => told.effects.push('one'),
  'TU-3: a was written by a call that never started': (told) => {
    told.files.a = 'A'
  },
  'a holds neither the old nor the new text': (told) => {
    told.files.a = ''
  },
  'files are left over': (told) => told.temporaryFiles.push('1.tmp', '2.tmp'),
  'the store is damaged': (told) => told.damage.push('a page'),
  'run 1 ended with status 1': (told) => {
    told.runs[1].ends[0].code = 1
  },
  'run 0 ended with SIGKILL': (told) => {
    told.points[0] = []
  },
  'the runtime says: {"level":50': (told) => {
    told.runs[1].processes[0].stderr = '{"level":50,"msg":"internal fault"}\n'
  },
  hung: (told) => told.complaints.push('hung: somewhere'),
}

describe('a verdict', () => {
  it('is empty where all is well', () => expect(judge(story())).toEqual([]))

  it.each(Object.entries(spoilt))('says: %s', (why, spoil) => {
    const told = story()
    spoil(told)
    expect(judge(told).join('\n')).toContain(why)
  })

  it.each([
    ['session/withdraw', { messageId: 'm1' }, { withdrawn: true }, 'IN-8'],
    ['session/withdraw', { messageId: 'm9' }, { withdrawn: false }, 'IN-8'],
    ['session/cancel', {}, { cancelled: true, withdrawn: [] }, 'CAN-1'],
    ['session/cancel', {}, { cancelled: false, withdrawn: [{ sessionId: 's', messageId: 'm1' }] }, 'CAN-2'],
    ['session/update', { title: 'new' }, {}, 'RE-1: an update'],
    ['session/delete', {}, {}, 'DEL-1'],
  ])('asks %s %j to be in the log, answered %j', (method, params, result, why) => {
    const told = story()
    first(told).calls.push({ method, params: { sessionId: 's', ...params }, answer: { result } })
    expect(judge(told).join('\n')).toContain(why)
  })

  it('asks nothing of what was not answered, or refused', () => {
    const told = story()
    const params = { sessionId: 's', messageId: 'm2', content: 'x' }
    first(told).calls.push({ method: 'session/prompt', params, answer: undefined })
    first(told).calls.push({ method: 'session/prompt', params, answer: { error: {} } })
    expect(judge(told)).toEqual([])
  })

  it('asks a scenario, where nothing else hung', () => {
    const told = story()
    told.scenario.expects = () => ['its own']
    expect(judge(told)).toEqual(['its own'])
  })
})

describe('what a takeover commits first', () => {
  const reading = (...more) => LogReading.of(placed([...before, ...more]))
  const receipt = ['inbox/receipt', { message: { id: 'm2', delivery: 'followup', content: [] } }]
  const cancel = ['agent/cancel', { scope: 'turn', by: 'x', turnId: 't1' }]
  const cancelledEnd = ['turn/end', { turnId: 't1', reason: { kind: 'cancelled' }, usage }]

  it('may be nothing yet, or come behind inputs', () => {
    expect(takeover(reading(), [])).toEqual([])
    expect(takeover(reading(), placed([receipt]))).toEqual([])
    expect(takeover(reading(), placed([receipt, ...closing]))).toEqual([])
  })

  it('is a cancel where one names the turn, before or after the crash', () => {
    const closed = [...closing.slice(0, 2), cancelledEnd]
    expect(takeover(reading(cancel), placed(closed))).toEqual([])
    expect(takeover(reading(), placed([cancel, ...closed]))).toEqual([])
    expect(takeover(reading(cancel), placed(closing))).not.toEqual([])
    expect(takeover(reading(), placed(closed))).not.toEqual([])
  })

  it.each([0, 1, 2, 3])('may not leave out its fact %i', (i) => {
    expect(takeover(reading(), placed(closing.toSpliced(i, 1)))).not.toEqual([])
  })

  it('goes on from a turn that was interrupted well', () => {
    const stopped = reading(...closing.slice(0, 3))
    expect(takeover(stopped, placed(closing.slice(3)))).toEqual([])
    expect(takeover(stopped, placed([ending[3]]))).not.toEqual([])
  })
})

it('a suite in which nothing broke proves nothing', () => {
  const all = vacuous({ happened: new Map() })
  expect(all.length).toBeGreaterThan(8)
  expect(vacuous({ happened: new Map([[all[0].slice('no case met '.length), 1]]) })).toEqual(all.slice(1))
})
