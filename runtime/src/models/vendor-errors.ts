// Owns the way from a vendor's errors to the runtime's: the code, whether it is transient, and no secret in the message.
import { APICallError } from '@ai-sdk/provider'
import type { FactErrorOf } from '@quiesce/schema'
import { isContextLength, type Verdict, verdictOf } from './http-status.ts'

export interface VendorFailure {
  error: FactErrorOf
  retryAfterMs?: number
}

const messageLimit = 500

/** A thrown error: an HTTP status, a connection that failed before or amid the answer, or a request that can't be made. */
export function fromThrown(thrown: unknown, begun: boolean, now: number, scrub: (text: string) => string): VendorFailure {
  if (!APICallError.isInstance(thrown)) {
    const verdict: Verdict = begun ? { code: 'model_stream', retryable: true } : { code: 'model_request', retryable: false }
    return { error: made(verdict, scrub(messageOf(thrown))) }
  }
  const { statusCode: status, responseHeaders } = thrown
  const message = scrub(withCause(thrown))
  if (status === undefined) return { error: made({ code: 'model_network', retryable: true }, message) }
  if (status < 400) return { error: made({ code: 'model_stream', retryable: true }, `the stream broke off: ${message}`) }
  const text = `HTTP ${status}${message === '' ? '' : `: ${message}`}`
  const retryAfterMs = retryAfter(responseHeaders ?? {}, now)
  const error = made(verdictOf(status, `${message} ${codeIn(thrown.data)}`), text)
  return retryAfterMs === undefined ? { error } : { error, retryAfterMs }
}

/** An error event in a stream that had begun: a plain value of the vendor's, or what the parser says of it. */
export function fromEvent(event: unknown, scrub: (text: string) => string): VendorFailure {
  const message = scrub(messageOf(event))
  const status = numberIn(event, 'code') ?? numberIn(event, 'status')
  const words = `${stringIn(event, 'type')} ${stringIn(event, 'code')}`
  const verdict = status !== undefined && status >= 400 ? verdictOf(status, message) : ofWords(words, message)
  return { error: made(verdict, message) }
}

/** A finish that isn't one of the four that end an answer. */
export function fromFinish(raw: string | undefined): VendorFailure {
  const message = `the stream ended with the finish reason ${JSON.stringify(raw ?? null)}, which ends no answer`
  if (raw === 'insufficient_system_resource') return { error: made({ code: 'model_overloaded', retryable: true }, message) }
  return { error: made({ code: 'model_stream', retryable: raw === undefined || raw === 'error' }, message) }
}

/** Takes every secret out of a text, however it is written in it. */
export function scrubber(secrets: readonly string[]): (text: string) => string {
  const forms = new Set(
    secrets
      .filter((secret) => secret !== '')
      .flatMap((secret) => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]),
  )
  const longestFirst = [...forms].sort((a, b) => b.length - a.length)
  return (text) => longestFirst.reduce((rest, form) => rest.replaceAll(form, '[secret]'), text)
}

function made({ code, retryable }: Verdict, message: string): FactErrorOf {
  return { code, message: message.length > messageLimit ? `${message.slice(0, messageLimit)}…` : message, retryable }
}

function ofWords(words: string, message: string): Verdict {
  if (isContextLength(`${words} ${message}`)) return { code: 'model_context_length', retryable: false }
  if (/rate_limit|insufficient_quota/.test(words)) return { code: 'model_rate_limit', retryable: true }
  if (/overloaded|unavailable|capacity/.test(words)) return { code: 'model_overloaded', retryable: true }
  if (/authentication|permission|invalid_api_key/.test(words)) return { code: 'model_auth', retryable: false }
  if (/invalid_request|not_found/.test(words)) return { code: 'model_request', retryable: false }
  if (/server_error|api_error|internal/.test(words)) return { code: 'model_internal', retryable: true }
  return { code: 'model_stream', retryable: true }
}

/** Seconds or a date in `retry-after`, or milliseconds in `retry-after-ms`. */
function retryAfter(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const ms = Number.parseFloat(headers['retry-after-ms'] ?? '')
  if (ms >= 0) return Math.ceil(ms)
  const text = headers['retry-after']
  if (text === undefined) return undefined
  const seconds = Number(text)
  const wait = Number.isNaN(seconds) ? Date.parse(text) - now : seconds * 1000
  return wait >= 0 ? Math.ceil(wait) : undefined
}

/** The SDK's words for a broken body say nothing; their cause does. */
function withCause(error: Error): string {
  const { cause } = error
  if (!(cause instanceof Error) || error.message.includes(cause.message)) return error.message
  const deeper = cause.cause instanceof Error ? `: ${cause.cause.message}` : ''
  return `${error.message}: ${cause.message}${deeper}`
}

function messageOf(value: unknown): string {
  if (value instanceof Error) return withCause(value)
  if (typeof value === 'string') return value
  const message = stringIn(value, 'message')
  return message === '' ? (JSON.stringify(value) ?? String(value)) : message
}

function codeIn(data: unknown): string {
  return isRecord(data) && isRecord(data.error) ? `${stringIn(data.error, 'code')} ${stringIn(data.error, 'type')}` : ''
}

function stringIn(value: unknown, key: string): string {
  const found = isRecord(value) ? value[key] : undefined
  return typeof found === 'string' ? found : ''
}

function numberIn(value: unknown, key: string): number | undefined {
  const found = isRecord(value) ? value[key] : undefined
  return typeof found === 'number' ? found : undefined
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
