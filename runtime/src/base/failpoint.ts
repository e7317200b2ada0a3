// Owns the named points at which a test may kill the runtime. Does nothing, at the cost of an empty call, unless
// QUIESCE_FAILPOINT was set when the process started.
import { appendFileSync } from 'node:fs'

/** `detail` is asked only where points count; it is joined to the name by a colon. */
export type Failpoint = (name: string, detail?: () => string) => void

/** What a set variable does with a point; tests bring their own. */
export interface FailpointActions {
  record(file: string, line: string): void
  kill(): void
  /** Counts every point of the process, whichever thread meets it: 1, 2, 3 and so on. */
  ordinal(): number
}

/**
 * `<name>#<n>` and `@<ordinal>` kill the process there, `record:<file>` appends a line `<ordinal> <name>#<n>` for every point,
 * `n` being how often this one was met, and `<where to kill>;record:<file>` does both. *Contract:* throws where it is none of these.
 */
export function failpointFor(setting: string | undefined, actions: FailpointActions): Failpoint {
  if (setting === undefined || setting === '') return () => undefined
  const match = /^(?:@(?<ordinal>\d+)|(?<point>.+?#\d+))?(?:(?:^|;)record:(?<file>.+))?$/s.exec(setting)
  if (match === null)
    throw new Error(
      `QUIESCE_FAILPOINT: expected <name>#<n>, @<ordinal>, record:<file>, or one of the first two with ;record:<file>, got ${JSON.stringify(setting)}`,
    )
  const { file, ordinal, point } = match.groups ?? {}
  // Each name belongs to one thread, so that a count per thread is one per process.
  const met = new Map<string, number>()
  return (name, detail) => {
    const full = detail === undefined ? name : `${name}:${detail()}`
    const count = (met.get(full) ?? 0) + 1
    met.set(full, count)
    const place = actions.ordinal()
    if (file !== undefined) actions.record(file, `${place} ${full}#${count}\n`)
    if (`${full}#${count}` === point || (ordinal !== undefined && place === Number(ordinal))) actions.kill()
  }
}

/** The threads of a process count together: the first one makes the counter, and those that it starts find it. */
function sharedCounter(): () => number {
  const { getEnvironmentData, setEnvironmentData, isMainThread } = process.getBuiltinModule('node:worker_threads')
  const key = 'quiesce.failpoints'
  if (isMainThread) setEnvironmentData(key, new SharedArrayBuffer(4))
  const shared = getEnvironmentData(key)
  const counter = new Int32Array(shared instanceof SharedArrayBuffer ? shared : new SharedArrayBuffer(4))
  return () => Atomics.add(counter, 0, 1) + 1
}

const setting = process.env.QUIESCE_FAILPOINT

export const failpoint: Failpoint = failpointFor(setting, {
  record: appendFileSync,
  // The system takes every thread down before this call returns.
  kill: () => process.kill(process.pid, 'SIGKILL'),
  ordinal: setting === undefined ? () => 0 : sharedCounter(),
})
