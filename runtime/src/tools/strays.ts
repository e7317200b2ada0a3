// Owns finding the processes that left their group (setsid, a daemon): by a mark in the environment that they were started with.
// Linux only: elsewhere there is no cheap way, and nothing is found. Nor is a process that was started without the mark (env -i), or wrote over it.
import { readdirSync, readFileSync } from 'node:fs'

/** Names the mark of a group in its processes' environment. */
export const MARK = 'QUIESCE_GROUP'

/**
 * What begins the mark of every group of a runtime, or of one session's in it. A mark is `<runtime>.<session>.<number>.`, so no
 * id may have a full stop in it: what isn't a letter, a digit, `_` or `-` is written as `%` and the four digits of its code.
 */
export function markOf(runtimeId: string, sessionId?: string): string {
  return [runtimeId, ...(sessionId === undefined ? [] : [sessionId])].map((id) => `${encoded(id)}.`).join('')
}

const encoded = (id: string) => id.replace(/[^\w-]/g, (unit) => `%${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/**
 * The value of the variable: this group's mark, behind those of the groups around it where this runtime is itself run by a
 * tool. Who ends an outer group by its mark ends the inner ones with it.
 */
export function markValue(mark: string, around: string | undefined): string {
  return around === undefined || around === '' ? mark : `${around} ${mark}`
}

/** The ids of the processes with a mark that begins with this. Synchronous: fit for an exit handler. */
export function marked(mark: string): number[] {
  return processes().filter((pid) => hasMark(environmentOf(pid), mark))
}

/** `environment` is as the system keeps it: each variable ends in NUL. */
export function hasMark(environment: string, mark: string): boolean {
  const marks = environment.split('\0').filter((variable) => variable.startsWith(`${MARK}=`))
  return marks.some((variable) =>
    variable
      .slice(MARK.length + 1)
      .split(' ')
      .some((one) => one.startsWith(mark)),
  )
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
