// Owns `quiesce run`: a session, one prompt, its interval, what stdout and stderr get of it, and every way to stop it.
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import type { SessionOf } from '@quiesce/schema'
import type { Clock } from '../base/clock.ts'
import { deferred } from '../base/deferred.ts'
import { InvalidParams } from '../log/refusal.ts'
import { RunFold } from '../log/run.ts'
import { exitStatus, verdictOf } from './exit-status.ts'
import { Interval } from './interval.ts'
import type { RunOptions } from './program.ts'
import { renderer } from './render.ts'
import type { Runtime } from './runtime.ts'
import type { Terminal } from './terminal.ts'

export interface RunPorts {
  open(): Promise<Runtime>
  clock: Clock
  newId(prefix: string): string
  terminal: Terminal
  /** Calls back at each signal that asks for an end; the answer takes it back. */
  onSignal(listener: () => void): () => void
  stdin?: AsyncIterable<Uint8Array | string>
}

/** Runs to its exit status. *Contract:* rejects with Refusal, InvalidParams or ConfigError; the runtime is closed then, too. */
export async function runCommand(options: RunOptions, ports: RunPorts): Promise<number> {
  const stop = stopper(ports)
  try {
    const content = await Promise.race([promptText(options.words, ports.stdin ?? process.stdin), stop.asked])
    // Nothing was begun, so there is nothing to wait for.
    if (content === null) {
      ports.terminal.say(`quiesce: ${bySignal}`)
      return exitStatus.cancelled
    }
    const running = openAndRun(content, options, { ...ports, stop })
    running.catch(() => undefined)
    return await Promise.race([running, stop.atOnce])
  } finally {
    stop.end()
  }
}

async function openAndRun(content: string, options: RunOptions, ports: RunPorts & { stop: Stop }): Promise<number> {
  return runIn(await ports.open(), content, options, ports)
}

async function runIn(runtime: Runtime, content: string, options: RunOptions, ports: RunPorts & { stop: Stop }): Promise<number> {
  const { atOnce } = ports.stop
  try {
    const session = await sessionFor(options, runtime)
    return await Promise.race([follow(content, session, options, { ...ports, runtime }), atOnce])
  } finally {
    await Promise.race([runtime.close(), atOnce])
  }
}

const bySignal = 'cancelled by a signal'

interface Stop {
  /** Resolves at the first signal. */
  asked: Promise<null>
  /** Resolves with the exit status at the second signal. */
  atOnce: Promise<number>
  end(): void
}

/** CLI-5: the first signal asks, the second doesn't. They are heard from the start on, also while stdin says nothing. */
function stopper({ onSignal }: RunPorts): Stop {
  const asked = deferred<null>()
  const atOnce = deferred<number>()
  let signals = 0
  const end = onSignal(() => {
    signals += 1
    if (signals === 1) asked.resolve(null)
    else atOnce.resolve(exitStatus.cancelled)
  })
  return { asked: asked.promise, atOnce: atOnce.promise, end }
}

async function follow(
  content: string,
  session: SessionOf,
  options: RunOptions,
  { runtime, clock, newId, terminal, stop }: RunPorts & { runtime: Runtime; stop: Stop },
): Promise<number> {
  const messageId = newId('msg')
  const fold = new RunFold(session.sessionId, messageId, options.until)
  const render = renderer(options.output, terminal, options.quiet)
  const deltas = options.output === 'text' && terminal.stdoutIsTty
  const interval = new Interval({ runtime, session, messageId, fold, observer: render, deltas })
  let gaveUp: string | null = null
  const giveUp = (why: string) => {
    gaveUp ??= why
    interval.cancel(why).catch(() => undefined)
  }
  void stop.asked.then(() => giveUp(bySignal))
  terminal.onLost(() => giveUp('stdout takes no more'))
  const { timeoutMs } = options
  const untimed = timeoutMs === undefined ? () => undefined : clock.after(timeoutMs, () => giveUp(`timed out after ${timeoutMs} ms`))
  try {
    await interval.run(content, options.wait)
  } finally {
    untimed()
    interval.close()
  }
  const result = fold.result()
  render.end(result)
  const { status, why } = verdictOf(fold, gaveUp, await terminal.flush())
  if (why !== null) terminal.say(`quiesce: ${why} (session ${session.sessionId})`)
  for (const waiting of result.waitingOn)
    terminal.say(`quiesce: still running: ${'sessionId' in waiting ? waiting.sessionId : waiting.kind}`)
  await terminal.flush()
  return status
}

/** The words, with what stdin says in the place of `-`. Without one stdin isn't touched (CLI-3). *Contract:* rejects with InvalidParams where nothing is left. */
async function promptText(words: readonly string[], stdin: AsyncIterable<Uint8Array | string>): Promise<string> {
  const at = words.indexOf('-')
  if (at === -1) return words.join(' ')
  const said = (await text(asText(stdin))).trimEnd()
  const parts = [words.slice(0, at).join(' '), said, words.slice(at + 1).join(' ')].filter((part) => part.trim() !== '')
  if (parts.length === 0)
    throw new InvalidParams([{ path: '', message: 'no prompt: stdin said nothing; give the prompt there, or as words' }])
  return parts.join('\n\n')
}

async function* asText(stdin: AsyncIterable<Uint8Array | string>): AsyncGenerator<Uint8Array> {
  for await (const chunk of stdin) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk
}

/** A new session, or the one that was named, changed where an option says another thing than its configuration. */
async function sessionFor(options: RunOptions, { sessions }: Runtime): Promise<SessionOf> {
  const { session: sessionId, permissions, maxSteps, system, config } = options
  const { model } = config
  if (sessionId === undefined)
    return sessions.create({
      cwd: resolve(options.cwd),
      ...(model !== undefined && { model }),
      ...(permissions !== undefined && { permissions }),
      ...(maxSteps !== undefined && { limits: { maxSteps } }),
      ...(system !== undefined && { system }),
    })
  const session = await sessions.describe(sessionId)
  const change = {
    ...(model !== undefined && model !== session.model && { model }),
    ...(permissions !== undefined && permissions !== session.permissions && { permissions }),
    ...(maxSteps !== undefined && maxSteps !== session.limits.maxSteps && { limits: { ...session.limits, maxSteps } }),
  }
  return Object.keys(change).length === 0 ? session : sessions.update({ sessionId, ...change })
}
