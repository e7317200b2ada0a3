// Owns the tool calls of one step: verdicts, starts, results as they come (TU-6, TU-7, CB-2).
import type { ContentBlockOf, FactErrorOf, UsageOf } from '@quiesce/schema'
import { failpoint } from '../base/failpoint.ts'
import type { Condition } from '../log/conditions.ts'
import { fact, type NewFact } from '../log/facts.ts'
import type { PathGuard, Tool, ToolContext, ToolOutcome } from '../tools/tool.ts'
import { type Driver, Halt, type OpenStep } from './driver.ts'
import { interruptTurn } from './recovery.ts'
import { closeTurn, continueTurn } from './turn.ts'

export type ToolUse = Extract<ContentBlockOf, { type: 'tool_use' }>

interface Call {
  callId: string
  tool: Tool
  input: unknown
  guard: PathGuard | undefined
}

/** What became of one asked-for call before anything ran: the facts about it, and the call where it may run. */
interface Plan {
  facts: NewFact[]
  call: Call | null
}

interface Result {
  callId: string
  outcome: ToolOutcome
  durationMs: number
}

/** Commits the answer with its calls, runs them, and goes on with the turn. *Contract:* throws Halt. */
export async function runCalls(
  driver: Driver,
  step: OpenStep,
  asked: { message: NewFact; calls: readonly ToolUse[]; usage: UsageOf },
): Promise<OpenStep | null> {
  const { usage } = asked
  const plans = await Promise.all(asked.calls.map((use) => plan(driver, step, use)))
  const calls = plans.flatMap(({ call }) => (call === null ? [] : [call]))
  const together = calls.every(({ tool }) => tool.parallel)
  const first = together ? calls : calls.slice(0, 1)
  const opening = [asked.message, ...plans.flatMap(({ facts }) => facts), ...first.map((call) => startFact(driver, call))]
  if (calls.length === 0) return continueTurn(driver, step, { facts: opening, usage })
  if ((await driver.commit(opening, live(step))) !== null) return closeTurn(driver, step, { facts: opening, usage })
  return together ? runTogether(driver, step, calls, usage) : runInOrder(driver, step, calls, usage)
}

const live = (step: OpenStep): Condition[] => [{ kind: 'turn-live', turnId: step.turnId }]
const startFact = (driver: Driver, call: Call): NewFact => fact('tool/start', driver.now(), { callId: call.callId })

async function runTogether(driver: Driver, step: OpenStep, calls: readonly Call[], usage: UsageOf): Promise<OpenStep | null> {
  const running = new Map(calls.map((call) => [call.callId, execute(driver, call)]))
  for (;;) {
    const result = await Promise.race(running.values())
    running.delete(result.callId)
    const facts = [resultFact(driver, result)]
    if (driver.signal.aborted) {
      const others = await Promise.all(running.values())
      return stopped(driver, step, [...facts, ...others.map((other) => resultFact(driver, other))], usage)
    }
    if (running.size === 0) return continueTurn(driver, step, { facts, usage })
    const unmet = await driver.commit(facts, live(step))
    if (unmet !== null) {
      driver.noticeCancel()
      const others = await Promise.all(running.values())
      return stopped(driver, step, [...facts, ...others.map((other) => resultFact(driver, other))], usage)
    }
  }
}

async function runInOrder(driver: Driver, step: OpenStep, calls: readonly Call[], usage: UsageOf): Promise<OpenStep | null> {
  for (const [i, call] of calls.entries()) {
    const facts = [resultFact(driver, await execute(driver, call))]
    if (driver.signal.aborted) return stopped(driver, step, facts, usage)
    const next = calls[i + 1]
    if (next === undefined) return continueTurn(driver, step, { facts, usage })
    if ((await driver.commit([...facts, startFact(driver, next)], live(step))) !== null) return stopped(driver, step, facts, usage)
  }
  throw new Error('a step without calls has nothing to run')
}

/** The turn was cancelled, or the runtime stops: nothing runs any more. */
async function stopped(driver: Driver, step: OpenStep, facts: NewFact[], usage: UsageOf): Promise<null> {
  const why: unknown = driver.signal.reason
  if (why === 'halt') throw new Halt('fenced')
  if (why === 'stop') return interruptTurn(driver)
  return closeTurn(driver, step, { facts, usage })
}

async function plan(driver: Driver, step: OpenStep, use: ToolUse): Promise<Plan> {
  const { callId, name, input } = use
  const { tools } = driver.ports
  const asked = fact('tool/call', driver.now(), { ...step, callId, name, input, provider: 'runtime' })
  const fails = (code: FactErrorOf['code'], message: string, before: NewFact[] = []): Plan => {
    const outcome = { content: message, isError: true, error: { code, message, retryable: false } }
    return { facts: [asked, ...before, resultFact(driver, { callId, outcome, durationMs: 0 })], call: null }
  }
  const enabled = tools.enabled(driver.config.tools)
  const tool = enabled.find((candidate) => candidate.name === name)
  if (tool === undefined) return fails('tool_unknown', `There is no tool "${name}". There are: ${enabled.map((t) => t.name).join(', ')}.`)
  const valid = tools.validate(tool, input)
  if (!valid.ok) return fails('tool_input', valid.message)
  const verdict = await tools.decide(driver.config.permissions, { tool, input: valid.input, ...places(driver) })
  if (verdict.action === 'deny') return fails('permission_denied', verdict.reason)
  if (verdict.action === 'ask') {
    const nobody = `${verdict.reason}, and no client of this session answers permission requests`
    return fails('permission_denied', `Denied: ${nobody}.`, deniedAtOnce(driver, use, tool.summary(valid.input), nobody))
  }
  return { facts: [asked], call: { callId, tool, input: valid.input, guard: verdict.guard } }
}

/** CB-2: an `ask` that nobody can answer is denied at once, visibly. */
function deniedAtOnce(driver: Driver, use: ToolUse, summary: string, feedback: string): NewFact[] {
  const now = driver.now()
  const requestId = driver.id('req')
  return [
    fact('permission/request', now, { requestId, callId: use.callId, tool: use.name, summary }),
    fact('permission/decision', now, { requestId, decision: 'deny', by: 'runtime', feedback }),
  ]
}

/** The turn was stopped between `tool/start` and the start itself. */
const notRun: ToolOutcome = {
  content: 'Not run: the turn was stopped first.',
  isError: true,
  error: { code: 'tool_cancelled', message: 'the turn was stopped before the tool ran', retryable: false },
}

/** Where the session's tools may work: one list for as long as it is driven here, so that its roots are known again. */
const knownPlaces = new WeakMap<Driver, Pick<ToolContext, 'cwd' | 'roots'>>()

function places(driver: Driver): Pick<ToolContext, 'cwd' | 'roots'> {
  const { cwd, roots } = driver.config
  const known = knownPlaces.get(driver) ?? { cwd, roots: [cwd, ...roots] }
  knownPlaces.set(driver, known)
  return known
}

async function execute(driver: Driver, call: Call): Promise<Result> {
  const { config, ports, signal } = driver
  if (signal.aborted) return { callId: call.callId, outcome: notRun, durationMs: 0 }
  const started = ports.clock.monotonic()
  const { guard } = call
  const env = ports.tools.environment(config.env)
  const { sessionId } = driver.session
  const spill = ports.outputs.place(sessionId, call.callId)
  const context = { sessionId, ...places(driver), env, ...(guard !== undefined && { guard }), spill, signal }
  failpoint('tool.before', () => call.tool.name)
  const outcome = await call.tool.execute(call.input, context).catch(failed)
  failpoint('tool.after', () => call.tool.name)
  return { callId: call.callId, outcome, durationMs: Math.max(0, Math.round(ports.clock.monotonic() - started)) }
}

function failed(error: unknown): ToolOutcome {
  const message = error instanceof Error ? error.message : String(error)
  return { content: message, isError: true, error: { code: 'tool_failed', message, retryable: false } }
}

function resultFact(driver: Driver, result: Result): NewFact {
  const { callId, outcome, durationMs } = result
  const { content, images, isError, error } = outcome
  const shown = { content, ...(images !== undefined && { images }) }
  return fact('tool/result', driver.now(), { callId, ...shown, isError, ...(error !== undefined && { error }), durationMs })
}
