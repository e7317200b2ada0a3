// Owns what an HTTP status of a model's server means: the code, and whether it is transient (TU-5).
import type { FactErrorOf } from '@quiesce/schema'

export type Verdict = Pick<FactErrorOf, 'code' | 'retryable'>

const contextLength = /context[ _](length|window|limit|size)|maximum context|too many tokens|prompt is too long/i

/** Do the words of a refusal say that the conversation is too long? */
export function isContextLength(words: string): boolean {
  return contextLength.test(words)
}

/** `words` are what the server said: only they tell a conversation that is too long from any other bad request. */
export function verdictOf(status: number, words = ''): Verdict {
  if (status === 401 || status === 403) return { code: 'model_auth', retryable: false }
  if (status === 429) return { code: 'model_rate_limit', retryable: true }
  if (status === 408 || status === 409 || status === 503 || status === 529) return { code: 'model_overloaded', retryable: true }
  if (status >= 500) return { code: 'model_internal', retryable: true }
  return { code: isContextLength(words) ? 'model_context_length' : 'model_request', retryable: false }
}
