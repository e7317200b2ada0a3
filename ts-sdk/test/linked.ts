// Owns a session on a scripted runtime, and runs of it that have come as far as a test wants them.
import { Connection } from '../src/connection.ts'
import type { CollectOptions, RunOptions } from '../src/run.ts'
import { Session } from '../src/session.ts'
import { Log } from './facts.ts'
import { FakeRuntime } from './fake-runtime.ts'

export async function linked(runtime = new FakeRuntime()) {
  const connection = await Connection.open(runtime, 60_000)
  const session = new Session('s-1', () => Promise.resolve(connection))
  /** A round trip: whatever was sent before it has been dealt with. */
  const fence = () => connection.call('server/ping', {})
  return { runtime, session, fence }
}

/** A run whose prompt was answered; what follows is up to the test. */
export async function prompted(options: RunOptions = {}) {
  const started = await linked()
  const run = started.session.run('hello', options)
  run.catch(() => {}) // each test looks at it in its own time
  const subscribed = await started.runtime.received('session/subscribe')
  const prompt = await started.runtime.received('session/prompt')
  return { ...started, run, subscribed, messageId: prompt.params.messageId, log: new Log() }
}

/** The collecting of message `m-1`, whose receipt has seq 5. */
export async function collecting(options: CollectOptions = {}) {
  const started = await linked()
  const run = started.session.collect('m-1', options)
  run.catch(() => {})
  return { ...started, run, subscribed: await started.runtime.received('session/subscribe'), log: new Log(4) }
}

export const unsubscribed = (runtime: FakeRuntime) => runtime.received('session/unsubscribe').then(({ params }) => params.subscriptionId)
