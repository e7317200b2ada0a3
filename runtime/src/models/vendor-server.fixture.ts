// Owns a scripted HTTP server on loopback: it answers its requests in their order with bytes as they are given, and keeps each request.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { deferred } from '../base/deferred.ts'

/** Text and bytes are written one by one, as they are; `until` waits; the others end the answer, or never do. */
export type Step = string | Uint8Array | { until: Promise<unknown> } | 'drop' | 'reset' | 'stall'

export interface Reply {
  /** Default 200. */
  status?: number
  /** Default: those of an event stream. */
  headers?: Readonly<Record<string, string>>
  /** Ended politely after the last step. */
  body?: readonly Step[]
  /** What happens in place of an answer. */
  instead?: 'drop' | 'reset' | 'silence'
}

export interface Asked {
  path: string
  headers: IncomingMessage['headers']
  body: string
}

const streamHeaders = { 'content-type': 'text/event-stream; charset=utf-8' }

export class VendorServer {
  readonly asked: Asked[] = []
  connections = 0
  readonly #replies: readonly Reply[]
  readonly #http: Server
  readonly #marks = new Map<string, ReturnType<typeof deferred<void>>>()

  static async start(...replies: Reply[]): Promise<VendorServer> {
    const server = new VendorServer(replies)
    server.#http.listen(0, '127.0.0.1')
    await once(server.#http, 'listening')
    return server
  }

  private constructor(replies: readonly Reply[]) {
    this.#replies = replies
    this.#http = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy())
    })
    this.#http.keepAliveTimeout = 60_000
    this.#http.on('connection', () => {
      this.connections += 1
    })
  }

  get baseURL(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}/v1`
  }

  /** The request's body was read. */
  arrived(index: number): Promise<void> {
    return this.#mark(`arrived ${index}`).promise
  }

  /** The answer is over: it was ended, or the client left. */
  left(index: number): Promise<void> {
    return this.#mark(`left ${index}`).promise
  }

  body(index: number): Record<string, unknown> {
    return JSON.parse(this.asked[index]?.body ?? 'null')
  }

  async close(): Promise<void> {
    if (!this.#http.listening) return
    this.#http.close()
    this.#http.closeAllConnections()
    await once(this.#http, 'close')
  }

  #mark(name: string): ReturnType<typeof deferred<void>> {
    const known = this.#marks.get(name) ?? deferred<void>()
    this.#marks.set(name, known)
    return known
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const asked = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() }
    const index = this.asked.push(asked) - 1
    response.on('close', () => this.#mark(`left ${index}`).resolve())
    this.#mark(`arrived ${index}`).resolve()
    const { status = 200, headers = streamHeaders, body = [], instead } = this.#replies[index] ?? unscripted(index)
    if (instead !== undefined) {
      cut(request.socket, instead)
      return
    }
    response.writeHead(status, { ...headers })
    response.flushHeaders()
    for (const step of body) {
      if (step === 'stall') return
      if (step === 'drop' || step === 'reset') {
        cut(request.socket, step)
        return
      }
      if (typeof step === 'object' && 'until' in step) await step.until
      else await new Promise((written) => response.write(step, written))
    }
    response.end()
  }
}

function cut(socket: Socket, how: 'drop' | 'reset' | 'silence'): void {
  if (how === 'drop') socket.end()
  else if (how === 'reset') socket.resetAndDestroy()
}

function unscripted(index: number): Reply {
  return { status: 400, headers: { 'content-type': 'text/plain' }, body: [`the script has no answer for request ${index}`] }
}
