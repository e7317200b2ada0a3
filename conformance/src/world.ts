// Owns what one run of a case has: its directory, its values, its transcript, its processes, and the end of them all.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { atExit } from './at-exit.ts'
import type { Case } from './case.ts'
import type { FrameSchema } from './frame-check.ts'
import { type CaseModel, httpModel, scriptedModel } from './model.ts'
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
  readonly model: CaseModel
  readonly schema: FrameSchema
  readonly #home: string
  readonly #server: readonly string[]
  readonly #env: Readonly<Record<string, string>>
  /** Says that the directory is gone. */
  readonly #kept: () => void
  readonly #cleanups: (() => void | Promise<void>)[] = []

  private constructor(of: Case, home: string, model: CaseModel, server: readonly string[], schema: FrameSchema) {
    this.schema = schema
    this.#server = server
    this.#home = home
    this.cwd = join(home, 'work')
    this.#kept = atExit(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
    this.model = model
    for (const [name, text] of Object.entries(of.files)) this.writeFile(name, text)
    this.#env = of.env
    this.values.set('cwd', this.cwd)
    this.values.set('model', model.name)
  }

  static async open(of: Case, server: readonly string[], schema: FrameSchema): Promise<World> {
    const home = realpathSync(mkdtempSync(join(tmpdir(), 'conformance-')))
    const cwd = join(home, 'work')
    mkdirSync(cwd)
    const model = of.transport === 'http' ? await httpModel(of.model) : scriptedModel(cwd, join(home, 'gates'), of.model)
    return new World(of, home, model, server, schema)
  }

  /** What a server of this case has in its environment: nothing of this machine but where programs are. */
  env(): Record<string, string> {
    return {
      PATH: process.env.PATH ?? '',
      HOME: this.#home,
      QUIESCE_STORE: `sqlite:${join(this.#home, 'store.db')}`,
      QUIESCE_MODEL: this.model.name,
      ...this.model.env,
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

  writeFile(name: string, text: string | Buffer): void {
    const path = join(this.cwd, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }

  onCleanup(cleanup: () => void | Promise<void>): void {
    this.#cleanups.push(cleanup)
  }

  async remove(): Promise<void> {
    for (const cleanup of this.#cleanups.toReversed()) await cleanup()
    for (const server of this.servers) server.remove()
    await Promise.all(this.servers.map(({ exited }) => exited))
    await this.model.close()
    rmSync(this.#home, { recursive: true, force: true, maxRetries: 5 })
    this.#kept()
  }
}
