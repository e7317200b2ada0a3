// Random interleavings of prompt, steer, inject, withdraw, cancel, answers, crash and restart against the real driver, inbox and store.
import type { AnyFact } from '@quiesce/schema'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { brokenRules } from '../log/log-rules.fixture.ts'
import { applyFact, emptyState, isDue } from '../log/session-state.ts'
import { Transcript } from '../log/transcript.ts'
import { calls, done, fails, quiet, Rig, says } from './agent-rig.fixture.ts'

type Action =
  | { do: 'prompt'; delivery: 'followup' | 'steer' | 'inject'; idle: boolean }
  | { do: 'repeat' | 'withdraw'; which: number }
  | { do: 'cancel'; scope: 'turn' | 'session' }
  | { do: 'text' | 'tools' | 'fail' | 'finish' | 'finish-last' }
  | { do: 'crash' | 'restart' }
  | { do: 'let'; rounds: number }

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('prompt' as const),
      delivery: fc.constantFrom('followup', 'steer', 'inject'),
      idle: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('repeat' as const, 'withdraw' as const), which: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), scope: fc.constantFrom('turn', 'session') }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constantFrom('text', 'tools', 'tools', 'fail', 'finish', 'finish-last') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('crash', 'restart') }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('let' as const), rounds: fc.integer({ min: 1, max: 4 }) }) },
)

/** What the clients were told: it has to be in the log whatever happens (RE-1). */
interface Told {
  sent: string[]
  received: string[]
  withdrawn: string[]
  cancels: number
}

function act(rig: Rig, told: Told, step: Action): Promise<unknown> | undefined {
  const { runtime } = rig
  switch (step.do) {
    case 'prompt': {
      const messageId = `m${told.sent.length}`
      told.sent.push(messageId)
      return runtime.sessions
        .prompt({ sessionId: 's', content: messageId, messageId, delivery: step.delivery, ...(step.idle && { expect: 'idle' as const }) })
        .then(() => told.received.push(messageId))
    }
    case 'repeat': {
      const messageId = told.received[step.which]
      if (messageId === undefined) return undefined
      const other = { sessionId: 's', content: `not ${messageId}`, messageId }
      return runtime.sessions.prompt(other).then(() => Promise.reject(new Error('IN-3: another content was accepted')))
    }
    case 'withdraw': {
      const messageId = told.sent[step.which]
      if (messageId === undefined) return undefined
      return runtime.sessions.withdraw('s', messageId).then((gone) => gone && told.withdrawn.push(messageId))
    }
    case 'cancel':
      return runtime.sessions.cancel({ sessionId: 's', scope: step.scope }, 'test').then(({ cancelled }) => {
        if (cancelled) told.cancels += 1
      })
    case 'crash':
      return rig.crash().then(({ sessions }) => sessions.activate('s'))
    case 'restart': {
      const old = rig.runtime
      return old.sessions.shutdown().then(() => rig.boot().sessions.activate('s'))
    }
    case 'let':
      return quiet(rounds(step.rounds))
    default:
      answer(rig, step.do)
      return undefined
  }
}

function rounds(count: number): () => boolean {
  let left = count
  return () => left-- <= 0
}

function answer(rig: Rig, kind: 'text' | 'tools' | 'fail' | 'finish' | 'finish-last'): void {
  const { asked, called } = rig.runtime
  const [first] = asked
  if (kind === 'text') first?.answer(says('text'))
  else if (kind === 'fail') first?.answer(fails())
  else if (kind === 'tools') first?.answer(calls(first, ...(asked.length % 2 === 0 ? ['work', 'solo'] : ['work', 'more'])))
  else (kind === 'finish' ? called[0] : called.at(-1))?.finish(done('ok'))
}

/** Lets the agent come to rest: every question is answered, every tool finishes. */
async function rest(rig: Rig): Promise<void> {
  for (let i = 0; i < 300; i += 1) {
    await quiet(rounds(2))
    const { asked, called } = rig.runtime
    const state = (await rig.store.load('s'))?.state
    if (asked.length === 0 && called.length === 0 && state !== undefined && !isDue(state)) return
    asked[0]?.answer(says('end'))
    called[0]?.finish(done('ok'))
  }
}

/** The history that a model would see is valid: every call is answered, in call order, right behind its message. */
function brokenHistory(facts: readonly AnyFact[]): string[] {
  const transcript = new Transcript()
  for (const fact of facts) transcript.apply(fact)
  return transcript.messages.flatMap(({ role, content }, i) => {
    const next = transcript.messages[i + 1]
    const asked = content.flatMap((block) => (block.type === 'tool_use' ? [block.callId] : []))
    const answered = next?.content.flatMap((block) => (block.type === 'tool_result' ? [block.callId] : [])) ?? []
    if (role === 'assistant' && asked.length > 0 && asked.join() !== answered.join()) return [`${asked} is answered by ${answered}`]
    if (role === 'tool' && transcript.messages[i - 1]?.role !== 'assistant') return ['results without their message']
    return []
  })
}

const refusable = new Set(['session_busy', 'message_conflict', 'message_not_found', 'shutting_down'])

test('random interleavings keep every rule of the log, and what was answered is in it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 40 }), fc.constantFrom('resume', 'settle'), async (steps, recovery) => {
      const rig = new Rig()
      await rig.create('s', { recovery })
      const told: Told = { sent: [], received: [], withdrawn: [], cancels: 0 }
      const faults: unknown[] = []
      for (const step of steps) {
        const under = act(rig, told, step)?.catch((error: { code?: string }) => {
          if (!refusable.has(error.code ?? '')) faults.push(error)
        })
        if (step.do === 'let' || step.do === 'restart' || step.do === 'crash') await under
      }
      await rest(rig)
      expect(faults).toEqual([])
      expect(rig.runtime.reports).toEqual([])
      const facts = await rig.facts()
      expect(brokenRules(facts, true)).toEqual([])
      expect(brokenHistory(facts)).toEqual([])
      expect((await rig.store.load('s'))?.state).toEqual(facts.reduce(applyFact, emptyState))
      const receipts = facts.flatMap((fact) => (fact.type === 'inbox/receipt' ? [fact.data.message.id] : []))
      const withdrawn = facts.flatMap((fact) => (fact.type === 'inbox/cancelled' ? [fact.data.messageId] : []))
      for (const id of told.received) expect(receipts).toContain(id)
      for (const id of told.withdrawn) expect(withdrawn).toContain(id)
      expect(facts.filter((fact) => fact.type === 'agent/cancel').length).toBeGreaterThanOrEqual(told.cancels)
    }),
    // The time limit is a watchdog: a run that hangs is shown with its steps.
    { numRuns: Number(process.env.QUIESCE_RUNS ?? 150), timeout: 10_000 },
  )
}, 600_000)
