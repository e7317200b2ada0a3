// Owns the executable for tests: built from the source as it is now, started with a home of its own, ended with its test.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../../', import.meta.url))

export interface Ended {
  status: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

export class Executable {
  /** Where processes work, and have their home. */
  readonly home: string
  readonly #folder: string
  readonly #children = new Set<ChildProcess>()

  private constructor(folder: string) {
    this.#folder = folder
    this.home = join(folder, 'home')
    mkdirSync(this.home)
  }

  /** Bundles where libsql is found. */
  static async build(): Promise<Executable> {
    mkdirSync(join(root, 'dist'), { recursive: true })
    const folder = mkdtempSync(join(root, 'dist/test-'))
    await promisify(execFile)(process.execPath, ['build.mjs', join(folder, 'bundle')], { cwd: root })
    return new Executable(folder)
  }

  get bundle(): string {
    return join(this.#folder, 'bundle/quiesce.js')
  }

  /** Writes a script; its name for `--model`. */
  script(name: string, entries: unknown): string {
    writeFileSync(join(this.home, `${name}.json`), JSON.stringify(entries))
    return `scripted/${name}`
  }

  start(args: readonly string[], env: Readonly<Record<string, string>> = {}, node: readonly string[] = []): Process {
    return this.#spawn(process.execPath, [...node, this.bundle, ...args], env)
  }

  /** Runs a line of bash to its end, with nothing on stdin; in it `quiesce` is the executable. */
  shell(line: string, env: Readonly<Record<string, string>> = {}): Promise<Ended> {
    const started = this.#spawn('bash', ['-c', `quiesce() { "$0" "$bundle" "$@"; }; ${line}`, process.execPath], {
      ...env,
      bundle: this.bundle,
    })
    started.child.stdin?.end()
    return started.ended
  }

  #spawn(command: string, args: readonly string[], env: Readonly<Record<string, string>>): Process {
    const child = spawn(command, args, {
      cwd: this.home,
      env: { PATH: process.env.PATH ?? '', HOME: this.home, QUIESCE_STORE: `sqlite:${this.home}/store.db`, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#children.add(child)
    child.once('exit', () => this.#children.delete(child))
    return new Process(child)
  }

  /** Runs to the end, with nothing on stdin. */
  run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
    const started = this.start(args, env)
    started.child.stdin?.end()
    return started.ended
  }

  remove(): void {
    for (const child of this.#children) child.kill('SIGKILL')
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

export class Process {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  stdout = ''
  stderr = ''
  #waiting: (() => void)[] = []

  constructor(child: ChildProcess) {
    this.child = child
    child.stdin?.on('error', () => undefined)
    child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#said('stdout', text))
    child.stderr?.setEncoding('utf8').on('data', (text: string) => this.#said('stderr', text))
    this.ended = once(child, 'close').then(([status, signal]) => ({ status, signal, stdout: this.stdout, stderr: this.stderr }))
  }

  /** Resolves once it has said that, or rejects where it ends before. */
  async says(stream: 'stdout' | 'stderr', what: RegExp): Promise<void> {
    const over = this.ended.then((end) => {
      throw new Error(`it ended without saying ${String(what)}: ${JSON.stringify(end)}`)
    })
    over.catch(() => undefined)
    while (!what.test(this[stream])) await Promise.race([new Promise<void>((resolve) => this.#waiting.push(resolve)), over])
  }

  #said(stream: 'stdout' | 'stderr', text: string): void {
    this[stream] += text
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
