// Owns the way from a vendor's errors to the runtime's: the code, whether it is transient, and no secret in the message.
import { APICallError } from '@ai-sdk/provider'
import type { FactErrorOf } from '@quiesce/schema'
import type { Heard } from './heard-fetch.ts'
import { isContextLength, type Verdict, verdictOf } from './http-status.ts'

export interface VendorFailure {
  error: FactErrorOf
  retryAfterMs?: number
}

export interface Circumstances {
  /** Whether the SDK had begun to hand out the answer. */
  begun: boolean
  heard: Heard
  /** Unix milliseconds. */
  now: number
  scrub(text: string): string
}

const messageLimit = 500

/** A thrown error: an HTTP status, a connection that failed before or amid the answer, or a request that can't be made. */
export function fromThrown(thrown: unknown, { begun, heard, now, scrub }: Circumstances): VendorFailure {
  if (!APICallError.isInstance(thrown)) {
    const verdict: Verdict = begun ? { code: 'model_stream', retryable: true } : { code: 'model_request', retryable: false }
    return { error: made(verdict, scrub(issuesIn(thrown) ?? messageOf(thrown))) }
  }
  const { statusCode: status, responseHeaders: headers = {}, responseBody } = thrown
  const message = scrub(withCause(thrown))
  if (status === undefined) return { error: made({ code: 'model_network', retryable: true }, message) }
  if (status < 300) return { error: made({ code: 'model_stream', retryable: true }, `the stream broke off: ${message}`) }
  if (status < 400)
    return { error: refused(scrub(`HTTP ${status}: a redirect to ${headers.location}, which isn't followed: correct baseURL`)) }
  // An error event that came before all else is thrown too, as if it were a status.
  if (heard.status !== undefined && heard.status < 300) return fromEvent(eventIn(responseBody) ?? { message }, scrub)
  const words = scrub(wordsOf(thrown))
  const text = `HTTP ${status}${words === '' ? '' : `: ${words}`}`
  const retryAfterMs = retryAfter(headers, now)
  const error = made(verdictOf(status, `${words} ${codeIn(thrown.data)} ${responseBody ?? ''}`), text)
  return retryAfterMs === undefined ? { error } : { error, retryAfterMs }
}

/** An error event in a stream that had begun: a plain value of the vendor's, or what the parser says of it. */
export function fromEvent(event: unknown, scrub: (text: string) => string): VendorFailure {
  if (APICallError.isInstance(event)) return { error: refused(scrub(ofOtherFormat(event) ?? messageOf(event))) }
  const inner = innermost(event)
  const message = scrub(messageOf(inner))
  const status = numberIn(inner, 'code') ?? numberIn(inner, 'status')
  const words = `${stringIn(inner, 'type')} ${stringIn(inner, 'code')}`
  const verdict = status !== undefined && status >= 400 ? verdictOf(status, message) : ofWords(words, message)
  return { error: made(verdict, message) }
}

/** A finish that isn't one of the four that end an answer. */
export function fromFinish(raw: string): VendorFailure {
  const message = `the stream ended with the finish reason ${JSON.stringify(raw)}, which ends no answer`
  if (raw === 'insufficient_system_resource') return { error: made({ code: 'model_overloaded', retryable: true }, message) }
  return { error: made({ code: 'model_stream', retryable: raw === 'error' }, message) }
}

/** A stream that ended without any finish; often no stream at all, but a page or an error in JSON. */
export function withoutFinish({ head, contentType }: Heard, scrub: (text: string) => string): VendorFailure {
  if (head === undefined) return { error: made({ code: 'model_stream', retryable: true }, 'the stream ended without a finish') }
  const body = parsed(head)
  if (isRecord(body) && body.error !== undefined && body.error !== null) return fromEvent(body, scrub)
  const message = `the answer is ${contentType} and no event stream: ${plain(head)}`
  return { error: made({ code: 'model_stream', retryable: true }, scrub(message)) }
}

/** What can't be asked of this vendor, in words for who asked. */
export function refused(message: string): FactErrorOf {
  return made({ code: 'model_request', retryable: false }, message)
}

function made({ code, retryable }: Verdict, message: string): FactErrorOf {
  return { code, message: cut(message), retryable }
}

function cut(text: string): string {
  return text.length > messageLimit ? `${text.slice(0, messageLimit)}…` : text
}

function ofWords(words: string, message: string): Verdict {
  if (isContextLength(`${words} ${message}`)) return { code: 'model_context_length', retryable: false }
  if (/rate_limit|insufficient_quota/.test(words)) return { code: 'model_rate_limit', retryable: true }
  if (/overloaded|unavailable|capacity/.test(words)) return { code: 'model_overloaded', retryable: true }
  if (/authentication|permission|invalid_api_key/.test(words)) return { code: 'model_auth', retryable: false }
  if (/invalid|not_found|bad_request|too_large|billing|policy/.test(words)) return { code: 'model_request', retryable: false }
  if (/server_error|api_error|internal|timeout/.test(words)) return { code: 'model_internal', retryable: true }
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

/** Where the SDK knows no message in a body, the body may have one all the same, if only it is no page. */
function wordsOf(error: APICallError): string {
  const { data, responseBody = '' } = error
  if (data !== undefined || responseBody.trim() === '' || /^\s*</.test(responseBody)) return withCause(error)
  const body = innermost(parsed(responseBody))
  return [error.message, body === undefined ? plain(responseBody) : messageOf(body)].filter((words) => words !== '').join(': ')
}

/** What is wrong with options, by their paths: the SDK's own words are long and name no place. */
function issuesIn(thrown: unknown): string | undefined {
  const validation = thrown instanceof Error ? thrown.cause : undefined
  const found = validation instanceof Error && isRecord(validation.cause) ? validation.cause.issues : undefined
  if (!Array.isArray(found)) return undefined
  const issues = found.map((issue: unknown) => {
    const path = isRecord(issue) && Array.isArray(issue.path) ? issue.path.join('.') : ''
    return `${['modelOptions.providerOptions', path].filter((part) => part !== '').join('.')}: ${stringIn(issue, 'message')}`
  })
  return issues.join('; ')
}

/** A stream of the other API of OpenAI's: the SDK says so, and advises its own users. */
function ofOtherFormat({ message }: APICallError): string | undefined {
  if (!message.startsWith('Received a Chat Completions stream')) return undefined
  return 'the server answers in the format of chat completions and not of the Responses API: choose the chat API, or openai-compatible'
}

/** An error event as a vendor wrote it. */
function eventIn(text: string | undefined): unknown {
  const event = parsed(text)
  return stringIn(event, 'message') !== '' || innermost(event) !== event ? event : undefined
}

/** The vendor's own error, out of what it came in. */
function innermost(event: unknown): unknown {
  if (!isRecord(event)) return event
  const { name, value, response, error } = event
  if (name === 'AI_TypeValidationError' && isRecord(value) && value.error !== undefined && value.error !== null) return innermost(value)
  if (isRecord(response) && response.error !== undefined && response.error !== null) return innermost(response.error)
  return isRecord(error) || typeof error === 'string' ? innermost(error) : event
}

function messageOf(value: unknown): string {
  if (value instanceof Error) return withCause(value)
  if (typeof value === 'string') return value
  const message = stringIn(value, 'message')
  return message === '' ? (JSON.stringify(value) ?? String(value)) : message
}

function plain(text: string): string {
  return cut(text.replaceAll(/\s+/g, ' ').trim())
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
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
