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
  retries,
  running,
  type Story,
  says,
  settling,
  start,
  stepEnds,
  steps,
} from './reference-log.fixture.ts'

const bad: [rule: string, story: () => Story][] = [
  [
    'IN-4: the follow-up m2 joins',
    () =>
      asked()
        .input(receipt('m2'))
        .input(receipt('s', 'steer'))
        .drives([says(), stepEnds(), admitted('s', 's2'), admitted('m2', 's2'), steps('s2')]),
  ],
  [
    'IN-5: m2 opens a turn before m1',
    () =>
      received(receipt('m1'))
        .input(receipt('m2'))
        .drives([running(), opens('m2'), admitted('m2'), steps()]),
  ],
  [
    'IN-4/5: b overtakes a',
    () =>
      asked()
        .input(receipt('a', 'steer'))
        .input(receipt('b', 'steer'))
        .drives([says(), stepEnds(), admitted('b', 's2'), admitted('a', 's2'), steps('s2')]),
  ],
  [
    'IN-5/6: a step starts without the pending i1',
    () => received(receipt('i1', 'inject')).drives([receipt('m1'), running(), opens('m1'), admitted('m1'), steps()]),
  ],
  ['IN-5: completed over the pending steer s', () => asked().input(receipt('s', 'steer')).drives([says(), stepEnds(), ends()])],
  ['IN-5: a turn that had its answer goes on', () => asked().drives([says(), stepEnds(), steps('s2')])],
  ['ST-1: running twice', () => asked().drives([running('a2'), idle('a2')])],
  ['ST-1: idle twice', () => asked().drives(answered).drives([idle()])],
  ['ST-1: a2 ends, a1 runs', () => asked().drives([says(), stepEnds(), ends(), idle('a2')])],
  ['ST-1: a turn starts outside its activity', () => received(receipt('m1')).drives([opens('m1'), admitted('m1'), steps()])],
  ['ST-2: idle in an open turn', () => asked().drives([idle()])],
  ['ST-2: idle over the pending m2', () => asked().input(receipt('m2')).drives(answered)],
  ['ST-12: an activity begins though nothing is due', () => received(receipt('i1', 'inject')).drives([running(), idle()])],
  [
    'TU-1: a turn starts inside another',
    () =>
      asked()
        .input(receipt('m2'))
        .drives([opens('m2', 't2')]),
  ],
  ['TU-1: a turn starts without its opener', () => received(receipt('m1')).drives([running(), opens('m1'), steps()])],
  [
    'TU-1: s is admitted before the opener',
    () =>
      received(receipt('m1'))
        .input(receipt('s', 'steer'))
        .drives([running(), opens('m1'), admitted('s'), admitted('m1'), steps()]),
  ],
  [
    'TU-1: s is admitted outside',
    () =>
      asked()
        .input(receipt('s', 'steer'))
        .drives([admitted('s')]),
  ],
  [
    'TU-1: messages were admitted to another step',
    () => begun().drives([receipt('m1'), running(), opens('m1'), admitted('m1'), steps('s9')]),
  ],
  ['TU-1: a step starts without its turn', () => begun().drives([steps()])],
  ['TU-1: a second answer', () => asked().drives([says(), says()])],
  ['TU-1: c9 is called', () => asked().drives([says('tool_calls', ['c1']), call('c9')])],
  ['TU-1: an answer is committed without its call c1', () => asked().drives([says('tool_calls', ['c1'])])],
  ['TU-1: c1 starts unasked', () => asked().drives([start('c1')])],
  ['TU-1: a result of c1', () => asked().drives([result('c1')])],
  ['TU-1: a step ends over open calls', () => calling('c1').drives([stepEnds(), steps('s2')])],
  ['TU-1: t1 ends completed in an open step', () => asked().drives([says(), ends(), idle()])],
  ['TU-1: the end of t9', () => asked().drives([ends('completed', 't9')])],
  [
    'TU-1: a step asks other/model',
    () => received(receipt('m1')).drives([running(), opens('m1'), admitted('m1'), steps('s1', 't1', 'other/model')]),
  ],
  [
    'TU-2: step 2 of 1',
    () =>
      begun({ maxSteps: 1 })
        .prompted()
        .drives(asks('c1'))
        .drives([result('c1'), stepEnds(), steps('s2')]),
  ],
  ['TU-2: a turn ends completed after the finish length', () => asked().drives([says('length'), stepEnds(), ends(), idle()])],
  ['TU-2: a turn ends refused after the finish stop', () => asked().drives([says(), stepEnds(), ends('refused'), idle()])],
  ['TU-2: a turn ends completed after the finish null', () => asked().drives([stepEnds(), ends(), idle()])],
  ['TU-2: max_steps after 1 of 200', () => calling('c1').drives([result('c1'), stepEnds(), ends('max_steps'), idle()])],
  ['TU-2: a turn goes on after the finish length', () => asked().drives([says('length'), stepEnds(), steps('s2')])],
  ['TU-3: m2 is received and opened together', () => asked().drives([receipt('m2')])],
  ['TU-3: running is committed without what it is for', () => received(receipt('m1')).drives([running()])],
  ['TU-3: messages are admitted without their step', () => received(receipt('m1')).drives([running(), opens('m1'), admitted('m1')])],
  ['TU-3: a commit ends between two steps', () => asked().drives([says(), stepEnds()])],
  ['TU-3: c1 has a result, and it never started', () => asked().drives([says('tool_calls', ['c1']), call('c1'), result('c1')])],
  ['TU-3: the last turn ends without its idle', () => asked().drives([says(), stepEnds(), ends()])],
  ['TU-5: a retry outside its request', () => asked().drives([says(), retries()])],
  ['TU-5: a turn goes on after a failed step', () => asked().drives([stepEnds(), steps('s2')])],
  ['TU-5: c1 starts, and the length limit cut it off', () => asked().drives([says('length', ['c1']), call('c1'), start('c1')])],
  [
    'TU-7: c2 starts beside another',
    () => asked().drives([says('tool_calls', ['c1', 'c2']), call('c1'), call('c2', 'solo'), start('c1'), start('c2')]),
  ],
  ['TU-7: c1 gets the result of another call', () => calling('c1', 'c2').drives([result('c1', 'result of c2')])],
  [
    "TU-8: c1 has no result at its turn's end",
    () =>
      calling('c1')
        .input(cancel('turn', 't1'))
        .drives([ends('cancelled')]),
  ],
  [
    'TU-8: c1 succeeds in a cancelled turn',
    () =>
      calling('c1')
        .input(cancel('turn', 't1'))
        .drives([result('c1'), stepEnds(), ends('cancelled'), idle()]),
  ],
  ['TU-8: an answer is marked interrupted in a live turn', () => asked().drives([says('interrupted'), stepEnds(), ends(), idle()])],
  [
    'CAN-1: a whole answer in a cancelled turn',
    () =>
      asked()
        .input(cancel('turn', 't1'))
        .drives([says(), stepEnds(), ends('cancelled'), idle()]),
  ],
  ['CAN-1: t1 ends completed, cancelled by c', () => cancelled().drives([stepEnds(), ends(), idle()])],
  ['CAN-1: t1 ends cancelled, cancelled by nobody', () => asked().drives([stepEnds(), ends('cancelled'), idle()])],
  [
    'CAN-1: c1 starts in a cancelled turn',
    () =>
      asked()
        .drives([says('tool_calls', ['c1']), call('c1')])
        .input(cancel('turn', 't1'))
        .drives([start('c1')]),
  ],
  ['CAN-1: a retry in a cancelled turn', () => cancelled().drives([retries()])],
  [
    'CAN-1: a commit in a cancelled turn does not close it',
    () =>
      asked()
        .input(cancel('turn', 't1'))
        .drives([says('interrupted')]),
  ],
  [
    'CAN-1: s joins a cancelled turn',
    () =>
      asked()
        .input(receipt('s', 'steer'))
        .input(cancel('turn', 't1'))
        .drives([stepEnds(), admitted('s', 's2'), steps('s2')]),
  ],
  ['RE-2: assistant/message in a turn of an earlier activation', () => crashed().drives([says()], 'B', 2)],
  [
    'RE-2: a commit of another activation leaves the old turn open',
    () =>
      calling('c1')
        .crashes()
        .drives([failed('c1', 'tool_outcome_unknown')], 'B', 2),
  ],
  [
    'RE-2: the lost call c1 gets tool_not_started',
    () =>
      calling('c1')
        .crashes()
        .drives([failed('c1', 'tool_not_started'), ends('interrupted')], 'B', 2),
  ],
  ['RE-2: c1 is given up by a runtime that goes on', () => calling('c1').drives([failed('c1', 'tool_outcome_unknown')])],
  ['RE-2: a recovery ends a turn completed', () => crashed().drives([ends()], 'B', 2)],
  [
    'RE-2: idle, and t1 was not resumed',
    () =>
      asked()
        .crashes()
        .drives([ends('interrupted'), idle()], 'B', 2),
  ],
  [
    'RE-2: m2 opens a turn before t1 goes on',
    () =>
      asked()
        .input(receipt('m2'))
        .crashes()
        .drives([ends('interrupted'), opens('m2', 't2'), admitted('m2', 's2', 't2'), steps('s2', 't2')], 'B', 2),
  ],
  [
    'RE-2: a turn is resumed where the session settles',
    () =>
      settling()
        .prompted()
        .crashes()
        .drives([ends('interrupted'), resumes('t1', 't2'), steps('s2', 't2')], 'B', 2),
  ],
  [
    'RE-2: t9 is resumed',
    () =>
      asked()
        .crashes()
        .drives([ends('interrupted'), resumes('t9', 't2'), steps('s2', 't2')], 'B', 2),
  ],
  ['RE-2: a third resume in a row', () => exhausted().drives([ends('interrupted', 't3'), resumes('t3', 't4'), steps('s4', 't4')], 'D', 4)],
  [
    'RE-2: exhausted after 0 resumes',
    () =>
      asked()
        .crashes()
        .drives([ends('error', 't1', 'recovery_exhausted')], 'B', 2),
  ],
  ['RE-7: a runtime that goes on interrupts its own turn', () => asked().drives([ends('interrupted')])],
  [
    'RE-7: the runtime interrupted its turn to stop, and commits once more',
    () => {
      const story = asked()
      story.processes.stopping.add('A')
      return story.drives([ends('interrupted')]).drives([idle()])
    },
  ],
]

describe('what the holder of the lease may not commit', () => {
  it.each(bad)('is refused: %s', (rule, story) => {
    const { broken } = story()
    expect(broken.filter((what) => what.startsWith(rule))).not.toEqual([])
  })
})
