// Owns the runtime's place beside an SDK: what the SDK launches is a small program that connects back here, and here it is decided who
// answers, a script or a real server.
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { type Deferred, deferred } from './deferred.ts'
import { Lines } from './lines.ts'

/** What the SDK is told to launch, and what it needs in its environment. */
export const endpointProgram = fileURLToPath(new URL('../bin/endpoint.mjs', import.meta.url))
export const ENDPOINT_VARIABLE = 'CONFORMANCE_ENDPOINT'

/** One process that an SDK launched as its runtime. */
export class Link {
  readonly #data: Socket
  readonly #control: Socket
  /** Bytes: an order to end waits until all of them are out, for the two sockets know nothing of each other. */
  #written = 0
  /** Those who wait until so many bytes are out. */
  readonly #passing = new Map<number, () => void>()
  /** Once the program is gone, whoever ended it. */
  readonly closed: Promise<void>
  /** Once the SDK closed the program's stdin. */
  readonly ended: Promise<void>
  /** The program's environment: what the SDK gave it. */
  readonly env: Readonly<Record<string, string>>

  constructor(data: Socket, control: Socket, env: Readonly<Record<string, string>>) {
    this.#data = data
    this.#control = control
    this.env = env
    this.closed = new Promise((resolve) => control.once('close', () => resolve()))
    this.ended = new Promise((resolve) => data.once('end', () => resolve()))
    for (const socket of [data, control]) socket.on('error', () => undefined)
    const told = new Lines((line) => this.#passing.get(Number(line.toString()))?.())
    control.on('data', (chunk: Buffer) => told.push(chunk))
    // It was held while it was not known whose it is.
    control.resume()
    control.once('end', () => control.end())
  }

  onData(listener: (chunk: Buffer) => void): void {
    this.#data.on('data', listener)
    // It was held while nobody listened.
    this.#data.resume()
  }

  /** Onto the program's stdout. */
  write(bytes: Buffer): void {
    this.#written += bytes.length
    this.#data.write(bytes)
  }

  /** Once the program has handed on all that was written: what follows goes by itself. */
  async passed(): Promise<void> {
    const after = this.#written
    const out = new Promise<void>((resolve) => this.#passing.set(after, resolve))
    this.#control.write(`${JSON.stringify({ tell: after })}\n`)
    await Promise.race([out, this.closed])
    this.#passing.delete(after)
  }

  /** Ends its stdout; it goes on. */
  endOutput(): void {
    this.#data.end()
  }

  /** Ends the program, once what was written before is out. */
  exit(how: { code?: number; signal?: string; stderr?: string }): void {
    this.#control.write(`${JSON.stringify({ ...how, after: this.#written })}\n`)
  }
}

/** Where the programs connect to: one for a whole run of the suite. */
export class Endpoints {
  readonly #server: Server
  readonly #waiting = new Map<string, (link: Link) => void>()
  readonly #halves = new Map<string, Deferred<Socket>>()
  #names = 0

  private constructor(server: Server) {
    this.#server = server
  }

  static async open(): Promise<Endpoints> {
    const server = createServer({ allowHalfOpen: true, noDelay: true })
    const endpoints = new Endpoints(server)
    server.on('connection', (socket) => endpoints.#greet(socket))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return endpoints
  }

  /** A new place: the value for the environment, and what happens to each program that connects with it. */
  place(onLink: (link: Link) => void): { value: string; remove: () => void } {
    this.#names += 1
    const name = `place-${this.#names}`
    this.#waiting.set(name, onLink)
    const { port } = this.#server.address() as AddressInfo
    return { value: `${port}/${name}`, remove: () => this.#waiting.delete(name) }
  }

  close(): void {
    this.#server.close()
  }

  /** The first line says who it is: `{place, pid, kind, env?}`. */
  #greet(socket: Socket): void {
    socket.on('error', () => undefined)
    const onData = (chunk: Buffer) => {
      let first: Buffer | null = null
      const lines = new Lines((line) => {
        first ??= line
      })
      const end = chunk.indexOf(10)
      lines.push(end < 0 ? chunk : chunk.subarray(0, end + 1))
      if (first === null) return
      socket.off('data', onData)
      socket.pause()
      if (end + 1 < chunk.length) socket.unshift(chunk.subarray(end + 1))
      this.#pair(socket, JSON.parse(String(first)))
    }
    socket.on('data', onData)
  }

  #pair(socket: Socket, greeting: { place: string; pid: number; kind: 'data' | 'control'; env?: Record<string, string> }): void {
    const key = `${greeting.place} ${greeting.pid}`
    const half = this.#halves.get(key) ?? deferred<Socket>()
    this.#halves.set(key, half)
    if (greeting.kind === 'data') {
      half.resolve(socket)
      return
    }
    void half.promise.then((data) => {
      this.#halves.delete(key)
      const onLink = this.#waiting.get(greeting.place)
      if (onLink === undefined) socket.destroy()
      else onLink(new Link(data, socket, greeting.env ?? {}))
    })
  }
}
