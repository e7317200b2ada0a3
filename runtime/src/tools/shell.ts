// Owns the tool that runs a command: its time limit, what is shown of its output, and the end of all it started.
import { access, constants } from 'node:fs/promises'
import * as z from 'zod/mini'
import type { Clock } from '../base/clock.ts'
import { MAX_KEPT } from './kept-output.ts'
import { codeOf, fileError, resolveDirectory } from './paths.ts'
import { LINE_END } from './permission-policy.ts'
import { type Exit, type ProcessGroup, startGroup } from './process-group.ts'
import { ShellOutput } from './shell-output.ts'
import type { Tool, ToolOutcome } from './tool.ts'

const DEFAULT_TIMEOUT_MS = 120_000
export const MAX_TIMEOUT_MS = 600_000
/** Bytes of the output that are kept: more of its end, where the outcome of a command usually stands. */
const KEPT = { head: 10 * 1024, tail: 20 * 1024 }
/** How long processes may take to end after SIGTERM. */
export const KILL_GRACE_MS = 2_000
/** How long output that is on its way may take after the end of the shell (ST-9). */
export const DRAIN_MS = 200
/** The system's limit for one argument, with its NUL. */
const MAX_COMMAND_BYTES = 128 * 1024 - 1

const input = z.strictObject({
  command: z.string().check(z.minLength(1), z.describe('What to run, as one would type it; several lines are fine.')),
  cwd: z.optional(z.string().check(z.describe("Directory to run it in, inside the session's roots. Default: the working directory."))),
  timeoutMs: z.optional(
    z
      .int()
      .check(
        z.minimum(1),
        z.maximum(MAX_TIMEOUT_MS),
        z.describe(`Time limit in milliseconds. Default: ${DEFAULT_TIMEOUT_MS}, at most ${MAX_TIMEOUT_MS}.`),
      ),
  ),
})
type Input = z.output<typeof input>

/** How a call ended. */
type Ending = { kind: 'exit'; exit: Exit; background: boolean } | { kind: 'timeout' } | { kind: 'cancelled' }

export const shellTool = (clock: Clock): Tool<Input> => ({
  name: 'shell',
  description:
    'Runs a command with bash, or with sh where there is no bash, and shows its output and exit status. stdout and stderr come ' +
    `together, in order; of a long output the first ${KEPT.head / 1024} KiB and the last ${KEPT.tail / 1024} KiB are shown, and the whole, up to ` +
    `${MAX_KEPT / 1024 ** 2} MiB, is kept for a while in a file that the result names. An exit status other than 0 is reported, not treated ` +
    'as an error: read it. There is no input (stdin is empty) and no terminal, and each call starts anew in the working directory. A ' +
    'process started in the background with & is left running and not waited for; send its output to a file. At the time limit the ' +
    'command is stopped with everything it started.',
  access: 'execute',
  parallel: false,
  input,
  summary: ({ command }) => command.trim().replace(/\r?\n/g, ` ${LINE_END} `),
  subject: ({ command }) => ({ command }),
  async execute({ command, cwd, timeoutMs = DEFAULT_TIMEOUT_MS }, context) {
    if (command.includes('\0')) throw new Error('the command has a NUL character in it')
    if (Buffer.byteLength(command) > MAX_COMMAND_BYTES)
      throw new Error(`the command is longer than ${MAX_COMMAND_BYTES} bytes: write it to a file with write_file and run that`)
    const directory = await resolveDirectory(cwd ?? context.cwd, context)
    const file = await shellFile()
    const output = new ShellOutput(KEPT, context.spill)
    if (context.signal.aborted) return await outcome(output, { kind: 'cancelled' }, timeoutMs)
    const start = {
      sessionId: context.sessionId,
      file,
      args: ['-c', command],
      cwd: directory,
      env: context.env,
      onOutput: (chunk: Buffer) => output.push(chunk),
    }
    const group = await startGroup(start).catch((error: unknown) =>
      Promise.reject(codeOf(error) === undefined ? error : fileError(error, file)),
    )
    try {
      return await outcome(output, await ending(group, clock, timeoutMs, context.signal), timeoutMs)
    } finally {
      group.leave()
    }
  },
})

async function ending(group: ProcessGroup, clock: Clock, timeoutMs: number, signal: AbortSignal): Promise<Ending> {
  const ran = await within(group.exited, clock, timeoutMs, signal)
  // What the shell left in the background may hold the output for ever: only what is on its way is waited for.
  const drained = ran === 'done' ? await within(group.gone, clock, DRAIN_MS, signal) : ran
  if (ran === 'done' && drained !== 'aborted') return { kind: 'exit', exit: await group.exited, background: drained === 'late' }
  await stop(group, clock)
  return { kind: ran === 'late' ? 'timeout' : 'cancelled' }
}

/** Ends every process of the group: those that don't follow SIGTERM in time by SIGKILL. */
async function stop(group: ProcessGroup, clock: Clock): Promise<void> {
  group.signal('SIGTERM')
  await within(group.gone, clock, KILL_GRACE_MS)
  group.signal('SIGKILL')
  await group.exited
  await within(group.gone, clock, DRAIN_MS)
}

/** Waits for `promise`, but no longer than `ms`, nor beyond an abort. */
function within(promise: Promise<unknown>, clock: Clock, ms: number, signal?: AbortSignal): Promise<'done' | 'late' | 'aborted'> {
  return new Promise((resolve, reject) => {
    const settle = (how: 'done' | 'late' | 'aborted') => {
      cancel()
      signal?.removeEventListener('abort', onAbort)
      resolve(how)
    }
    const onAbort = () => settle('aborted')
    // One turn of the event loop later: what had arrived by then is read first, however late the timer itself fires.
    const cancel = clock.after(ms, () => setImmediate(settle, 'late'))
    promise.then(() => settle('done'), reject)
    signal?.addEventListener('abort', onAbort)
    if (signal?.aborted === true) onAbort()
  })
}

async function outcome(output: ShellOutput, ended: Ending, timeoutMs: number): Promise<ToolOutcome> {
  const shown = output.text()
  const kept = await output.note()
  const withNote = (note: string) =>
    `${shown === '' || shown.endsWith('\n') ? shown : `${shown}\n`}${kept === null ? '' : `[${kept}]\n`}[${note}]`
  if (ended.kind === 'exit') {
    const left = ended.background ? '; what it started in the background goes on running' : ''
    return { content: withNote(`${exitText(ended.exit)}${shown === '' ? ', no output' : ''}${left}`), isError: false }
  }
  const message =
    ended.kind === 'timeout'
      ? `stopped, with everything it started, at the time limit of ${timeoutMs} ms`
      : 'stopped, with everything it started, because the call was cancelled'
  const code = ended.kind === 'timeout' ? 'tool_timeout' : 'tool_cancelled'
  return { content: withNote(message), isError: true, error: { code, message, retryable: false } }
}

function exitText({ code, signal }: Exit): string {
  return signal === null ? `exit status ${code}` : `ended by ${signal}`
}

let found: Promise<string> | undefined

/** bash, since that is what models write; sh where there is none. */
function shellFile(): Promise<string> {
  found ??= firstExecutable(['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash'])
  return found
}

async function firstExecutable(files: readonly string[]): Promise<string> {
  for (const file of files) {
    const runs = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (runs) return file
  }
  return '/bin/sh'
}
