// Owns one run: subscribe, prompt, follow the facts to the reducer's word, let go; and what becomes of the work when its caller
// gives up (RUN-9).
import { onAbort } from './abort.ts'
import { CallSite } from './call-site.ts'
import { type RunInterval, RunReducer, type RunResult, type SessionEvent, type Until } from './collect.ts'
import type { Connect, Connection, Subscription } from './connection.ts'
import { deferred, within } from './deferred.ts'
import {
  type AbortOutcome,
  type GivenUpRun,
  ProtocolError,
  type QuiesceError,
  RpcError,
  RunAbortedError,
  RunTimeoutError,
} from './errors.ts'
import type { ContentInput, Metadata, SessionDeltaParams } from './generated/protocol.ts'

export interface CollectOptions {
  /** `idle` (default): the first idle after the message's receipt. `quiescent`: the first one that waits on nothing (RUN-3). */
  until?: Until | undefined
  /** How long it may take in all, in milliseconds. No limit by default (RUN-9). */
  timeoutMs?: number | undefined
  /** How long nothing may be heard of the session, in milliseconds. No limit by default (RUN-9). */
  inactivityTimeoutMs?: number | undefined
  /** Gives up when it is aborted. */
  signal?: AbortSignal | undefined
  /**
   * What giving up does. `cancel` withdraws the message or, where it was admitted, cancels the whole tree, unless another
   * client's message lies in the interval. `detach` leaves the work alone. Default: `cancel` for `run` and `stream`, `detach`
   * for `collect`, since somebody else may be waiting for that message.
   */
  onAbort?: 'cancel' | 'detach' | undefined
}

export interface RunOptions extends CollectOptions {
  /** Where the agent is busy: `join` (default) waits in its queue, `reject` throws SessionBusyError and enqueues nothing (RUN-8). */
  onBusy?: 'join' | 'reject' | undefined
  /** Kept with the message, as it is. */
  metadata?: Metadata | undefined
}

export interface RunPlan extends RunOptions {
  sessionId: string
  messageId: string
  /** What to prompt; absent where a message that is there already is collected. */
  content?: ContentInput
}

/** Hears the interval as it comes: its facts, each once and in order, and deltas. */
export interface RunListener {
  event(event: SessionEvent): void
  delta(delta: SessionDeltaParams): void
}

type GivenUpErrorClass = new (message: string, run: GivenUpRun, options?: ErrorOptions) => QuiesceError

/** How long each request of giving up may take, in milliseconds, before the outcome is `unconfirmed`. */
const givingUpMs = 5000
const longestTimer = 2 ** 31 - 1

/**
 * Follows a message from its receipt to the end of its interval.
 * @throws what the requests throw; RunTimeoutError, RunAbortedError; ProtocolError where a fact is missing or malformed.
 */
export async function follow(connect: Connect, plan: RunPlan, listener?: RunListener): Promise<RunResult> {
  const site = new CallSite(follow)
  const run = new Run(connect, plan, listener)
  const unwatch = run.watch()
  try {
    return await run.result()
  } catch (error) {
    throw site.shownIn(error)
  } finally {
    unwatch()
  }
}

/** Refuses a time limit that no timer can keep. */
export function checkLimit(name: string, ms: number | undefined): void {
  if (ms === undefined || (ms > 0 && ms <= longestTimer)) return
  throw new RangeError(`${name} must be more than 0 and at most ${longestTimer} milliseconds, or left out for no limit; got ${ms}`)
}

class Run {
  readonly #connect: Connect
  readonly #plan: RunPlan
  readonly #listener: RunListener | undefined
  readonly #verdict = deferred<RunResult>()
  #connection: Connection | undefined
  #reducer: RunReducer
  #subscription: Subscription | undefined
  #prompted: Promise<void> | undefined
  #quiet: NodeJS.Timeout | undefined
  #givingUp = false
  #failed = false
  #lastStatus: string | null = null
  #lastEvent: SessionEvent | null = null

  constructor(connect: Connect, plan: RunPlan, listener: RunListener | undefined) {
    this.#connect = connect
    this.#plan = plan
    this.#listener = listener
    this.#reducer = new RunReducer(this.#interval())
  }

  /** Arms the limits and the signal; what it gives disarms them, and ends the subscription. */
  watch(): () => void {
    const { signal, timeoutMs, inactivityTimeoutMs } = this.#plan
    const abort = (): void => this.#giveUp('was aborted', RunAbortedError, { cause: signal?.reason })
    const expire = (limit: string) => (): void => this.#giveUp(`exceeded ${limit}`, RunTimeoutError)
    const total = timeoutMs === undefined ? undefined : setTimeout(expire(`timeoutMs (${timeoutMs} ms)`), timeoutMs)
    if (inactivityTimeoutMs !== undefined) {
      this.#quiet = setTimeout(expire(`inactivityTimeoutMs (${inactivityTimeoutMs} ms without any fact)`), inactivityTimeoutMs)
    }
    const deafen = onAbort(signal, abort)
    return () => {
      clearTimeout(total)
      clearTimeout(this.#quiet)
      deafen()
      this.#subscription?.close()
    }
  }

  result(): Promise<RunResult> {
    if (!this.#givingUp) this.#begin().catch((error: unknown) => this.#fail(error))
    return this.#verdict.promise
  }

  /** Subscribes first, so that no fact of the message is missed; then prompts, with an id that is known beforehand. */
  async #begin(): Promise<void> {
    const { sessionId, messageId, content } = this.#plan
    const connection = await this.#connect()
    if (this.#givingUp) return
    this.#connection = connection
    const cursor = content === undefined ? { from: { messageId } } : { after: 'now' as const }
    const deltas = this.#listener === undefined ? {} : { deltas: true }
    this.#subscription = connection.subscribe(
      { sessionId, ...cursor, activate: true, ...deltas },
      { event: (event) => this.#event(event), delta: (delta) => this.#delta(delta), failed: (error) => this.#fail(error) },
    )
    const { status, seq } = await this.#subscription.opened
    this.#lastStatus ??= status
    // What the caller was told has failed by now must not be begun.
    if (content === undefined || this.#givingUp || this.#failed) return
    if (this.#lastEvent === null) this.#reducer = new RunReducer({ ...this.#interval(), after: seq })
    this.#prompted = this.#prompt(connection, content)
    await this.#prompted
  }

  async #prompt(connection: Connection, content: ContentInput): Promise<void> {
    const { sessionId, messageId, onBusy, metadata } = this.#plan
    const expect = onBusy === 'reject' ? { expect: 'idle' as const } : {}
    const kept = metadata === undefined ? {} : { metadata }
    const receipt = await connection.call('session/prompt', { sessionId, messageId, content, ...expect, ...kept })
    if (receipt.messageId === messageId) return
    throw new ProtocolError(`the runtime gave message ${messageId} the id ${receipt.messageId}`)
  }

  #interval(): RunInterval {
    const { sessionId, messageId, until = 'idle' } = this.#plan
    return { sessionId, messageId, until }
  }

  #event(event: SessionEvent): void {
    this.#quiet?.refresh()
    this.#lastEvent = event
    if (event.type === 'agent/status') this.#lastStatus = event.data.status
    if (this.#reducer.add(event)) this.#listener?.event(event)
    if (this.#reducer.ended && !this.#givingUp) this.#verdict.resolve(this.#reducer.result())
  }

  #delta(delta: SessionDeltaParams): void {
    this.#quiet?.refresh()
    if (this.#reducer.begun) this.#listener?.delta(delta)
  }

  /** Once the caller has given up, the outcome of that is the verdict, whatever else fails. */
  #fail(error: unknown): void {
    if (this.#givingUp) return
    this.#failed = true
    this.#verdict.reject(error)
  }

  #giveUp(how: string, errorClass: GivenUpErrorClass, options?: ErrorOptions): void {
    if (this.#givingUp) return
    this.#givingUp = true
    void this.#stopWork().then((outcome) => {
      const { sessionId, messageId } = this.#plan
      const message = `the run of message ${messageId} in session ${sessionId} ${how}; ${meaning[outcome]}`
      const partial = this.#reducer.result()
      this.#verdict.reject(new errorClass(message, { outcome, partial, lastStatus: this.#lastStatus, lastEvent: this.#lastEvent }, options))
    })
  }

  async #stopWork(): Promise<AbortOutcome> {
    const { sessionId, messageId, content, onBusy } = this.#plan
    if ((this.#plan.onAbort ?? (content === undefined ? 'detach' : 'cancel')) === 'detach') return 'detached'
    if (content !== undefined && this.#prompted === undefined) return 'withdrawn' // and it will not be sent
    if (this.#connection === undefined) return 'unconfirmed'
    if (this.#prompted !== undefined && !this.#reducer.begun) {
      const fate = await fateOf(this.#prompted)
      if (fate !== 'enqueued') return fate
    }
    try {
      const { withdrawn } = await this.#connection.call('session/withdraw', { sessionId, messageId }, givingUpMs)
      if (withdrawn) return 'withdrawn'
      if (onBusy !== 'reject' && this.#reducer.isShared()) return 'detached'
      await this.#connection.call('session/cancel', { sessionId, scope: 'tree' }, givingUpMs)
      return 'cancelled'
    } catch {
      return 'unconfirmed'
    }
  }
}

/** What came of a prompt that is under way: one that is refused was not enqueued. */
async function fateOf(prompted: Promise<void>): Promise<'enqueued' | 'withdrawn' | 'unconfirmed'> {
  try {
    return (await within(givingUpMs, prompted)) ? 'enqueued' : 'unconfirmed'
  } catch (error) {
    return error instanceof RpcError ? 'withdrawn' : 'unconfirmed'
  }
}

const meaning: Record<AbortOutcome, string> = {
  withdrawn: 'its message was withdrawn and never entered the conversation',
  cancelled: 'its work was cancelled',
  detached: 'its work goes on',
  unconfirmed: 'the runtime did not say what became of its work, which may go on',
}
