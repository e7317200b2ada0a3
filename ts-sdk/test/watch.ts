// Owns what the tests know of the runtimes that were launched: each says who it is over a socket, which closes when it is gone.

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const fixture = fileURLToPath(new URL('./fixtures/runtime.mjs', import.meta.url))

export class RuntimeWatch {
  readonly #directory = mkdtempSync(join(tmpdir(), 'quiesce-watch-'))
  readonly path = join(this.#directory, 'socket')
  /** Every line that a runtime said. */
  readonly lines: string[] = []
  readonly #sockets = new Set<Socket>()
  readonly #server: Server
  #checks: (() => void)[] = []

  private constructor() {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket)
      let rest = ''
      socket.setEncoding('utf8').on('data', (text: string) => {
        const lines = (rest + text).split('\n')
        rest = lines.pop() ?? ''
        this.lines.push(...lines)
        this.#check()
      })
      socket.on('error', () => {}) // it was killed
      socket.on('close', () => {
        this.#sockets.delete(socket)
        this.#check()
      })
    })
  }

  static async listen(): Promise<RuntimeWatch> {
    const watch = new RuntimeWatch()
    await new Promise<void>((listening) => watch.#server.listen(watch.path, listening))
    return watch
  }

  /** What a runtime needs in its environment to be watched. */
  env(mode: string): Record<string, string> {
    return { FIXTURE: mode, FIXTURE_WATCH: this.path }
  }

  get launched(): number {
    return this.lines.filter((line) => line.startsWith('pid ')).length
  }

  /** Resolves when `line` was said. */
  said(line: string | RegExp): Promise<string> {
    const found = () => this.lines.find((said) => (typeof line === 'string' ? said === line : line.test(said)))
    return this.#until(found)
  }

  /** Resolves when every runtime that said anything is gone. */
  async allGone(): Promise<void> {
    await this.#until(() => (this.#sockets.size === 0 ? 'gone' : undefined))
  }

  /** Says something to every runtime. */
  say(text: string): void {
    for (const socket of this.#sockets) socket.write(text)
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((closed) => this.#server.close(closed))
    rmSync(this.#directory, { recursive: true, force: true })
  }

  #until(found: () => string | undefined): Promise<string> {
    return new Promise((resolve) => {
      const check = (): void => {
        const value = found()
        if (value === undefined) this.#checks.push(check)
        else resolve(value)
      }
      check()
    })
  }

  #check(): void {
    for (const check of this.#checks.splice(0)) check()
  }
}
