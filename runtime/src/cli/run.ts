// Owns `quiesce run`: a session, one prompt, its interval, what stdout and stderr get of it, and every way to stop it.
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import type { SessionOf } from '@quiesce/schema'
import type { Clock } from '../base/clock.ts'
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
  const content = await promptText(options.words, ports.stdin ?? process.stdin)
  const runtime = await ports.open()
  const stop = stopper(ports)
  try {
    const session = await sessionFor(options, runtime)
    return await Promise.race([follow(content, session, options, { ...ports, runtime, stop }), stop.atOnce])
  } finally {
    await Promise.race([runtime.close(), stop.atOnce])
    stop.end()
  }
}

interface Stop {
  /** Calls back at the first signal. */
  onFirst(listener: () => void): void
  /** Resolves with the exit status at the second signal. */
  atOnce: Promise<number>
  end(): void
}

/** CLI-5: the first signal asks, the second doesn't. */
function stopper({ onSignal }: RunPorts): Stop {
  let signals = 0
  let first: () => void = () => undefined
  let stopNow: (status: number) => void = () => undefined
  const atOnce = new Promise<number>((done) => {
    stopNow = done
  })
  const end = onSignal(() => {
    signals += 1
    if (signals === 1) first()
    else stopNow(exitStatus.cancelled)
  })
  return {
    onFirst: (listener) => {
      first = listener
      if (signals > 0) listener()
    },
    atOnce,
    end,
  }
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
  stop.onFirst(() => giveUp('cancelled by a signal'))
  terminal.onBroken(() => giveUp('nobody reads stdout any more'))
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
  const { status, why } = verdictOf(fold, gaveUp)
  if (why !== null) terminal.say(`quiesce: ${why} (session ${session.sessionId})`)
  for (const waiting of result.waitingOn)
    terminal.say(`quiesce: still running: ${'sessionId' in waiting ? waiting.sessionId : waiting.kind}`)
  await terminal.flush()
  return status
}

/** The words, with what stdin says in the place of `-`. Without one stdin isn't touched (CLI-3). */
async function promptText(words: readonly string[], stdin: AsyncIterable<Uint8Array | string>): Promise<string> {
  const at = words.indexOf('-')
  if (at === -1) return words.join(' ')
  const said = (await text(asText(stdin))).trimEnd()
  const parts = [words.slice(0, at).join(' '), said, words.slice(at + 1).join(' ')]
  return parts.filter((part) => part !== '').join('\n\n')
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
