// Owns the runtime's log: lines of JSON on stderr. The writer is loaded when there is something to write, and not before.

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]
export type EntryLevel = Exclude<LogLevel, 'silent'>

/** Writes one entry. Loaded once, at the first entry that counts. */
export type WriteEntry = (level: EntryLevel, fields: Readonly<Record<string, unknown>>, message: string) => void

export interface Logger {
  log(level: EntryLevel, message: string, fields?: Readonly<Record<string, unknown>>): void
  /**
   * A fault, with its stack and without what hangs on it: requests and headers may hold secrets (FR-7). A refusal has no stack, since
   * its message says all. One that comes again and again, as of a store that is gone, is written once a minute.
   */
  report(what: string, error: unknown): void
  /** Resolves once what was logged is written. */
  flush(): Promise<void>
}

/** How long a report that is the same as an earlier one is only counted, in ms; and of how many that is known. */
const REPEAT_MS = 60_000
const KNOWN_REPORTS = 200

export function openLogger(level: LogLevel, load: () => Promise<WriteEntry> = loadPino, monotonic = () => performance.now()): Logger {
  let write: WriteEntry | null = null
  let loading: Promise<void> | null = null
  const waiting: Parameters<WriteEntry>[] = []
  const lowest = logLevels.indexOf(level)
  const begin = async () => {
    write = await load().catch(() => writePlain)
    for (const entry of waiting.splice(0)) write(...entry)
  }
  const log: Logger['log'] = (entryLevel, message, fields = {}) => {
    if (logLevels.indexOf(entryLevel) < lowest) return
    if (write !== null) write(entryLevel, fields, message)
    else {
      waiting.push([entryLevel, fields, message])
      loading ??= begin()
    }
  }
  const reported = new Map<string, { at: number; repeated: number }>()
  const report: Logger['report'] = (what, error) => {
    const fields = faultFields(error)
    const key = `${what}\n${fields.error}`
    const earlier = reported.get(key)
    const at = monotonic()
    if (earlier !== undefined && at - earlier.at < REPEAT_MS) {
      earlier.repeated += 1
      return
    }
    if (reported.size >= KNOWN_REPORTS) reported.clear()
    reported.set(key, { at, repeated: 0 })
    log('error', what, earlier === undefined || earlier.repeated === 0 ? fields : { ...fields, repeated: earlier.repeated })
  }
  return {
    log,
    report,
    flush: async () => {
      await loading
    },
  }
}

/** What was refused on purpose: where that was in the code helps nobody. */
const refusals = new Set(['Refusal', 'StoreFault'])

function faultFields(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: String(error) }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  const cause = error.cause instanceof Error ? `${error.cause.name}: ${error.cause.message}` : undefined
  const stack = refusals.has(error.name) ? undefined : error.stack
  return {
    error: error.message,
    ...(stack !== undefined && { stack }),
    ...(code !== undefined && { code }),
    ...(cause !== undefined && { cause }),
  }
}

/** Where the writer can't be loaded: a log is never worth a crash. */
const writePlain: WriteEntry = (level, fields, message) => {
  process.stderr.write(`${JSON.stringify({ level, ...fields, msg: message })}\n`)
}

async function loadPino(): Promise<WriteEntry> {
  // The default export is the one that Node and the bundle agree on.
  const { default: pino } = await import('pino')
  const logger = pino({ level: 'trace', base: { pid: process.pid } }, pino.destination({ dest: 2, sync: true }))
  return (level, fields, message) => logger[level](fields, message)
}
