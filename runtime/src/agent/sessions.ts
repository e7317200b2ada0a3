// Owns the calls that clients make: every door to a session, for the server and the command alike.
import { stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import type { ContentOf, Fault, Params, Result, SessionConfigOf, SessionOf } from '@quiesce/schema'
import { Inbox, MAX_PENDING, type NewMessage, noSession } from '../inbox/inbox.ts'
import { fact } from '../log/facts.ts'
import { InvalidParams, Refusal } from '../log/refusal.ts'
import { isDue } from '../log/session-state.ts'
import { fitting, sizeOf } from '../log/size.ts'
import { catchUp, Transcript } from '../log/transcript.ts'
import type { StoredSession } from '../store/store.ts'
import { LEASE_MS } from '../store/upkeep.ts'
import type { Activation } from './activation.ts'
import { checkSize, shownFaults } from './bounds.ts'
import { modelOptionFaults } from './model-options.ts'
import type { AgentPorts } from './ports.ts'
import { Residency } from './residency.ts'

export { MAX_PENDING }

export class Sessions {
  readonly #ports: AgentPorts
  readonly #inbox: Inbox
  readonly #residency: Residency
  #stopping = false
  /** Calls under way: a shutdown lets them finish. */
  readonly #underWay = new Set<Promise<unknown>>()

  constructor(ports: AgentPorts) {
    this.#ports = ports
    this.#inbox = new Inbox(ports.log, ports.store, ports.clock)
    this.#residency = new Residency(ports, this.#inbox)
  }

  /** Creates a session. *Contract:* rejects with InvalidParams, Refusal `session_exists`, `unknown_model`, `model_auth`, or as the store does. */
  create(params: Params<'session/create'>): Promise<SessionOf> {
    return this.#call(async () => {
      const { store, clock, owner, ids, log } = this.#ports
      const config = await this.#config(params)
      const sessionId = params.sessionId ?? ids('ses')
      const result = await log.commit({
        sessionId,
        when: [{ kind: 'absent' }],
        acquire: { owner, now: clock.now(), ttlMs: LEASE_MS },
        facts: [fact('session/create', clock.now(), { config, depth: 0 })],
      })
      if (!result.ok) throw new Refusal('session_exists', `session ${JSON.stringify(sessionId)} exists, or existed: ids are not used again`)
      if (result.lease !== undefined) await this.#residency.adopt(result.lease)
      return describe(await known(sessionId, store.load(sessionId)))
    })
  }

  describe(sessionId: string): Promise<SessionOf> {
    return this.#call(async () => describe(await known(sessionId, this.#ports.log.peek(sessionId))))
  }

  list(params: Params<'session/list'>): Promise<Result<'session/list'>> {
    return this.#call(async () => {
      const { cursor, limit, parentId, status, metadata } = params
      const { sessions, nextCursor } = await this.#ports.store.list({
        limit: limit ?? 100,
        ...(cursor !== undefined && { cursor }),
        ...(parentId !== undefined && { parentId }),
        ...(status !== undefined && { status }),
        ...(metadata !== undefined && { metadata }),
      })
      return { sessions: sessions.map(describe), ...(nextCursor !== undefined && { nextCursor }) }
    })
  }

  update(params: Params<'session/update'>): Promise<SessionOf> {
    return this.#call(async () => {
      const { log, models, clock, tools } = this.#ports
      const { sessionId, title, metadata, model, modelOptions, permissions, limits, outputSchema } = params
      refuse([
        ...unserved({ outputSchema, limits }),
        ...tools.faults(defined({ permissions })),
        ...shownFaults({ title, metadata, permissions, limits }),
        ...modelOptionFaults(modelOptions),
      ])
      checkSize('the change', { modelOptions })
      if (model !== undefined) models.check(model)
      const change = defined({ title, metadata, model, modelOptions, permissions, limits })
      const result = await log.commit({ sessionId, facts: [fact('session/update', clock.now(), { change })] })
      if (!result.ok) throw noSession(sessionId)
      return describe(await known(sessionId, log.peek(sessionId)))
    })
  }

  /** DEL-1: ends the activation with its tools and closes subscriptions; children don't exist yet, so `tree` is the same. */
  delete(sessionId: string): Promise<void> {
    return this.#call(async () => {
      // First: of a session that is gone nobody looks for what a killed runtime left running.
      const activation = await this.#residency.clear(sessionId)
      if (!(await this.#ports.store.delete(sessionId))) throw noSession(sessionId)
      this.#ports.log.close(sessionId, 'deleted', null)
      await activation?.ended
      await this.#ports.outputs.remove(sessionId)
    })
  }

  /** Answers once the receipt is durable, and doesn't wait for the agent (IN-1). */
  prompt(params: Params<'session/prompt'>): Promise<Result<'session/prompt'>> {
    return this.#call(async () => {
      const { sessionId, expect, metadata, delivery = 'followup' } = params
      if (params.messageId !== undefined) Inbox.checkId(params.messageId)
      const content = typeof params.content === 'string' ? [{ type: 'text' as const, text: params.content }] : params.content
      refuse(contentFaults(content))
      checkSize(`the message for session ${sessionId}`, { content, metadata })
      const id = params.messageId ?? this.#ports.ids('msg')
      const message: NewMessage = { id, content, delivery, origin: { kind: 'user' }, ...(metadata !== undefined && { metadata }) }
      const activation = await this.#residency.activate(sessionId)
      if (activation !== null) await activation.deliver(message, expect === 'idle')
      else await this.#inbox.enqueue(sessionId, message, expect === 'idle')
      this.#seeTo(sessionId, activation)
      return { messageId: id }
    })
  }

  withdraw(sessionId: string, messageId: string): Promise<boolean> {
    return this.#call(() => this.#input(sessionId, () => this.#inbox.withdraw(sessionId, messageId)))
  }

  cancel(params: Params<'session/cancel'>, by: string): Promise<Result<'session/cancel'>> {
    return this.#call(async () => {
      const { sessionId, scope = 'turn', turnId, reason } = params
      refuse(shownFaults({ reason }))
      const options = { by, ...(turnId !== undefined && { turnId }), ...(reason !== undefined && { reason }) }
      return this.#input(sessionId, () => this.#inbox.cancel(sessionId, scope, options))
    })
  }

  status(sessionId: string): Promise<Result<'session/status'>> {
    return this.#call(async () => {
      const { state } = await known(sessionId, this.#ports.log.peek(sessionId))
      const count = (delivery: string) => state.pending.filter((message) => message.delivery === delivery).length
      return {
        status: state.status,
        seq: state.seq,
        ...(state.activityId !== null && { activityId: state.activityId }),
        waitingOn: state.waitingOn,
        blockedOn: [],
        pending: { followup: count('followup'), steer: count('steer'), inject: count('inject') },
        resident: this.#residency.get(sessionId) !== undefined,
      }
    })
  }

  events(params: Params<'session/events'>): Promise<Result<'session/events'>> {
    return this.#call(async () => {
      const { sessionId, limit = 200 } = params
      const { state } = await known(sessionId, this.#ports.log.peek(sessionId))
      const after = await startOf(this.#ports, params, state.seq, 0)
      const events = await this.#ports.log.read(sessionId, after, limit)
      const nextAfter = events.at(-1)?.seq ?? after
      return { events: [...events], nextAfter, more: nextAfter < state.seq }
    })
  }

  messages(params: Params<'session/messages'>): Promise<Result<'session/messages'>> {
    return this.#call(async () => {
      const { sessionId, cursor, limit = 200 } = params
      const { state } = await known(sessionId, this.#ports.log.peek(sessionId))
      const from = cursor === undefined ? 0 : Number(cursor)
      if (!Number.isSafeInteger(from) || from < 0 || String(from) !== (cursor ?? '0'))
        throw new Refusal('invalid_cursor', `${JSON.stringify(cursor)} is not a cursor that session/messages gave`)
      const transcript = new Transcript()
      await catchUp(transcript, this.#ports.log, sessionId, state.seq)
      const next = from + fitting(transcript.messages.map(sizeOf), from, limit)
      const more = next < transcript.messages.length
      return { messages: transcript.messages.slice(from, next), ...(more && { nextCursor: String(next) }) }
    })
  }

  /** RE-3: takes a session up where something is due, and again whenever it is, until the answer is called. */
  activate(sessionId: string): Promise<() => void> {
    return this.#call(async () => {
      const leave = this.#residency.collect(sessionId)
      try {
        return await this.#input(sessionId, async () => leave)
      } catch (error) {
        leave()
        throw error
      }
    })
  }

  /** Ends open turns as interrupted and gives every lease up; what is called later is refused (RE-7). */
  async shutdown(): Promise<void> {
    this.#stopping = true
    await Promise.allSettled(this.#underWay)
    await this.#residency.shutdown()
    this.#ports.log.closeAll('shutdown')
  }

  /**
   * RE-3: a message that was accepted is driven here, or watched over where another runtime drives: also where the activation that
   * took it is over by then, since its store failed. The answer doesn't wait for that.
   */
  #seeTo(sessionId: string, activation: Activation | null): void {
    if (activation?.goesOn === true) return
    const takeUp = async () => {
      await activation?.ended
      if (!this.#stopping) await this.#input(sessionId, async () => undefined)
    }
    takeUp().catch((error: unknown) => {
      // Deleted since, or this runtime ends: then whoever comes next takes it up.
      if (this.#stopping || (error instanceof Refusal && error.code === 'session_not_found')) return
      this.#ports.report(`session ${sessionId} could not be taken up for a message that was accepted`, error)
    })
  }

  /** An input is accepted by whoever is asked; a due session without a driver is taken up for it. */
  async #input<T>(sessionId: string, accept: () => Promise<T>): Promise<T> {
    const answer = await accept()
    const session = await known(sessionId, this.#ports.log.peek(sessionId))
    if (isDue(session.state)) await this.#residency.activate(sessionId)
    return answer
  }

  async #call<T>(body: () => Promise<T>): Promise<T> {
    if (this.#stopping) throw new Refusal('shutting_down', 'the runtime is shutting down')
    const running = body()
    this.#underWay.add(running)
    try {
      return await running
    } finally {
      this.#underWay.delete(running)
    }
  }

  async #config(params: Params<'session/create'>): Promise<SessionConfigOf> {
    const { models, tools } = this.#ports
    const directories = [...(await directoryFaults('cwd', params.cwd)), ...(await rootFaults(params.roots))]
    const { roots, permissions, limits, metadata, title } = params
    refuse([
      ...unserved(params),
      ...directories,
      ...tools.faults(defined({ tools: params.tools, env: params.env, permissions })),
      ...shownFaults({ roots, permissions, limits, metadata, title }),
      ...modelOptionFaults(params.modelOptions),
    ])
    checkSize("the session's configuration", params)
    const model = params.model ?? models.defaultModel()
    if (model === null) throw noModel()
    models.check(model)
    const { modelOptions, system, instructions, env, recovery } = params
    const optional = defined({ modelOptions, system, instructions, tools: params.tools, env, recovery, title })
    return {
      ...optional,
      cwd: params.cwd,
      roots: roots ?? [],
      model,
      permissions: permissions ?? 'edit',
      limits: limits ?? {},
      metadata: metadata ?? {},
    }
  }
}

/** Where reading starts: behind `after`, or just before a message's receipt (SUB-1). */
export async function startOf(
  ports: Pick<AgentPorts, 'store'>,
  params: { sessionId: string; after?: unknown; from?: { messageId: string } | undefined },
  seq: number,
  otherwise: number,
): Promise<number> {
  const { sessionId, after, from } = params
  if (from !== undefined) {
    if (after !== undefined) throw new InvalidParams([{ path: 'from', message: 'give either after or from, not both' }])
    const receipt = await ports.store.receiptSeq(sessionId, from.messageId)
    if (receipt !== null) return receipt - 1
    throw new Refusal('message_not_found', `session ${sessionId} has no message ${JSON.stringify(from.messageId)}`, from)
  }
  if (typeof after !== 'number') return otherwise
  if (after > seq)
    throw new Refusal('invalid_cursor', `after: ${after} lies beyond the log of session ${sessionId}, which ends at ${seq}`, { seq })
  return after
}

async function known(sessionId: string, loading: Promise<StoredSession | null>): Promise<StoredSession> {
  const session = await loading
  if (session === null) throw noSession(sessionId)
  return session
}

function describe({ sessionId, config, state }: StoredSession): SessionOf {
  const { title, metadata, cwd, roots, model, permissions, limits } = config
  return {
    sessionId,
    ...(state.parentId !== null && { parentId: state.parentId }),
    ...(state.label !== null && { label: state.label }),
    depth: state.depth,
    ...(title !== undefined && { title }),
    metadata,
    cwd,
    roots,
    model,
    permissions,
    limits,
    createdAt: state.createdAt,
    updatedAt: state.updatedAt,
    status: state.status,
    seq: state.seq,
    usage: state.usage,
  }
}

/** Only what was given: an absent field stays absent. */
function defined<T extends Record<string, unknown>>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}

function refuse(faults: readonly Fault[]): void {
  if (faults.length > 0) throw new InvalidParams(faults)
}

/** What the protocol names and this runtime doesn't serve is refused, never ignored. */
function unserved(params: Partial<Params<'session/create'>>): Fault[] {
  const faults: Fault[] = (['clientTools', 'mcpServers', 'outputSchema'] as const)
    .filter((name) => params[name] !== undefined)
    .map((name) => ({ path: name, message: 'not served by this runtime; leave it out' }))
  const limits = { ...params.limits, ...params.limits?.perTurn }
  for (const name of ['maxTotalTokens', 'maxCost'])
    if (limits[name] !== undefined) faults.push({ path: `limits.${name}`, message: 'not served by this runtime; maxSteps is' })
  return faults
}

/** What only a model or a runtime says is no prompt. */
function contentFaults(content: ContentOf): Fault[] {
  const foreign = new Set(['tool_use', 'tool_result', 'reasoning'])
  return content.flatMap(({ type }, i) =>
    foreign.has(type) ? [{ path: `content[${i}].type`, message: `a prompt is made of text, image and file blocks, got "${type}"` }] : [],
  )
}

async function directoryFaults(path: string, directory: string): Promise<Fault[]> {
  if (!isAbsolute(directory)) return [{ path, message: `must be an absolute path, got ${JSON.stringify(directory)}` }]
  const found = await stat(directory).catch(() => null)
  if (found === null) return [{ path, message: `${JSON.stringify(directory)} does not exist or cannot be read` }]
  return found.isDirectory() ? [] : [{ path, message: `${JSON.stringify(directory)} is not a directory` }]
}

async function rootFaults(roots: readonly string[] | undefined): Promise<Fault[]> {
  return (await Promise.all((roots ?? []).map((root, i) => directoryFaults(`roots[${i}]`, root)))).flat()
}

const noModel = (): Refusal =>
  new Refusal(
    'unknown_model',
    'no model: give `model` (on the command line --model), set QUIESCE_MODEL, or put `model: provider/model` into quiesce.yaml',
  )
