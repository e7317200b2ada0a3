// Owns how sessions are made, found, listed and deleted.
import { resolve } from 'node:path'
import { type Connect, request } from './connection.ts'
import type { SessionCreateParams, SessionDeleteParams, SessionListParams, SessionListResult } from './generated/protocol.ts'
import { checkOptions } from './options.ts'
import { Session } from './session.ts'

/** What a session is made of. What is left out is the runtime's default; `cwd` and `model` first ask the options of the launch. */
export type CreateOptions = Omit<SessionCreateParams, 'cwd'> & { cwd?: string | undefined }

export type DeleteOptions = Pick<SessionDeleteParams, 'tree'>

export interface SessionDefaults {
  cwd: string
  model: string | undefined
}

export class Sessions {
  readonly #connect: Connect
  readonly #defaults: SessionDefaults

  constructor(connect: Connect, defaults: SessionDefaults) {
    this.#connect = connect
    this.#defaults = defaults
  }

  /**
   * Creates a session. A relative `cwd` or root is looked for in the launch's `cwd`.
   * @throws SessionExistsError, UnknownModelError, and RpcError `invalid_params` with the path of each fault.
   */
  async create(options: CreateOptions = {}): Promise<Session> {
    checkOptions('sessions.create', options)
    const { cwd } = this.#defaults
    const { roots, model = this.#defaults.model } = options
    const { session } = await request(this.#connect, 'session/create', {
      ...options,
      cwd: resolve(cwd, options.cwd ?? '.'),
      ...(model === undefined ? {} : { model }),
      ...(roots === undefined ? {} : { roots: roots.map((root) => resolve(cwd, root)) }),
    })
    return new Session(session.sessionId, this.#connect)
  }

  /** The handle of a session that exists. @throws SessionNotFoundError. */
  async get(sessionId: string): Promise<Session> {
    const { session } = await request(this.#connect, 'session/get', { sessionId })
    return new Session(session.sessionId, this.#connect)
  }

  /** One page of descriptions, newest first; `nextCursor`, given as `cursor`, gives the next one. */
  async list(filter: SessionListParams = {}): Promise<SessionListResult> {
    checkOptions('sessions.list', filter)
    return await request(this.#connect, 'session/list', filter)
  }

  /**
   * Deletes a session (DEL-1); its id is not used again.
   * @throws SessionNotFoundError, and RpcError `has_children` where it has children and `tree` isn't true.
   */
  async delete(sessionId: string, options: DeleteOptions = {}): Promise<void> {
    checkOptions('sessions.delete', options)
    await request(this.#connect, 'session/delete', { ...options, sessionId })
  }
}
