// Owns what one run of a case has: its directory, its values, its transcript, its processes, and the end of them all.
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, watch, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Case } from './case.ts'
import type { FrameSchema } from './frame-check.ts'
import { ServerProcess } from './server-process.ts'
import { Values } from './values.ts'

/** Lines of a transcript that are kept; a case that says more has a problem of its own. */
const TRANSCRIPT_LINES = 2_000
const LINE_CHARS = 2_000

export class World {
  readonly values = new Values()
  readonly transcript: string[] = []
  /** What was wrong with frames; each makes the case fail. */
  readonly frameFaults: string[] = []
  readonly servers: ServerProcess[] = []
  /** The workspace. */
  readonly cwd: string
  readonly gates: string
  readonly schema: FrameSchema
  readonly #home: string
  readonly #server: readonly string[]
  readonly #env: Readonly<Record<string, string>>
  readonly #cleanups: (() => void | Promise<void>)[] = []

  constructor(of: Case, server: readonly string[], schema: FrameSchema) {
    this.schema = schema
    this.#server = server
    this.#home = realpathSync(mkdtempSync(join(tmpdir(), 'conformance-')))
    this.cwd = join(this.#home, 'work')
    this.gates = join(this.#home, 'gates')
    for (const folder of [this.cwd, this.gates]) mkdirSync(folder)
    writeFileSync(join(this.cwd, 'case.json'), JSON.stringify(of.model))
    for (const [name, text] of Object.entries(of.files)) this.writeFile(name, text)
    this.#env = of.env
    this.values.set('cwd', this.cwd)
  }

  /** What a server of this case has in its environment: nothing of this machine but where programs are. */
  env(): Record<string, string> {
    return {
      PATH: process.env.PATH ?? '',
      HOME: this.#home,
      QUIESCE_STORE: `sqlite:${join(this.#home, 'store.db')}`,
      QUIESCE_MODEL: 'scripted/case',
      QUIESCE_GATES: this.gates,
      ...this.#env,
    }
  }

  startServer(onData: (chunk: Buffer) => void, more: Readonly<Record<string, string>> = {}): ServerProcess {
    const server = new ServerProcess(this.#server, this.cwd, { ...this.env(), ...more }, onData)
    this.servers.push(server)
    this.say(`server ${this.servers.length} starts`)
    return server
  }

  say(line: string): void {
    if (this.transcript.length < TRANSCRIPT_LINES) this.transcript.push(line.length > LINE_CHARS ? `${line.slice(0, LINE_CHARS)}…` : line)
  }

  writeFile(name: string, text: string): void {
    const path = join(this.cwd, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }

  /** Lets the model go on that stands, or will stand, before the gate. */
  release(gate: string): void {
    writeFileSync(join(this.gates, gate), '')
  }

  /** Once the model stands before the gate. */
  async reached(gate: string): Promise<void> {
    await appears(this.gates, `${gate}.reached`)
  }

  onCleanup(cleanup: () => void | Promise<void>): void {
    this.#cleanups.push(cleanup)
  }

  async remove(): Promise<void> {
    for (const cleanup of this.#cleanups.toReversed()) await cleanup()
    for (const server of this.servers) server.remove()
    await Promise.all(this.servers.map(({ exited }) => exited))
    rmSync(this.#home, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Watched before the look, so that it can't come between the two. */
async function appears(folder: string, name: string): Promise<void> {
  const path = join(folder, name)
  const watcher = watch(folder)
  try {
    if (existsSync(path)) return
    await new Promise<void>((resolve) => {
      watcher.on('change', () => {
        if (existsSync(path)) resolve()
      })
    })
  } finally {
    watcher.close()
  }
}
