// Owns raw frames to a server and back, for the cases that speak the protocol themselves: whatever bytes they like, whatever comes.
import { isObject, type Json, type JsonObject } from './case.ts'
import { FrameCheck } from './frame-check.ts'
import { Inbox } from './inbox.ts'
import { Lines } from './lines.ts'
import type { ServerEnd, ServerProcess } from './server-process.ts'
import type { World } from './world.ts'

/** What the steps of L1 need of a connection: the case's own, or one that a driver has. */
export interface RawConnection {
  readonly server: ServerProcess
  /** Every frame that came, in order. */
  readonly frames: readonly Json[]
  /** Once the server has ended, and everything that it said has come. */
  readonly ended: Promise<ServerEnd>
  /** Sends a request; its id. */
  request(method: string, params: Json | undefined, id?: Json): Json
  /** As many of them at once, in one piece; their ids. */
  requests(method: string, params: Json | undefined, count: number): Json[]
  sendJson(frame: Json): void
  send(bytes: Buffer): void
  /** The server's stdin ends, behind all that was sent before. */
  endInput(): Promise<void>
  answer(id: Json): Promise<JsonObject>
  notification(method: string, where: Json | undefined): Promise<JsonObject>
  wait(fits: (frame: JsonObject) => boolean): Promise<JsonObject>
}

export class Connection implements RawConnection {
  readonly server: ServerProcess
  readonly frames: Json[] = []
  readonly #world: World
  readonly #name: string
  readonly #check: FrameCheck
  readonly #inbox = new Inbox()
  #ids = 0

  constructor(world: World, name: string, env: Readonly<Record<string, string>>) {
    this.#world = world
    this.#name = name
    this.#check = new FrameCheck(world.schema)
    const lines = new Lines((line) => this.#receive(line))
    this.server = world.startServer((chunk) => lines.push(chunk), env)
    void this.server.exited.then(({ code, signal }) => {
      world.say(`${name} <- the server ended with ${signal ?? `status ${code}`}`)
      this.#inbox.end(
        new Error(
          `the server ended (${signal ?? `status ${code}`}) while the case waited for a frame; its stderr: ${this.server.stderr.slice(-2_000)}`,
        ),
      )
    })
  }

  get ended(): Promise<ServerEnd> {
    return this.server.exited
  }

  request(method: string, params: Json | undefined, id: Json = this.#newId()): Json {
    this.sendJson(requestFrame(id, method, params))
    return id
  }

  requests(method: string, params: Json | undefined, count: number): Json[] {
    const ids = Array.from({ length: count }, () => this.#newId())
    this.send(Buffer.from(ids.map((id) => `${JSON.stringify(requestFrame(id, method, params))}\n`).join('')))
    return ids
  }

  /** No id of a case's own. */
  #newId(): string {
    this.#ids += 1
    return `${this.#name}-${this.#ids}`
  }

  sendJson(frame: Json): void {
    this.send(Buffer.from(`${JSON.stringify(frame)}\n`))
  }

  send(bytes: Buffer): void {
    this.#world.say(`${this.#name} -> ${bytes.toString().trimEnd()}`)
    this.#note(bytes)
    this.server.write(bytes)
  }

  async endInput(): Promise<void> {
    this.server.endInput()
  }

  answer(id: Json): Promise<JsonObject> {
    return this.#inbox.answer(id)
  }

  notification(method: string, where: Json | undefined): Promise<JsonObject> {
    return this.#inbox.notification(method, where)
  }

  wait(fits: (frame: JsonObject) => boolean): Promise<JsonObject> {
    return this.#inbox.wait(fits)
  }

  /** Which requests go out, whoever wrote them: their answers are judged by them. */
  readonly #sent = new Lines((line) => {
    try {
      this.#check.toServer(JSON.parse(line.toString().replace(/^\uFEFF/, '')))
    } catch {
      // Bytes that are no frame have no answer of their own.
    }
  })

  #note(bytes: Buffer): void {
    this.#sent.push(bytes)
  }

  #receive(line: Buffer): void {
    const text = line.toString()
    this.#world.say(`${this.#name} <- ${text}`)
    let frame: unknown
    try {
      frame = JSON.parse(text)
    } catch {
      this.#world.frameFaults.push(`${this.#name}: stdout carries what is no frame (FR-5): ${text.slice(0, 200)}`)
      return
    }
    const fault = this.#check.toClient(frame)
    if (fault !== null) this.#world.frameFaults.push(`${this.#name}: ${fault}: ${text.slice(0, 500)}`)
    if (!isObject(frame)) return
    this.frames.push(frame)
    this.#inbox.add(frame)
  }
}

const requestFrame = (id: Json, method: string, params: Json | undefined): JsonObject => ({
  jsonrpc: '2.0',
  id,
  method,
  ...(params !== undefined && { params }),
})
