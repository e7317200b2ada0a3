// Owns one driver: the program that does with an SDK what a case says, spoken to in lines of JSON. Knows no case and no SDK.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parse } from 'yaml'
import { atExit } from './at-exit.ts'
import { isObject, type Json, type JsonObject, LAYERS } from './case.ts'
import { type Deferred, deferred } from './deferred.ts'
import { HarnessError } from './harness-error.ts'
import { Lines } from './lines.ts'
import { shown } from './match.ts'

export const DRIVER_PROTOCOL = 1

/** What a driver.yaml says. */
export interface DriverSpec {
  name: string
  /** Run in `directory`. */
  command: readonly string[]
  directory: string
  env: Readonly<Record<string, string>>
  /** Whether the driver can run here: a command that must succeed. */
  needs: readonly string[] | null
  /** The layers that are for it: all of them, where it doesn't say. */
  layers: readonly string[] | null
}

export interface Hello {
  protocol: number
  name: string
  version: string
  operations: readonly string[]
}

export type Answer = { result: Json } | { error: JsonObject }

/** *Contract:* throws HarnessError where the file is no driver's. */
export function readDriver(path: string): DriverSpec {
  const found: unknown = parse(readFileSync(path, 'utf8'))
  if (!isObject(found) || typeof found.name !== 'string' || !Array.isArray(found.command))
    throw new HarnessError(`${path}: a driver needs a \`name\` and a \`command\` (a list), got ${shown(found)}`)
  const { name, command, env, needs, layers } = found
  const unknown = Array.isArray(layers) ? layers.find((layer) => !LAYERS.some((known) => known === layer)) : undefined
  if (unknown !== undefined) throw new HarnessError(`${path}: layers: there are ${LAYERS.join(', ')}, got ${shown(unknown)}`)
  return {
    name,
    command: command.map(String),
    directory: resolve(dirname(path)),
    env: isObject(env) ? Object.fromEntries(Object.entries(env).map(([key, value]) => [key, String(value)])) : {},
    needs: Array.isArray(needs) ? needs.map(String) : null,
    layers: Array.isArray(layers) ? layers.map(String) : null,
  }
}

/** Whether cases of a layer are for this driver. */
export const does = ({ layers }: DriverSpec, layer: string): boolean => layers?.includes(layer) ?? true

/** Why the driver can't run here, or null: the command that it needs to succeed doesn't. */
export function lacking({ needs, directory, env }: DriverSpec): string | null {
  const [program, ...args] = needs ?? []
  if (program === undefined) return null
  const { status, error, stderr } = spawnSync(program, args, { cwd: directory, env: { ...process.env, ...env }, encoding: 'utf8' })
  if (status === 0) return null
  const [last = ''] = (error?.message ?? stderr).trim().split('\n').slice(-1)
  return `${[program, ...args].join(' ')} fails${last === '' ? '' : `: ${last}`}`
}

interface Waiting {
  answered: Deferred<Answer>
  onItem: (item: Json) => void
  onAnswer: (answer: Answer) => void
}

export class DriverProcess {
  readonly spec: DriverSpec
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, Waiting>()
  #id = 0
  stderr = ''
  /** How it ended, once it has. */
  gone: string | null = null
  readonly ended: Promise<void>

  constructor(spec: DriverSpec) {
    this.spec = spec
    const [program = '', ...args] = spec.command
    this.#child = spawn(program, args, {
      cwd: spec.directory,
      env: { ...process.env, ...spec.env },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    })
    const ended = atExit(() => this.kill())
    const lines = new Lines((line) => this.#hear(line))
    this.#child.stdout?.on('data', (chunk: Buffer) => lines.push(chunk))
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.stderr = `${this.stderr}${chunk}`.slice(-100_000)
    })
    this.#child.stdin?.on('error', () => undefined)
    this.ended = new Promise((resolveEnd) => {
      this.#child.once('error', (error) => this.#lose(`it could not be started: ${error.message}`, resolveEnd))
      this.#child.once('close', (code, signal) => this.#lose(`it ended with ${signal ?? `status ${code}`}`, resolveEnd))
    })
    void this.ended.then(ended)
  }

  async hello(): Promise<Hello> {
    const answer = await this.ask('hello', { protocol: DRIVER_PROTOCOL })
    const said = 'result' in answer ? answer.result : null
    if (!isObject(said) || said.protocol !== DRIVER_PROTOCOL || !Array.isArray(said.operations))
      throw new HarnessError(
        `driver ${this.spec.name}: hello must answer {protocol: ${DRIVER_PROTOCOL}, name, version, operations}, got ${shown(answer)}`,
      )
    return { protocol: DRIVER_PROTOCOL, name: String(said.name), version: String(said.version), operations: said.operations.map(String) }
  }

  /**
   * Items and the answer are told as they come, so that their order among those of other operations is kept.
   * *Contract:* never rejects while the driver lives; rejects with what ended it.
   */
  ask(
    op: string,
    args: JsonObject,
    onItem: (item: Json) => void = () => undefined,
    onAnswer: (answer: Answer) => void = () => undefined,
  ): Promise<Answer> & { id: number } {
    this.#id += 1
    const id = this.#id
    const answered = deferred<Answer>()
    if (this.gone === null) {
      this.#waiting.set(id, { answered, onItem, onAnswer })
      this.#child.stdin?.write(`${JSON.stringify({ id, op, ...args })}\n`)
    } else answered.reject(new Error(`driver ${this.spec.name}: ${this.gone}`))
    return Object.assign(answered.promise, { id })
  }

  /** Ends the driver with all that it started. */
  async end(): Promise<void> {
    this.#child.stdin?.end()
    const kill = setTimeout(() => this.kill(), 5_000)
    await this.ended
    clearTimeout(kill)
  }

  kill(): void {
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, 'SIGKILL')
    } catch {
      // It is gone.
    }
  }

  #hear(line: Buffer): void {
    let said: unknown
    try {
      said = JSON.parse(line.toString())
    } catch {
      said = null
    }
    const waiting = isObject(said) && typeof said.id === 'number' ? this.#waiting.get(said.id) : undefined
    if (!isObject(said) || waiting === undefined) {
      this.stderr += `[the driver said what is no answer: ${line.toString().slice(0, 500)}]\n`
      return
    }
    if ('item' in said) {
      waiting.onItem(said.item ?? null)
      return
    }
    this.#waiting.delete(Number(said.id))
    const answer = isObject(said.error) ? { error: said.error } : { result: said.result ?? null }
    waiting.onAnswer(answer)
    waiting.answered.resolve(answer)
  }

  #lose(how: string, resolveEnd: () => void): void {
    this.gone ??= how
    for (const { answered } of this.#waiting.values()) answered.reject(new Error(`driver ${this.spec.name}: ${this.gone}`))
    this.#waiting.clear()
    resolveEnd()
  }
}
