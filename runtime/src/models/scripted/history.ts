// Owns what a scripted model reads out of a request: what was asked, and how far the answer to it has come.
import type { ModelMessage } from '../model.ts'

export function textOf(message: ModelMessage | undefined): string {
  return (message?.content ?? []).flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
}

export function assistantCount(messages: readonly ModelMessage[]): number {
  return messages.filter((message) => message.role === 'assistant').length
}

/** The text of the last user message: the prompt, or the steering that came after it. */
export function lastInput(messages: readonly ModelMessage[]): string {
  return textOf(messages.findLast((message) => message.role === 'user'))
}

/** The result of the last call, `""` before the first. */
export function lastToolResult(messages: readonly ModelMessage[]): string {
  return resultsOf(messages.findLast((message) => message.role === 'tool')).at(-1)?.text ?? ''
}

export interface Result {
  text: string
  isError: boolean
}

/** The results of one step, in call order. */
function resultsOf(message: ModelMessage | undefined): Result[] {
  return (message?.content ?? []).flatMap((block) =>
    block.type === 'tool_result' ? [{ text: block.content, isError: block.isError === true }] : [],
  )
}

export interface Exchange {
  /** What the exchange was opened with. */
  opener: string
  /** User messages that came after the opener, before its end. */
  steering: string[]
  /** Assistant messages since the opener: the index of the step to play. */
  step: number
  /** The results of each step since the opener. */
  results: Result[][]
}

/**
 * The exchange that the request is in. It opens at the latest user message that `opens` accepts; where there is none
 * since the last answer that asked for no tool, at the first one since then. Further user messages are steering.
 */
export function exchangeOf(messages: readonly ModelMessage[], opens: (text: string) => boolean): Exchange {
  const from =
    messages.findLastIndex((message) => message.role === 'assistant' && !message.content.some((block) => block.type === 'tool_use')) + 1
  const since = messages.slice(from)
  const accepted = since.findLastIndex((message) => message.role === 'user' && opens(textOf(message)))
  const first = since.findIndex((message) => message.role === 'user')
  const start = accepted === -1 ? Math.max(first, 0) : accepted
  const after = since.slice(start + 1)
  return {
    opener: textOf(since[start]),
    steering: after.filter((message) => message.role === 'user').map(textOf),
    step: assistantCount(after),
    results: after.filter((message) => message.role === 'tool').map(resultsOf),
  }
}
