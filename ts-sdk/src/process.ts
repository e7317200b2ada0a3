// Owns one runtime process: its pipes, its end, and that nothing of its process group outlives it. Doesn't know what the bytes mean.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { Socket } from 'node:net'
import { deferred, within } from './deferred.ts'
import { ConnectionClosedError, type ProcessEnd, ProtocolError, type QuiesceError, RuntimeNotFoundError } from './errors.ts'
import { FrameReader } from './framing.ts'
import type { LaunchPlan } from './launch.ts'
import type { Receiver, Transport } from './peer.ts'
import { StderrLog } from './stderr.ts'

/** How long each way of ending gets before the next one is tried, in milliseconds. */
export interface Grace {
  stdin: number
  term: number
  kill: number
  /** How long the rest of the pipes is waited for, once the process is gone. */
  pipes: number
}

export const defaultGrace: Grace = { stdin: 2000, term: 2000, kill: 2000, pipes: 500 }

export class RuntimeProcess implements Transport {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #grace: Grace
  readonly #stderr: StderrLog
  readonly #exited = deferred<void>()
  readonly #ended = deferred<void>()
  #stopping: Promise<void> | undefined
  #receiver: Receiver | undefined
  #holds = 0

  private constructor(child: ChildProcessWithoutNullStreams, stderr: StderrLog, grace: Grace) {
    this.#child = child
    this.#stderr = stderr
    this.#grace = grace
  }

  /** Starts the runtime in a process group of its own. @throws RuntimeNotFoundError where the system can't start it. */
  static async spawn(plan: LaunchPlan, onStderr?: (line: string) => void, grace: Grace = defaultGrace): Promise<RuntimeProcess> {
    const child = spawn(plan.command, plan.args, { cwd: plan.cwd, env: plan.env, detached: true, stdio: 'pipe' })
    const runtime = new RuntimeProcess(child, new StderrLog(onStderr), grace)
    runtime.#listen()
    await new Promise<void>((started, failed) => {
      child.once('spawn', started)
      child.once('error', (cause) =>
        failed(new RuntimeNotFoundError(`can't start the runtime ${plan.command} in ${plan.cwd}: ${cause.message}`, { cause })),
      )
    })
    return runtime
  }

  /** The process's id, which is its group's too. */
  get pid(): number | undefined {
    return this.#child.pid
  }

  start(receiver: Receiver): void {
    this.#receiver = receiver
    const feed = feeding(receiver)
    const take = (chunk: Buffer): void => {
      if (!feed(chunk)) this.#child.stdout.off('data', take).resume()
    }
    this.#child.stdout.on('data', take)
  }

  send(frame: string): void {
    const { stdin } = this.#child
    if (!stdin.writable) return
    if (stdin.writableCorked === 0) {
      stdin.cork() // what is sent in one tick goes out in one write
      process.nextTick(() => stdin.uncork())
    }
    stdin.write(frame)
  }

  hold(): void {
    this.#holds += 1
    if (this.#holds > 1) return
    this.#child.ref()
    for (const pipe of this.#pipes()) pipe.ref()
  }

  release(): void {
    this.#holds -= 1
    if (this.#holds > 0) return
    this.#child.unref()
    for (const pipe of this.#pipes()) pipe.unref()
  }

  /** Ends the process and its group: end of stdin, SIGTERM, SIGKILL, each with its grace. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop(): Promise<void> {
    this.hold()
    this.#child.stdin.end()
    if (!(await within(this.#grace.stdin, this.#exited.promise))) this.#signal('SIGTERM')
    if (!(await within(this.#grace.term, this.#exited.promise))) this.#signal('SIGKILL')
    await within(this.#grace.kill + this.#grace.pipes, this.#ended.promise)
  }

  #listen(): void {
    const child = this.#child
    child.stderr.on('data', (chunk: Buffer) => this.#stderr.push(chunk))
    child.stdin.on('error', () => {}) // the process no longer reads: its end says so
    child.on('error', () => {}) // where it could not be started, spawn() says so
    child.stdout.once('end', () => void this.#stopAnswering())
    child.once('exit', () => {
      this.#signal('SIGKILL') // whatever it left in its group
      this.#exited.resolve()
      void within(this.#grace.pipes, this.#ended.promise).then(() => this.#end())
    })
    child.once('close', () => this.#end())
  }

  /** The end of stdout: no answer can come any more. Mostly the process has just ended, and can say how. */
  async #stopAnswering(): Promise<void> {
    void this.stop()
    await within(this.#grace.pipes, this.#ended.promise)
    this.#tellEnd()
  }

  #end(): void {
    if (this.#child.exitCode === null && this.#child.signalCode === null) return // it could not be started
    this.#stderr.end()
    for (const pipe of this.#pipes()) pipe.destroy()
    this.#ended.resolve()
    this.#tellEnd()
  }

  #tellEnd(): void {
    const receiver = this.#receiver
    this.#receiver = undefined
    receiver?.ended(this.#closedError())
  }

  #closedError(): QuiesceError {
    const end: ProcessEnd = { exitCode: this.#child.exitCode, signal: this.#child.signalCode, stderr: this.#stderr.tail }
    const { exitCode, signal } = end
    const how = signal !== null ? `was ended by ${signal}` : exitCode === null ? 'closed its stdout' : `exited with code ${exitCode}`
    const said = end.stderr === '' ? 'it wrote nothing to stderr' : `the end of its stderr:\n${end.stderr}`
    return new ConnectionClosedError(`the runtime ${how}; ${said}`, end)
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child
    if (pid === undefined) return
    try {
      process.kill(-pid, signal)
    } catch {
      // nothing of the group is left
    }
  }

  #pipes(): Socket[] {
    const { stdin, stdout, stderr } = this.#child
    return [stdin, stdout, stderr].filter((pipe): pipe is typeof pipe & Socket => pipe instanceof Socket)
  }
}

/** Hands on what chunks hold, frame by frame; false once one came behind which nothing can be trusted, and the receiver knows. */
export function feeding(receiver: Receiver, limit?: number): (chunk: Uint8Array) => boolean {
  const reader = new FrameReader(limit)
  return (chunk) => {
    const frames: string[] = []
    const broken = readInto(frames, reader, chunk)
    for (const frame of frames) receiver.frame(frame)
    if (broken !== undefined) receiver.ended(broken)
    return broken === undefined
  }
}

/** Cuts a chunk into frames; the error is what comes behind them. */
function readInto(frames: string[], reader: FrameReader, chunk: Uint8Array): ProtocolError | undefined {
  try {
    reader.push(chunk, (frame) => frames.push(frame))
    return undefined
  } catch (error) {
    if (error instanceof ProtocolError) return error
    throw error
  }
}
