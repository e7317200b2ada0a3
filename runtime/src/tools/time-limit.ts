// Owns the promise that every call of a tool ends (ST-9): at its time limit, and soon after an abort, whatever hangs below it.
import type { Clock } from '../base/clock.ts'
import type { Tool, ToolContext, ToolOutcome } from './tool.ts'

/** How long a tool may take to end by itself once it is told to: longer than the shell needs to kill what it started. */
export const SETTLE_MS = 10_000

/** The same tool; a call of it that doesn't end is given up. What it hangs in is left behind, since nothing can end that. */
export function limited<Input>(tool: Tool<Input>, limitMs: number, clock: Clock): Tool<Input> {
  return { ...tool, execute: (input, context) => run(tool, input, context, limitMs, clock) }
}

function run<Input>(tool: Tool<Input>, input: Input, context: ToolContext, limitMs: number, clock: Clock): Promise<ToolOutcome> {
  const controller = new AbortController()
  const { signal } = context
  let why: 'timeout' | 'cancelled' | null = null
  return new Promise((resolve, reject) => {
    let cancel = () => {}
    const settle = (end: () => void) => {
      cancel()
      signal.removeEventListener('abort', abort)
      end()
    }
    const stop = (reason: 'timeout' | 'cancelled') => {
      why ??= reason
      cancel()
      cancel = clock.after(SETTLE_MS, () => settle(() => resolve(givenUp(tool, reason, limitMs))))
      controller.abort(reason === 'cancelled' ? signal.reason : new Error(reason))
    }
    const abort = () => stop('cancelled')
    signal.addEventListener('abort', abort)
    cancel = clock.after(limitMs, () => stop('timeout'))
    if (signal.aborted) abort()
    tool.execute(input, { ...context, signal: controller.signal }).then(
      (outcome) => settle(() => resolve(outcome)),
      (error: unknown) => settle(() => (why === null ? reject(error) : resolve(stopped(why, limitMs)))),
    )
  })
}

function stopped(why: 'timeout' | 'cancelled', limitMs: number): ToolOutcome {
  return failure(why, why === 'timeout' ? `stopped at the time limit of ${limitMs / 1_000} s` : 'stopped, because the call was cancelled')
}

function givenUp(tool: Pick<Tool, 'access'>, why: 'timeout' | 'cancelled', limitMs: number): ToolOutcome {
  const when = why === 'timeout' ? `at the time limit of ${limitMs / 1_000} s` : 'because the call was cancelled'
  const unknown = tool.access === 'read' ? '' : '; whether it changed anything is not known: look before you try again'
  return failure(why, `given up ${when}: it did not end by itself, perhaps since the file system does not answer${unknown}`)
}

function failure(why: 'timeout' | 'cancelled', message: string): ToolOutcome {
  const code = why === 'timeout' ? 'tool_timeout' : 'tool_cancelled'
  return { content: message, isError: true, error: { code, message, retryable: false } }
}
