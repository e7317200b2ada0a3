import { describe, expect, it } from 'vitest'
import { type Answer, type Ask, misled, unclaimed } from './reference-answers.fixture.ts'
import { admitted, answered, cancel, opens, receipt, retitled, running, Story, steps, withdrawn } from './reference-log.fixture.ts'
import { bodyOf } from './reference-state.fixture.ts'

const body = bodyOf({ delivery: 'followup', content: [{ type: 'text', text: 'm1' }] })
const prompt: Ask = { kind: 'prompt', id: 'm1', body, delivery: 'followup', idle: false }
const careful: Ask = { ...prompt, idle: true }
const cancels: Ask = { kind: 'cancel', by: 'c', scope: 'turn', turnId: undefined }
const cancelsAll: Ask = { ...cancels, scope: 'session' }
const withdraws: Ask = { kind: 'withdraw', id: 'm1' }
const yes = (value: unknown): Answer => ({ ok: true, value })
const no = (code: string): Answer => ({ ok: false, code })
const reached = (cancelled: boolean, ...ids: string[]): Answer => yes({ cancelled, withdrawn: ids.map((messageId) => ({ messageId })) })

/** What a client may be told of a story from its nth state on. */
function told(ask: Ask, answer: Answer, story: Story, since: number, but: { failed?: boolean; stopping?: boolean } = {}): string[] {
  const span = { failed: false, stopping: false, sole: true, ...but }
  return misled(ask, answer, { ...span, states: story.states.slice(since), happenings: story.happenings.slice(since) })
}

/** The states of a new story: unborn, created, taken. */
const NOW = 2

describe('what a client may be told', () => {
  it.each([
    ['a receipt that is there', prompt, yes({}), new Story().input(receipt('m1'))],
    ['a receipt on an idle agent', careful, yes({}), new Story().prompted()],
    [
      'busy, though idle again',
      careful,
      no('session_busy'),
      new Story().drives([receipt('m0'), running(), opens('m0'), admitted('m0'), steps()]).drives(answered),
    ],
    ['a conflict', prompt, no('message_conflict'), new Story().input(receipt('m1', 'followup', 'other'))],
    ['withdrawn', withdraws, yes(true), new Story().input(receipt('m1')).input(withdrawn('m1'))],
    ['too late to withdraw', withdraws, yes(false), new Story().prompted()],
    ['not received yet', withdraws, no('message_not_found'), new Story().input(receipt('m1'))],
    ['cancelled', cancels, reached(true), new Story().prompted().input(cancel('turn', 't1'))],
    ['nothing to cancel, though now there is', cancels, reached(false), new Story().prompted()],
    ['gone', prompt, no('session_not_found'), new Story().happens({ kind: 'deleted', by: 'X' })],
    ['updated', { kind: 'update', title: 'x' }, yes({}), new Story().input(retitled('x'))],
    ['deleted', { kind: 'delete' }, yes(undefined), new Story().happens({ kind: 'deleted', by: 'X' })],
  ] as [string, Ask, Answer, Story][])('accepts %s', (_, ask, answer, story) => {
    expect(told(ask, answer, story, NOW)).toEqual([])
  })

  it.each([
    ['IN-1: a receipt that is not committed', prompt, yes({}), new Story()],
    ['IN-3: a receipt of another message', prompt, yes({}), new Story().input(receipt('m1', 'steer'))],
    ['IN-3: a conflict with itself', prompt, no('message_conflict'), new Story().input(receipt('m1'))],
    ['IN-7: a receipt on a busy agent', careful, yes({}), new Story().input(receipt('m0')).input(receipt('m1'))],
    ['IN-7: busy that never was', careful, no('session_busy'), new Story()],
    ['IN-7: busy, and received', careful, no('session_busy'), new Story().input(receipt('m0')).input(receipt('m1'))],
    ['IN-8: withdrawn that was admitted', withdraws, yes(true), new Story().prompted()],
    ['IN-8: too late, and pending all the while', withdraws, yes(false), new Story().input(receipt('m1'))],
    ['CAN-1: cancelled without a cancel', cancels, reached(true), new Story().prompted()],
    ['CAN-1: not cancelled, and it is', cancels, reached(false), new Story().prompted().input(cancel('turn', 't1'))],
    ['CAN-1: a cancel of another scope', cancelsAll, reached(true), new Story().prompted().input(cancel('turn', 't1'))],
    [
      'CAN-2: withdrawals that are kept back',
      cancelsAll,
      reached(true),
      new Story().input(receipt('m1')).input(withdrawn('m1', 'cancelled'), cancel('session')),
    ],
    ['RE-6: a failure of a store that works', prompt, no('storage_unavailable'), new Story()],
    ['RE-7: a stop of a runtime that goes on', prompt, no('shutting_down'), new Story()],
    ['DEL-1: gone, and it is there', prompt, no('session_not_found'), new Story()],
    ['DEL-1: deleted, and it is there', { kind: 'delete' }, yes(undefined), new Story()],
    ['update: updated, and it is not', { kind: 'update', title: 'x' }, yes({}), new Story()],
    ['prompt: what no prompt is answered', prompt, no('already_answered'), new Story()],
  ] as [string, Ask, Answer, Story][])('refuses %s', (what, ask, answer, story) => {
    const broken = told(ask, answer, story, NOW)
    expect(broken).toHaveLength(1)
    expect(broken[0]?.split(/[: ]/)[0]).toBe(what.split(':')[0])
  })

  it('CAN-1: refuses that there was nothing to cancel while a turn was open all the time', () => {
    const story = new Story().prompted()
    expect(told(cancels, reached(false), story, story.states.length - 1)).toHaveLength(1)
  })

  it('RE-6, RE-7: accepts a failure and a stop that were, without a receipt', () => {
    expect(told(prompt, no('storage_unavailable'), new Story(), NOW, { failed: true })).toEqual([])
    expect(told(prompt, no('shutting_down'), new Story(), NOW, { stopping: true })).toEqual([])
    expect(told(prompt, no('storage_unavailable'), new Story().input(receipt('m1')), NOW, { failed: true })).toHaveLength(1)
  })

  it('IN-8: holds over the whole history that a withdrawal was told once, to whom it was', () => {
    const gone = new Story().input(receipt('m1')).input(withdrawn('m1')).state
    const claims = (count: number, unsure = 0) => new Map([['m1', { told: count, unsure }]])
    expect(unclaimed(gone, claims(1))).toEqual([])
    expect(unclaimed(gone, claims(0, 1))).toEqual([])
    expect(unclaimed(gone, claims(0))).toHaveLength(1)
    expect(unclaimed(gone, claims(2))).toHaveLength(1)
    expect(unclaimed(new Story().prompted().state, claims(1))).toHaveLength(1)
  })
})
