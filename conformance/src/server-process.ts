// Owns one real server: any command that speaks the protocol on its stdin and stdout.
import { type ChildProcess, spawn } from 'node:child_process'
import { atExit } from './at-exit.ts'

export interface ServerEnd {
  code: number | null
  signal: NodeJS.Signals | null
}

export class ServerProcess {
  readonly #child: ChildProcess
  readonly exited: Promise<ServerEnd>
  #over = false
  stderr = ''

  constructor(command: readonly string[], cwd: string, env: Readonly<Record<string, string>>, onData: (chunk: Buffer) => void) {
    const [program = '', ...args] = command
    this.#child = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], detached: true })
    this.#child.stdin?.on('error', () => undefined)
    this.#child.stdout?.on('data', onData)
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.stderr = `${this.stderr}${chunk}`.slice(-100_000)
    })
    this.exited = new Promise((resolve) => {
      this.#child.once('error', (error) => {
        this.stderr += `it could not be started: ${error.message}\n`
        resolve({ code: 127, signal: null })
      })
      this.#child.once('close', (code, signal) => resolve({ code, signal }))
    })
    void this.exited.then(() => {
      this.#over = true
    })
    void this.exited.then(atExit(() => this.remove()))
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  write(bytes: Buffer): void {
    this.#child.stdin?.write(bytes)
  }

  endInput(): void {
    this.#child.stdin?.end()
  }

  /** Nobody reads what it writes any more, until `read`. */
  hold(): void {
    this.#child.stdout?.pause()
  }

  read(): void {
    this.#child.stdout?.resume()
  }

  /** The server alone; what its tools started is its own, or its successor's, to end. */
  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
  }

  /** At the end of a case: nothing is left of its group. Of one that is over the number may be another's by now. */
  remove(): void {
    if (this.#over) return
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, 'SIGKILL')
    } catch {
      // It is gone.
    }
  }
}
