import { describe, expect, it } from 'vitest'
import {
  admitted,
  answered,
  asked,
  asks,
  begun,
  call,
  calling,
  cancel,
  cancelled,
  crashed,
  ends,
  exhausted,
  failed,
  idle,
  opens,
  receipt,
  received,
  result,
  resumes,
  retitled,
  retries,
  running,
  type Story,
  says,
  settling,
  start,
  stepEnds,
  steps,
  withdrawn,
} from './reference-log.fixture.ts'
import { unfinished } from './reference-state.fixture.ts'

const good: Record<string, () => Story> = {
  'a plain prompt': () => asked().drives(answered),
  'a receipt that another commit opens': () =>
    received(receipt('m1'))
      .drives([running(), opens('m1'), admitted('m1'), steps()])
      .drives(answered),
  'a steer that joins the next step, with an inject': () =>
    asked()
      .input(receipt('i1', 'inject'))
      .input(receipt('s', 'steer'))
      .drives([says(), stepEnds(), admitted('s', 's2'), admitted('i1', 's2'), steps('s2')])
      .drives([says('stop', [], 's2'), stepEnds('s2'), ends(), idle()]),
  'an answer committed alone where a steer came in': () =>
    asked()
      .input(receipt('s', 'steer'))
      .drives([says(), stepEnds()])
      .drives([admitted('s', 's2'), steps('s2')])
      .drives([says('stop', [], 's2'), stepEnds('s2'), ends(), idle()]),
  'a follow-up that opens a turn of its own': () =>
    asked()
      .input(receipt('m2'))
      .drives([says(), stepEnds(), ends()])
      .drives([opens('m2', 't2'), admitted('m2', 's2', 't2'), steps('s2', 't2')])
      .drives([says('stop', [], 's2', 't2'), stepEnds('s2', 't2'), ends('completed', 't2'), idle()]),
  'tools that run together': () =>
    calling('c1', 'c2')
      .drives([result('c2')])
      .drives([result('c1'), stepEnds(), steps('s2')])
      .drives([says('stop', [], 's2'), stepEnds('s2'), ends(), idle()]),
  'a cut call that is not executed': () =>
    asked().drives([says('length', ['c1']), call('c1'), failed('c1', 'tool_not_started'), stepEnds(), ends('max_tokens'), idle()]),
  'a failed request after a retry': () =>
    asked()
      .drives([retries()])
      .drives([stepEnds(), ends('error'), idle()]),
  'a turn at its limit': () =>
    begun({ maxSteps: 1 })
      .prompted()
      .drives(asks('c1'))
      .drives([result('c1'), stepEnds(), ends('max_steps'), idle()]),
  'a cancelled turn': () =>
    calling('c1')
      .input(cancel('turn', 't1'))
      .drives([failed('c1', 'tool_cancelled'), stepEnds(), ends('cancelled'), idle()]),
  'a cancelled session': () =>
    asked()
      .input(receipt('m2'))
      .input(withdrawn('m2', 'cancelled'), cancel('session', 't1'))
      .drives([says('interrupted'), stepEnds(), ends('cancelled'), idle()]),
  'a withdrawn message, and the idle that it owes': () => received(receipt('m1')).input(withdrawn('m1')).drives([running(), idle()]),
  'an update': () => received(retitled('x')),
  'a crash, and a turn that goes on': () =>
    asked()
      .drives([says('tool_calls', ['c1', 'c2']), call('c1'), call('c2', 'solo'), start('c1')])
      .crashes()
      .drives(
        [
          failed('c1', 'tool_outcome_unknown'),
          failed('c2', 'tool_not_started'),
          ends('interrupted'),
          resumes('t1', 't2'),
          steps('s2', 't2'),
        ],
        'B',
        2,
      )
      .drives([says('stop', [], 's2', 't2'), stepEnds('s2', 't2'), ends('completed', 't2'), idle()], 'B', 2),
  'a crash of a session that settles': () =>
    settling()
      .prompted()
      .crashes()
      .drives([ends('interrupted')], 'B', 2)
      .drives([idle()], 'B', 2),
  'a crash of a cancelled turn': () =>
    asked()
      .input(cancel('turn', 't1'))
      .crashes()
      .drives([ends('cancelled')], 'B', 2)
      .drives([idle()], 'B', 2),
  'a stop, and a turn that goes on': () => {
    const story = asked()
    story.processes.stopping.add('A')
    story.drives([ends('interrupted')]).happens({ kind: 'released', by: 'A', epoch: 1 })
    return story.takes('B', 2, 1).drives([resumes('t1', 't2'), steps('s2', 't2')], 'B', 2)
  },
  'three crashes': () => exhausted().drives([ends('error', 't3', 'recovery_exhausted')], 'D', 4),
  'a lease that ran out': () => begun().takes('B', 2, 10_000).happens({ kind: 'fenced', by: 'A', epoch: 1 }),
  'a lease that was renewed too late': () =>
    begun().happens({ kind: 'renewed', by: 'A', epoch: 1, now: 11_000, until: 21_000 }).takes('B', 2, 11_000),
  'a deleted session': () => asked().happens({ kind: 'deleted', by: 'X' }, { kind: 'fenced', by: 'A', epoch: 1 }),
}

const bad: [rule: string, story: () => Story][] = [
  ['RE-4: agent/status, agent/status are committed without a lease', () => received(receipt('m1')).input(running(), idle())],
  ['RE-4: turn/end is committed without a lease', () => asked().input(ends())],
  ['RE-4: session/update is committed under the lease', () => begun().drives([retitled('x')])],
  ['RE-4: B takes the lease that A holds', () => begun().takes('B', 2, 9_999)],
  ['RE-4: the epoch 1 follows 1', () => begun().takes('B', 1, 10_000)],
  ['RE-4: A commits under the epoch 1; B holds 2', () => crashed().drives(answered)],
  ['RE-4: A is fenced under the epoch 1, which it holds', () => begun().happens({ kind: 'fenced', by: 'A', epoch: 1 })],
  [
    'RE-4: B renews the epoch 1, which it does not hold',
    () => begun().happens({ kind: 'renewed', by: 'B', epoch: 1, now: 1, until: 10_001 }),
  ],
  ['RE-5: A is told that it lost', () => begun().happens({ kind: 'lost', by: 'A', epoch: 1, now: 1, until: 1 })],
  ['DEL-1: deleted twice', () => begun().happens({ kind: 'deleted', by: 'X' }, { kind: 'deleted', by: 'X' })],
  ['DEL-1: a commit after', () => begun().happens({ kind: 'deleted', by: 'X' }).input(receipt('m1'))],
  ['DEL-1: B takes up a session that is deleted', () => begun().happens({ kind: 'deleted', by: 'X' }).takes('B', 2, 1)],
  ['IN-2: seq 2 follows 2', () => received(receipt('m1')).happens(...received(receipt('m2')).happenings.slice(-1))],
  ['IN-2: a second receipt of m1', () => received(receipt('m1')).input(receipt('m1'))],
  ['IN-2: m1 is withdrawn, but it is admitted', () => asked().input(withdrawn('m1'))],
  [
    'IN-2: m1 is admitted, but it is withdrawn',
    () =>
      received(receipt('m1'))
        .input(withdrawn('m1'))
        .drives([running(), opens('m1'), admitted('m1'), steps()]),
  ],
  ['IN-8: m1 is cancelled alone', () => received(receipt('m1')).input(withdrawn('m1', 'cancelled'))],
  ['CAN-1: a cancel that reaches nothing', () => received(cancel('turn'))],
  ['CAN-1: a cancel names t1, which is not open', () => cancelled().input(cancel('turn', 't1'))],
  ['CAN-2: a cancel of the session withdraws nothing', () => asked().input(receipt('m2')).input(cancel('session', 't1'))],
]

describe('the reference model of a session', () => {
  it.each(Object.entries(good))('accepts %s', (_, story) => {
    expect(story().broken).toEqual([])
  })

  it.each(bad)('refuses what breaks %s', (rule, story) => {
    const { broken } = story()
    expect(broken.filter((what) => what.startsWith(rule))).not.toEqual([])
  })

  it.each([
    ['ST-1: running for ever', asked()],
    ['IN-4/5: m1 is stranded', received(receipt('m1'))],
    ['ST-3: no idle follows a waking receipt', received(receipt('m1')).input(withdrawn('m1'))],
  ])('finds unfinished at rest: %s', (rule, story) => {
    expect(unfinished(story.state)).toContain(rule)
    expect(unfinished(good['a plain prompt']!().state)).toEqual([])
  })
})
