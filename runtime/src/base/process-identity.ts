// Owns who this process is, so that others can tell whether it still lives: host, boot, pid, and when it started.
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'

export interface ProcessIdentity {
  host: string
  /** Differs from boot to boot of one host. */
  bootId: string
  pid: number
  /** In the host's own unit: equal strings are the same start. */
  processStart: string
}

/** What the identity is read from; tests bring their own. */
export interface Host {
  name(): string
  bootId(): string
  /** When the process with this pid started, or null where there is none (a zombie counts as none). */
  processStart(pid: number): string | null
}

export function identify(host: Host = thisHost, pid: number = process.pid): ProcessIdentity {
  return { host: host.name(), bootId: host.bootId(), pid, processStart: host.processStart(pid) ?? 'unknown' }
}

/**
 * Is that process surely gone? Only ever true for one of this host: pids of other hosts say nothing here.
 * A start that could not be read, then or now, proves nothing.
 */
export function isGone(other: ProcessIdentity, host: Host = thisHost): boolean {
  if (other.host !== host.name() || other.bootId === 'unknown' || host.bootId() === 'unknown') return false
  if (other.bootId !== host.bootId()) return true
  const start = host.processStart(other.pid)
  if (start === null) return true
  return other.processStart !== 'unknown' && start !== other.processStart
}

export const thisHost: Host = process.platform === 'linux' ? linuxHost('/proc') : { name: hostname, ...psHost() }

/** `proc` is where the proc file system is mounted. */
export function linuxHost(proc: string): Host {
  return {
    name: hostname,
    bootId: () => {
      try {
        return readFileSync(`${proc}/sys/kernel/random/boot_id`, 'utf8').trim()
      } catch {
        return 'unknown'
      }
    },
    processStart: (pid) => {
      try {
        // The second field is the name in parentheses and may hold any character, so count from the last parenthesis: 3 is first.
        const fields = readFileSync(`${proc}/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
        const [state, start] = [fields[0], fields[22 - 3]]
        return state === 'Z' || state === 'X' ? null : (start ?? 'unknown')
      } catch (error) {
        const gone = error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')
        return gone ? null : 'unknown'
      }
    },
  }
}

/** Systems without a proc file system: the tools of POSIX and of macOS. */
function psHost(): Omit<Host, 'name'> {
  const ask = (command: string, args: readonly string[]): string | null => {
    try {
      const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' }
      return process
        .getBuiltinModule('node:child_process')
        .execFileSync(command, args, { encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'ignore'] })
        .trim()
    } catch {
      return null
    }
  }
  let boot: string | undefined
  return {
    bootId: () => {
      boot ??= ask('sysctl', ['-n', 'kern.bootsessionuuid']) ?? 'unknown'
      return boot
    },
    processStart: (pid) => {
      const [state, ...start] = (ask('ps', ['-o', 'stat=,lstart=', '-p', String(pid)]) ?? '').split(/\s+/)
      if (state === undefined || state === '' || state.startsWith('Z')) return isRunning(pid) ? 'unknown' : null
      return start.join(' ')
    },
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
