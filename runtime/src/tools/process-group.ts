// Owns every process that a tool starts: each command is the leader of a group of its own, and can be killed with all it started.
import type { ChildProcess } from 'node:child_process'
import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import { codeOf } from './paths.ts'
import { makePipe } from './pipe.ts'
import { MARK, marked } from './strays.ts'

export interface Command {
  file: string
  args: readonly string[]
  /** Absolute. */
  cwd: string
  /** The whole environment. */
  env: Readonly<Record<string, string>>
  /** Gets stdout and stderr in the order in which they were written. */
  onOutput(chunk: Buffer): void
}

export interface Exit {
  /** Null where a signal ended it. */
  code: number | null
  signal: NodeJS.Signals | null
}

/** Marks every process that this runtime starts for a tool; followed by a number for each group. */
let runtimeMark = `${process.pid}-${Date.now()}.`
let started = 0

/** Names the runtime in the mark of its processes, so that another one can end them after it was killed. */
export function markGroups(runtimeId: string): void {
  runtimeMark = `${runtimeId}.`
}

/** Ends what the tools of a runtime that was killed left running on this host. Only for one that is surely gone. */
export function reapGroups(runtimeId: string): void {
  signalMarked(`${runtimeId}.`, 'SIGKILL')
}

/** Groups that may have a process: also those that were left in the background. */
const groups = new Map<number, ProcessGroup>()

/** Starts a command without input in a group of its own. *Contract:* rejects where the system refuses; then nothing is left. */
export async function startGroup(command: Command): Promise<ProcessGroup> {
  for (const group of groups.values()) group.forgetIfEmpty()
  const { spawn } = await import('node:child_process')
  const { reader, writer } = await makePipe()
  started += 1
  const mark = `${runtimeMark}${started}.`
  try {
    const child = spawn(command.file, [...command.args], {
      cwd: command.cwd,
      env: { ...command.env, [MARK]: mark },
      detached: true,
      stdio: ['ignore', writer, writer, 'pipe'],
    })
    if (child.pid === undefined) throw await new Promise((resolve) => child.once('error', resolve))
    return new ProcessGroup(child, mark, reader, command.onOutput)
  } catch (error) {
    reader.destroy()
    throw error
  } finally {
    closeSync(writer)
  }
}

/** Kills every process of every group at once, those in the background included (RE-5, FR-5). Synchronous: fit for an exit handler. */
export function killAllGroups(): void {
  for (const group of groups.values()) group.signalGroup('SIGKILL')
  if (started > 0) signalMarked(runtimeMark, 'SIGKILL')
}

/** How many groups may have a process. */
export function groupCount(): number {
  for (const group of groups.values()) group.forgetIfEmpty()
  return groups.size
}

export class ProcessGroup {
  /** Id of the group, and of the process that leads it. */
  readonly id: number
  /** When the leader exits. */
  readonly exited: Promise<Exit>
  /**
   * When no process holds the output, nor the lifeline: a descriptor that all of the group inherit, and that only closes when
   * the last of them is gone. Misses a process that closed both on purpose.
   */
  readonly gone: Promise<void>
  readonly #mark: string
  readonly #child: ChildProcess
  readonly #pipes: readonly Socket[]
  #leaderExited = false

  constructor(child: ChildProcess, mark: string, output: Socket, onOutput: (chunk: Buffer) => void) {
    const lifeline = child.stdio[3]
    if (child.pid === undefined || !(lifeline instanceof Socket)) throw new Error('a process started without its pipes')
    this.id = child.pid
    this.#mark = mark
    this.#child = child
    this.#pipes = [output, lifeline]
    const closed = this.#pipes.map(
      (pipe) => new Promise<void>((resolve) => pipe.once('close', () => resolve()).on('error', () => undefined)),
    )
    output.on('data', onOutput)
    lifeline.resume()
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#leaderExited = true
        resolve({ code, signal })
      })
    })
    this.gone = Promise.all([this.exited, ...closed]).then(() => this.forgetIfEmpty())
    groups.set(this.id, this)
  }

  /** Sends a signal to everything that the command started, what left its group included; nobody left is passed over. */
  signal(name: 'SIGTERM' | 'SIGKILL'): void {
    this.signalGroup(name)
    signalMarked(this.#mark, name)
  }

  /** The same for the group alone. */
  signalGroup(name: 'SIGTERM' | 'SIGKILL'): void {
    if (this.#isForeign()) return
    send(-this.id, name)
  }

  /** Leaves what is in the background to itself: its output is read on and dropped, and doesn't keep this process alive. */
  leave(): void {
    this.#child.unref()
    for (const pipe of this.#pipes) {
      pipe.removeAllListeners('data').resume()
      pipe.unref()
    }
  }

  forgetIfEmpty(): void {
    if (this.#leaderExited && (this.#isForeign() || !exists(-this.id))) groups.delete(this.id)
  }

  /** The system doesn't give an id away while a group has it: where the leader is gone and its id is in use, both are another's. */
  #isForeign(): boolean {
    return this.#leaderExited && exists(this.id)
  }
}

/** Looks again as long as it finds some: one may have started another meanwhile. A killed one that lingers ends it too. */
function signalMarked(mark: string, name: 'SIGTERM' | 'SIGKILL'): void {
  const told = new Set<number>()
  for (;;) {
    const fresh = marked(mark).filter((pid) => !told.has(pid))
    if (fresh.length === 0) return
    for (const pid of fresh) {
      told.add(pid)
      send(pid, name)
    }
  }
}

function send(id: number, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(id, name)
  } catch (error) {
    if (codeOf(error) !== 'ESRCH' && codeOf(error) !== 'EPERM') throw error
  }
}

function exists(id: number): boolean {
  try {
    process.kill(id, 0)
    return true
  } catch (error) {
    return codeOf(error) !== 'ESRCH'
  }
}
