// Owns raw frames to a server and back, for the cases that speak the protocol themselves: whatever bytes they like, whatever comes.
import { isObject, type Json, type JsonObject } from './case.ts'
import { type Deferred, deferred } from './deferred.ts'
import { FrameCheck } from './frame-check.ts'
import { Lines } from './lines.ts'
import { mismatches } from './match.ts'
import type { ServerProcess } from './server-process.ts'
import type { World } from './world.ts'

interface Wanted {
  fits(frame: JsonObject): boolean
  found: Deferred<JsonObject>
}

export class Connection {
  readonly server: ServerProcess
  readonly #world: World
  readonly #name: string
  readonly #check: FrameCheck
  readonly #wanted: Wanted[] = []
  /** Every frame that came, in order. */
  readonly frames: Json[] = []
  /** Those that no wait has taken yet. */
  readonly #left: JsonObject[] = []
  #ids = 0

  constructor(world: World, name: string, env: Readonly<Record<string, string>>) {
    this.#world = world
    this.#name = name
    this.#check = new FrameCheck(world.schema)
    const lines = new Lines((line) => this.#receive(line))
    this.server = world.startServer((chunk) => lines.push(chunk), env)
    void this.server.exited.then(({ code, signal }) => {
      world.say(`${name} <- the server ended with ${signal ?? `status ${code}`}`)
      for (const { found } of this.#wanted.splice(0))
        found.reject(
          new Error(
            `the server ended (${signal ?? `status ${code}`}) while the case waited for a frame; its stderr: ${this.server.stderr.slice(-2_000)}`,
          ),
        )
    })
  }

  /** Sends a request; its id. */
  request(method: string, params: Json | undefined, id?: Json): Json {
    this.#ids += 1
    const used = id ?? this.#ids
    this.sendJson({ jsonrpc: '2.0', id: used, method, ...(params !== undefined && { params }) })
    return used
  }

  sendJson(frame: Json): void {
    this.#check.toServer(frame)
    this.send(Buffer.from(`${JSON.stringify(frame)}\n`))
  }

  send(bytes: Buffer): void {
    this.#world.say(`${this.#name} -> ${bytes.toString().trimEnd()}`)
    this.server.write(bytes)
  }

  /** The answer with this id, the first that no other wait took. */
  answer(id: Json): Promise<JsonObject> {
    return this.wait((frame) => frame.method === undefined && JSON.stringify(frame.id) === JSON.stringify(id))
  }

  notification(method: string, where: Json | undefined): Promise<JsonObject> {
    return this.wait((frame) => frame.method === method && (where === undefined || mismatches(where, frame.params).length === 0))
  }

  /** The first frame that fits, of those that came already and those that come. *Contract:* rejects where the server ends before. */
  wait(fits: (frame: JsonObject) => boolean): Promise<JsonObject> {
    const there = this.#left.findIndex(fits)
    if (there >= 0) return Promise.resolve(this.#left.splice(there, 1)[0] ?? {})
    const found = deferred<JsonObject>()
    this.#wanted.push({ fits, found })
    return found.promise
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
    const wanted = this.#wanted.findIndex(({ fits }) => isObject(frame) && fits(frame))
    if (wanted < 0) this.#left.push(frame)
    else this.#wanted.splice(wanted, 1)[0]?.found.resolve(frame)
  }
}
