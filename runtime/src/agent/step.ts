// Owns one step: the model request, and what follows from its outcome (TU-4, TU-5, TU-8).
import type { ContentBlockOf, FinishOf, TurnEndReasonOf, UsageOf } from '@quiesce/schema'
import { fact, type NewFact, noUsage } from '../log/facts.ts'
import type { Outcome } from '../models/model.ts'
import { type Driver, Halt, type OpenStep } from './driver.ts'
import type { AnswerHooks } from './ports.ts'
import { interruptTurn } from './recovery.ts'
import { runCalls, type ToolUse } from './tool-calls.ts'
import { closeTurn, endTurn } from './turn.ts'

/** Runs the open step to its end; the next one, or null where the turn ended. *Contract:* throws Halt. */
export async function runStep(driver: Driver, step: OpenStep): Promise<OpenStep | null> {
  const outcome = await ask(driver, step)
  if (driver.signal.aborted) return stopped(driver, step, outcome)
  if (outcome.kind === 'answer') return answered(driver, step, outcome)
  if (outcome.kind === 'aborted') return stopped(driver, step, outcome)
  return endTurn(driver, step, { facts: [], usage: outcome.usage }, { kind: 'error', error: outcome.error })
}

async function ask(driver: Driver, step: OpenStep): Promise<Outcome> {
  const [transcript, system] = [await driver.transcript(), await driver.system()]
  if (driver.signal.aborted) return { kind: 'aborted', content: [], usage: noUsage }
  const { config, ports, signal } = driver
  const { sessionId } = driver.session
  const messages = transcript.messages.map(({ role, content }) => ({ role: role as 'user' | 'assistant' | 'tool', content }))
  const request = { system, messages, tools: ports.tools.specs(config.tools), options: config.modelOptions ?? {}, sessionId, signal }
  return ports.models.answer(config.model, request, hooks(driver, step))
}

function hooks(driver: Driver, step: OpenStep): AnswerHooks {
  return {
    newCallId: () => driver.id('call'),
    onPart: (part) => {
      if ((part.type === 'text' || part.type === 'reasoning') && part.text !== '')
        driver.session.delta({ ...step, kind: part.type, index: 0, text: part.text })
      if (part.type === 'tool_input') driver.session.delta({ ...step, kind: 'tool_input', index: part.index, text: part.text })
    },
    onRetry: async (retry) => {
      const made = fact('model/retry', driver.now(), { stepId: step.stepId, ...retry })
      await driver.commit([made], [{ kind: 'turn-live', turnId: step.turnId }])
    },
  }
}

async function answered(driver: Driver, step: OpenStep, answer: Outcome & { kind: 'answer' }): Promise<OpenStep | null> {
  const { content, finish, usage } = answer
  const message = messageFact(driver, step, content, finish, usage)
  const calls = content.filter((block): block is ToolUse => block.type === 'tool_use')
  const reason = endedBy(finish)
  if (calls.length > 0 && reason.kind === 'completed') return runCalls(driver, step, { message, calls, usage })
  const unused = calls.flatMap((call) => cutOff(driver, step, call))
  return endTurn(driver, step, { facts: [message, ...unused], usage }, reason)
}

function endedBy(finish: FinishOf): TurnEndReasonOf {
  if (finish === 'length') return { kind: 'max_tokens' }
  if (finish === 'content_filter') return { kind: 'refused' }
  return { kind: 'completed' }
}

/** A call of an answer that the length limit cut is never executed (TU-5); the history stays valid. */
function cutOff(driver: Driver, step: OpenStep, call: ToolUse): NewFact[] {
  const now = driver.now()
  const { callId, name, input } = call
  const error = { code: 'tool_not_started', message: 'the answer was cut off before the call was whole', retryable: false } as const
  return [
    fact('tool/call', now, { ...step, callId, name, input, provider: 'runtime' }),
    fact('tool/result', now, { callId, content: `Not executed: ${error.message}.`, isError: true, error, durationMs: 0 }),
  ]
}

function messageFact(driver: Driver, step: OpenStep, content: ContentBlockOf[], finish: FinishOf, usage: UsageOf): NewFact {
  const { model } = driver.config
  return fact('assistant/message', driver.now(), { ...step, outputId: driver.id('out'), content, model, finish, usage })
}

/** The signal aborted: a cancel closes the turn, a stop of the runtime interrupts it. */
async function stopped(driver: Driver, step: OpenStep, outcome: Outcome): Promise<null> {
  const why: unknown = driver.signal.reason
  if (why === 'halt') throw new Halt('fenced')
  if (why === 'stop') return interruptTurn(driver)
  const text = outcome.kind === 'failure' ? [] : outcome.content.filter((block) => block.type === 'text')
  const facts = text.length > 0 ? [messageFact(driver, step, text, 'interrupted', outcome.usage)] : []
  return closeTurn(driver, step, { facts, usage: outcome.usage })
}
