// Owns every process that a tool starts: each command is the leader of a group of its own, and can be killed with all it started.
import type { ChildProcess } from 'node:child_process'
import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import { failpoint } from '../base/failpoint.ts'
import { codeOf } from './paths.ts'
import { makePipe } from './pipe.ts'
import { MARK, marked, markOf, markValue } from './strays.ts'

export interface Command {
  /** The session whose tool starts it. */
  sessionId: string
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

/** Names this runtime in the mark of every process that it starts for a tool; the session and a number follow it. */
let runtimeName = `${process.pid}-${Date.now()}`
let started = 0

/** Names the runtime in the mark of its processes, so that another one can end them after it was killed. */
export function markGroups(runtimeId: string): void {
  runtimeName = runtimeId
}

/**
 * Ends what the tools of another runtime left running on this host, or those of one of its sessions: of a runtime that is
 * surely gone, or of a session whose lease it lost. Synchronous, and needs nothing of this module's state: fit for a thread that
 * stands in for one that hangs. Linux only: elsewhere it finds nothing.
 */
export function reapGroups(runtimeId: string, sessionId?: string): void {
  signalMarked(markOf(runtimeId, sessionId), 'SIGKILL')
}

/** Groups that may have a process: also those that were left in the background. */
const groups = new Map<number, ProcessGroup>()
const listeners = new Set<(ids: readonly number[]) => void>()
/** Commands on their way to a process: what ends their session meanwhile ends them too. */
const starting = new Set<{ sessionId: string; ended: boolean }>()

/** The ids of the groups that may have a process, of all sessions or of one. */
export function groupIds(sessionId?: string): number[] {
  forgetEmpty()
  return of(sessionId).map((group) => group.id)
}

/**
 * Calls back with the ids of all groups, synchronously, when one has begun (before `startGroup` answers) and when one was found
 * to have ended: as its `gone` resolves, or where a process of it had let go of all it inherited, at the next look. The answer
 * takes it back. An id stays the group's own as long as this process hasn't been told that the leader exited.
 */
export function onGroupsChanged(listener: (ids: readonly number[]) => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function changed(): void {
  const ids = [...groups.keys()]
  for (const listener of listeners) listener(ids)
}

/**
 * Starts a command without input in a group of its own. *Contract:* rejects where the system refuses, or where the session's
 * groups were killed before it had begun; then nothing is left.
 */
export async function startGroup(command: Command): Promise<ProcessGroup> {
  forgetEmpty()
  const { sessionId, file, args, cwd, env, onOutput } = command
  const start = { sessionId, ended: false }
  starting.add(start)
  try {
    const { spawn } = await import('node:child_process')
    const { reader, writer } = await makePipe()
    try {
      // From here to the group's entry in one go: whoever kills groups finds it either not begun or in the list.
      if (start.ended) throw new Error('the command was not started: the tools of its session were ended')
      started += 1
      const mark = `${markOf(runtimeName, sessionId)}${started}.`
      failpoint('spawn.before')
      const child = spawn(file, [...args], {
        cwd,
        env: { ...env, [MARK]: markValue(mark, process.env[MARK]) },
        detached: true,
        stdio: ['ignore', writer, writer, 'pipe'],
      })
      failpoint('spawn.after')
      if (child.pid === undefined) throw await new Promise((resolve) => child.once('error', resolve))
      return new ProcessGroup(child, { sessionId, mark }, reader, onOutput)
    } catch (error) {
      reader.destroy()
      throw error
    } finally {
      closeSync(writer)
    }
  } finally {
    starting.delete(start)
  }
}

/** Kills every process of every group at once, those in the background included (RE-5, FR-5). Synchronous: fit for an exit handler. */
export function killAllGroups(): void {
  kill()
}

/** The same for the groups of one session: for one whose lease is lost. Those of other sessions go on. */
export function killGroupsOf(sessionId: string): void {
  kill(sessionId)
}

function kill(sessionId?: string): void {
  for (const start of starting) if (sessionId === undefined || start.sessionId === sessionId) start.ended = true
  for (const group of of(sessionId)) group.signalGroup('SIGKILL')
  if (started > 0) signalMarked(markOf(runtimeName, sessionId), 'SIGKILL')
}

function of(sessionId?: string): ProcessGroup[] {
  return [...groups.values()].filter((group) => sessionId === undefined || group.sessionId === sessionId)
}

/** How many groups may have a process. */
export function groupCount(): number {
  forgetEmpty()
  return groups.size
}

function forgetEmpty(): void {
  for (const group of groups.values()) group.forgetIfEmpty()
}

export class ProcessGroup {
  /** Id of the group, and of the process that leads it. */
  readonly id: number
  readonly sessionId: string
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

  constructor(child: ChildProcess, of: { sessionId: string; mark: string }, output: Socket, onOutput: (chunk: Buffer) => void) {
    const lifeline = child.stdio[3]
    if (child.pid === undefined || !(lifeline instanceof Socket)) throw new Error('a process started without its pipes')
    this.id = child.pid
    this.sessionId = of.sessionId
    this.#mark = of.mark
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
    changed()
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
    if (!this.#leaderExited || (!this.#isForeign() && exists(-this.id))) return
    if (groups.get(this.id) === this && groups.delete(this.id)) changed()
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
