// Owns the processes that tests of the store start: told by lines, heard line by line, ended with their test.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Bundle } from './bundle.fixture.ts'

export class Child {
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string>
  /** Its exit code, or the signal that ended it. */
  readonly exited: Promise<number | string | null>
  stderr = ''

  constructor(bundle: Bundle, args: readonly string[], options: Pick<SpawnOptions, 'uid' | 'gid'> = {}) {
    const child = spawn(process.execPath, [fileURLToPath(bundle.entry('faults-child')), ...args], {
      ...options,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#child = child
    child.stdin.on('error', () => undefined)
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text
    })
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    this.exited = new Promise((resolve) => child.once('close', (code, signal) => resolve(code ?? signal)))
  }

  /** What it says next, or undefined where it says nothing more. */
  async says(): Promise<unknown> {
    const line = await this.#lines.next()
    return line.done === true ? undefined : JSON.parse(line.value)
  }

  /** What it says last, or what it died of. */
  async outcome(): Promise<unknown> {
    const said = await this.says()
    return (await this.exited) === 0 ? said : this.stderr
  }

  /** Lets it do its next step. */
  tell(): void {
    this.#child.stdin?.write('\n')
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }
}

/** Starts children, and ends them all. */
export class Children {
  readonly #all: Child[] = []

  start(...of: ConstructorParameters<typeof Child>): Child {
    const child = new Child(...of)
    this.#all.push(child)
    return child
  }

  async end(): Promise<void> {
    const all = this.#all.splice(0)
    for (const child of all) child.kill()
    await Promise.all(all.map(({ exited }) => exited))
  }
}
