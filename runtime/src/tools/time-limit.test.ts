import { expect, test } from 'vitest'
import * as z from 'zod/mini'
import { ManualClock } from '../base/clock.ts'
import { temporaryWorkspace } from './temporary-workspace.ts'
import { limited, SETTLE_MS } from './time-limit.ts'
import type { Access, Tool, ToolContext, ToolOutcome } from './tool.ts'

const done: ToolOutcome = { content: 'done', isError: false }

function toolThat(execute: (context: ToolContext) => Promise<ToolOutcome>, access: Access = 'read'): Tool {
  const words = { name: 'sample', description: 'A sample.', input: z.unknown(), summary: () => 'sample' }
  return { ...words, access, parallel: true, execute: (_, context) => execute(context) }
}

/** What a limited call of it answers, its context with this signal; `meanwhile` may move the clock. */
async function call(tool: Tool, clock: ManualClock, meanwhile: () => void = () => undefined, signal = new AbortController().signal) {
  await using workspace = await temporaryWorkspace()
  const calling = limited(tool, 1_000, clock).execute({}, { ...workspace.context, signal })
  // Nothing of it may go unseen while the clock moves.
  calling.catch(() => undefined)
  meanwhile()
  return await calling
}

/** Settles when its signal aborts, by that reason. */
const untilAborted = ({ signal }: ToolContext) =>
  new Promise<ToolOutcome>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

test('what ends by itself is as it was, and leaves no timer', async () => {
  const clock = new ManualClock()
  expect(
    await call(
      toolThat(async () => done),
      clock,
    ),
  ).toBe(done)
  await expect(
    call(
      toolThat(() => Promise.reject(new Error('bad'))),
      clock,
    ),
  ).rejects.toThrow('bad')
  expect(clock.waiting).toBe(0)
})

test('at the limit it is told to stop, and stops', async () => {
  const clock = new ManualClock()
  const message = 'stopped at the time limit of 1 s'
  const outcome = await call(toolThat(untilAborted), clock, () => clock.advance(1_000))
  expect(outcome).toEqual({ content: message, isError: true, error: { code: 'tool_timeout', message, retryable: false } })
  expect(clock.waiting).toBe(0)
})

test('what it answers once it is told to stop is its answer', async () => {
  const clock = new ManualClock()
  const partial = { content: 'half', isError: true }
  const tool = toolThat((context) => untilAborted(context).catch(() => partial))
  expect(await call(tool, clock, () => clock.advance(1_000))).toBe(partial)
})

test('an abort reaches it with its reason', async () => {
  const clock = new ManualClock()
  const controller = new AbortController()
  let reason: unknown
  const tool = toolThat((context) => {
    context.signal.addEventListener('abort', () => {
      reason = context.signal.reason
    })
    return untilAborted(context)
  })
  const outcome = await call(tool, clock, () => controller.abort('cancel'), controller.signal)
  expect(reason).toBe('cancel')
  expect(outcome.error).toEqual({ code: 'tool_cancelled', message: 'stopped, because the call was cancelled', retryable: false })
  expect(
    (
      await call(
        toolThat(async ({ signal }) => ({ content: String(signal.aborted), isError: false })),
        clock,
        undefined,
        controller.signal,
      )
    ).content,
  ).toBe('true')
  expect(clock.waiting).toBe(0)
})

test.each([
  ['read', ''],
  ['edit', '; whether it changed anything is not known: look before you try again'],
] as const)('what does not even stop is given up: %s', async (access, more) => {
  const clock = new ManualClock()
  const deaf = toolThat(() => new Promise(() => undefined), access)
  const late = await call(deaf, clock, () => clock.advance(1_000 + SETTLE_MS))
  const because = 'it did not end by itself, perhaps since the file system does not answer'
  expect(late.error).toEqual({ code: 'tool_timeout', message: `given up at the time limit of 1 s: ${because}${more}`, retryable: false })
  const controller = new AbortController()
  const cancelled = await call(
    deaf,
    clock,
    () => {
      controller.abort('cancel')
      clock.advance(SETTLE_MS)
    },
    controller.signal,
  )
  expect(cancelled.error).toEqual({
    code: 'tool_cancelled',
    message: `given up because the call was cancelled: ${because}${more}`,
    retryable: false,
  })
  expect(clock.waiting).toBe(0)
})
