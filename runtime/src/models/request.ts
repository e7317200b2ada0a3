// Owns one step's model request: parts to an answer, time limits, retries (TU-5), abort (TU-8). Knows no vendor.
import type { FactErrorOf, UsageOf } from '@quiesce/schema'
import { type Clock, pause } from '../base/clock.ts'
import { failpoint } from '../base/failpoint.ts'
import { addUsage, noUsage } from '../log/facts.ts'
import { AnswerBuilder } from './answer-builder.ts'
import type { Model, ModelPart, ModelRequest, Outcome } from './model.ts'
import { delayAfter, isRetried, type RetryPolicy } from './retry.ts'
import { SilenceWatch } from './silence-watch.ts'

export interface AnswerHooks {
  newCallId(): string
  /** Each part as it comes, those of attempts that fail later included. Must not throw. */
  onPart(part: ModelPart): void
  /** `attempt` is the number of the one that failed, from 1; awaited before the wait of `delayMs`. */
  onRetry(retry: { attempt: number; delayMs: number; error: FactErrorOf }): Promise<void>
}

export interface RequestOptions extends AnswerHooks {
  retry: RetryPolicy
  clock: Clock
  /** From 0 to below 1; for the jitter. */
  random(): number
}

/** How one attempt ended; `retryAfterMs` is the vendor's wish. */
type Ended = Outcome & { retryAfterMs?: number }

/**
 * Asks the model until it answers, fails for good or the request's signal aborts. *Contract:* never rejects; settles
 * soon after an abort, also where the model hangs. `usage` sums every attempt's, where known. A failed hook is a
 * failure with code `internal`.
 */
export async function requestAnswer(model: Model, request: ModelRequest, options: RequestOptions): Promise<Outcome> {
  let usage = noUsage
  let empties = 0
  for (let attempt = 1; ; attempt += 1) {
    const { retryAfterMs, ...ended } = await new Attempt(model, request, options).run()
    usage = addUsage(usage, ended.usage)
    if (ended.kind !== 'failure') return { ...ended, usage }
    const { error } = ended
    if (error.code === 'model_empty') empties += 1
    if (!isRetried(options.retry, attempt, error, empties)) return { ...ended, usage }
    const delayMs = delayAfter(options.retry, attempt, options.random(), retryAfterMs)
    try {
      await options.onRetry({ attempt, delayMs, error })
    } catch (fault) {
      return { kind: 'failure', error: failure('internal', `the retry could not be recorded: ${said(fault)}`, false), usage }
    }
    await pause(options.clock, delayMs, request.signal) // after an abort the next attempt ends before it asks
  }
}

/** One stream of a model, from its request to the first of: finish, failure, stall, abort. */
class Attempt {
  readonly #model: Model
  readonly #request: ModelRequest
  readonly #options: RequestOptions
  readonly #builder: AnswerBuilder
  /** Ends the vendor's stream alone: the request's own signal stays the caller's. */
  readonly #stop = new AbortController()
  #settle: ((ended: Ended) => void) | null = null

  constructor(model: Model, request: ModelRequest, options: RequestOptions) {
    this.#model = model
    this.#request = request
    this.#options = options
    this.#builder = new AnswerBuilder(options.newCallId)
  }

  async run(): Promise<Ended> {
    const { signal } = this.#request
    if (signal.aborted) return { kind: 'aborted', content: [], usage: noUsage }
    const { clock, retry } = this.#options
    const watch = new SilenceWatch(clock, retry, (message) => this.#fail(failure('model_stalled', message, true)))
    const onAbort = () => this.#end({ kind: 'aborted', content: this.#builder.spoken(), usage: noUsage })
    signal.addEventListener('abort', onAbort)
    const ended = await new Promise<Ended>((settle) => {
      this.#settle = settle
      void this.#read(watch)
    })
    watch.stop()
    signal.removeEventListener('abort', onAbort)
    if (ended.kind !== 'answer') this.#stop.abort() // after a finish there is nothing to stop, and an abort isn't cheap
    return ended
  }

  /** Reads to the end; a stream that hangs after the attempt was settled is left behind, and its late parts are dropped. */
  async #read(watch: SilenceWatch): Promise<void> {
    const onBytes = () => watch.touch()
    try {
      failpoint('model.before')
      for await (const part of this.#model.stream({ ...this.#request, signal: this.#stop.signal, onBytes })) {
        if (this.#settle === null) return
        watch.touch()
        this.#take(part)
        if (this.#settle === null) return
      }
      this.#fail(failure('model_stream', `${this.#model.name}: the stream ended without a finish`, true))
    } catch (fault) {
      this.#fail(failure('model_internal', `${this.#model.name}: ${said(fault)}`, false))
    }
  }

  #take(part: ModelPart): void {
    failpoint('model.part', () => part.type)
    this.#options.onPart(part)
    if (part.type === 'failure') this.#fail(part.error, part.usage, part.retryAfterMs)
    else if (part.type === 'finish') this.#finish(part)
    else this.#builder.add(part)
  }

  #finish(part: Extract<ModelPart, { type: 'finish' }>): void {
    const answer = this.#builder.finished(part.finish)
    if (answer !== null) this.#end({ kind: 'answer', ...answer, usage: part.usage })
    else this.#fail(failure('model_empty', `${this.#model.name}: the answer is empty (finish ${part.finish})`, true), part.usage)
  }

  #fail(error: FactErrorOf, usage: UsageOf = noUsage, retryAfterMs?: number): void {
    this.#end({ kind: 'failure', error, usage, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) })
  }

  #end(ended: Ended): void {
    this.#settle?.(ended)
    this.#settle = null
  }
}

function failure(code: FactErrorOf['code'], message: string, retryable: boolean): FactErrorOf {
  return { code, message, retryable }
}

function said(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault)
}
