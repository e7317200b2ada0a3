// Owns finding the processes that left their group (setsid, a daemon): by a mark in the environment that they were started with.
// Linux only: elsewhere there is no cheap way, and nothing is found. A process that was started with an empty environment isn't either.
import { readdirSync, readFileSync } from 'node:fs'

/** Names the mark of a group in its processes' environment. */
export const MARK = 'QUIESCE_GROUP'

/** The ids of the processes whose mark begins with this. Synchronous: fit for an exit handler. */
export function marked(mark: string): number[] {
  const wanted = `${MARK}=${mark}`
  return processes().filter((pid) => environmentOf(pid).includes(wanted))
}

function processes(): number[] {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []))
  } catch {
    return []
  }
}

/** Empty where it is gone, or another user's. */
function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
  } catch {
    return ''
  }
}
