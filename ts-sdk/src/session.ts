// Owns the handle of one session: what a caller does with a conversation, each a thin word for one request or one run.
import { randomUUID } from 'node:crypto'
import type { RunResult, SessionEvent } from './collect.ts'
import { type Connect, request } from './connection.ts'
import type { MethodName, Methods } from './generated/methods.ts'
import type {
  ContentInput,
  Message,
  SessionCancelParams,
  SessionCancelResult,
  Session as SessionDescription,
  SessionPromptParams,
  SessionPromptResult,
  SessionStatusResult,
  SessionUpdateParams,
} from './generated/protocol.ts'
import { checkOptions } from './options.ts'
import { type CollectOptions, checkLimit, follow, type RunOptions } from './run.ts'
import { RunStream } from './stream.ts'
import { type EventsOptions, tail } from './tail.ts'
import { checkContent } from './values.ts'

export type DeliveryOptions = Pick<SessionPromptParams, 'messageId' | 'metadata'>
export type PromptOptions = DeliveryOptions & Pick<SessionPromptParams, 'expect'>
/** What `update` sets; an absent field stays. */
export type UpdateOptions = Omit<SessionUpdateParams, 'sessionId'>
export type CancelOptions = Pick<SessionCancelParams, 'scope' | 'turnId' | 'reason'>

/** One durable conversation. A handle holds nothing but the id: any number of them, and of runs at a time, may stand for one. */
export class Session {
  readonly id: string
  readonly #connect: Connect

  constructor(id: string, connect: Connect) {
    this.id = id
    this.#connect = connect
  }

  /**
   * Prompts, and gives what the interval held: the facts from this message's receipt through the first idle after it (RUN-1 to
   * RUN-5). It is broader than the message: steering and other callers' messages may lie in it. A model error is no exception:
   * `events` say how the turn ended (RUN-11).
   * @throws SessionBusyError with `onBusy: 'reject'`; RunTimeoutError, RunAbortedError (with the partial result);
   * ConnectionClosedError where the runtime is gone; ProtocolError where a fact is missing or malformed.
   */
  async run(content: ContentInput, options: RunOptions = {}): Promise<RunResult> {
    checkContent('session.run', content)
    checkOptions('session.run', options)
    checkLimits(options)
    return await follow(this.#connect, { ...options, sessionId: this.id, messageId: randomUUID(), content })
  }

  /** `run` that can be watched while it goes on: iterate it for facts and deltas, await its `result`. */
  stream(content: ContentInput, options: RunOptions = {}): RunStream {
    checkContent('session.stream', content)
    checkOptions('session.stream', options)
    checkLimits(options)
    return new RunStream(this.#connect, this.id, content, options)
  }

  /**
   * Gives the interval of a message that is there already: enqueued earlier, by another process, by anybody. What `run` gives for
   * it, also where it is long over (RUN-1).
   * @throws MessageNotFoundError; QuiesceError for an `inject` message, which opens no interval; and what `run` throws.
   */
  async collect(messageId: string, options: CollectOptions = {}): Promise<RunResult> {
    checkOptions('session.collect', options)
    checkLimits(options)
    return await follow(this.#connect, { ...options, sessionId: this.id, messageId })
  }

  /**
   * Puts a message into the inbox. Resolves once it is durably there, and never waits for the agent (IN-1). The same `messageId`
   * with the same content may be sent again and is enqueued once (IN-3).
   * @throws MessageConflictError, SessionBusyError with `expect: 'idle'`, StorageUnavailableError.
   */
  async prompt(content: ContentInput, options: PromptOptions = {}): Promise<SessionPromptResult> {
    checkContent('session.prompt', content)
    checkOptions('session.prompt', options)
    return await this.#call('session/prompt', { ...options, sessionId: this.id, content })
  }

  /** A message for the work under way: it joins at the next step, or opens a turn where nothing is (IN-5). */
  async steer(content: ContentInput, options: DeliveryOptions = {}): Promise<SessionPromptResult> {
    checkContent('session.steer', content)
    checkOptions('session.steer', options)
    return await this.#call('session/prompt', { ...options, sessionId: this.id, content, delivery: 'steer' })
  }

  /** Context for the next step, whenever there is one; it wakes nobody (IN-6). */
  async inject(content: ContentInput, options: DeliveryOptions = {}): Promise<SessionPromptResult> {
    checkContent('session.inject', content)
    checkOptions('session.inject', options)
    return await this.#call('session/prompt', { ...options, sessionId: this.id, content, delivery: 'inject' })
  }

  /** Takes a pending message back; false where it entered the conversation already, or was cancelled (IN-8). */
  async withdraw(messageId: string): Promise<boolean> {
    return (await this.#call('session/withdraw', { sessionId: this.id, messageId })).withdrawn
  }

  /** Cancels the open turn, or with `scope` the session's whole queue, or the tree (CAN-1 to CAN-3). */
  async cancel(options: CancelOptions = {}): Promise<SessionCancelResult> {
    checkOptions('session.cancel', options)
    return await this.#call('session/cancel', { ...options, sessionId: this.id })
  }

  /**
   * The session's facts: history from `after`, then live, each once and in order, until the consumer stops (SUB-1). It subscribes
   * when it is iterated, and starts no work. However slow the consumer, at most 1,000 facts wait, and none is lost.
   * @throws while iterated: ProtocolError for a fact that is malformed or missing (`events({ after: error.seq })` goes on behind
   * it); MessageNotFoundError, SessionNotFoundError; a typed error where the session can't go on in this runtime (SUB-5).
   */
  events(options: EventsOptions = {}): AsyncIterable<SessionEvent> {
    checkOptions('session.events', options)
    return tail(this.#connect, this.id, options)
  }

  /** The whole conversation, as the model sees it. */
  async messages(): Promise<Message[]> {
    const messages: Message[] = []
    let cursor: string | undefined
    do {
      const page = await this.#call('session/messages', { sessionId: this.id, ...(cursor === undefined ? {} : { cursor }) })
      messages.push(...page.messages)
      cursor = page.nextCursor
    } while (cursor !== undefined)
    return messages
  }

  /** What the whole agent does now, what it waits on, and what is pending. */
  status(): Promise<SessionStatusResult> {
    return this.#call('session/status', { sessionId: this.id })
  }

  /** The session's description: configuration, model, usage. */
  async describe(): Promise<SessionDescription> {
    return (await this.#call('session/get', { sessionId: this.id })).session
  }

  /** Changes the configuration; what isn't named stays. */
  async update(change: UpdateOptions): Promise<SessionDescription> {
    checkOptions('session.update', change)
    return (await this.#call('session/update', { ...change, sessionId: this.id })).session
  }

  #call<M extends MethodName>(method: M, params: Methods[M]['params']): Promise<Methods[M]['result']> {
    return request(this.#connect, method, params)
  }
}

function checkLimits({ timeoutMs, inactivityTimeoutMs }: CollectOptions): void {
  checkLimit('timeoutMs', timeoutMs)
  checkLimit('inactivityTimeoutMs', inactivityTimeoutMs)
}
