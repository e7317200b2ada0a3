// Owns the words between a tool that searches files and the thread that does it: plain data, so that it can be sent.

interface Place {
  /** Where it begins: real and absolute. */
  start: string
  /** The session's roots, real and absolute. */
  roots: readonly string[]
  /** What stands before the path of what is found, as the model gave it: empty, or with a slash at its end. */
  prefix: string
  /** How long it may go on, in milliseconds. */
  budgetMs: number
  /** How much is shown: entries, and characters of them all. */
  limit: number
  maxShown: number
  /** How many characters of the whole list are wanted too, where it is longer than what is shown. */
  maxKept: number
  /** Whether the session's rules speak of files, so that each one is asked about before it is told of. */
  guarded: boolean
}

export interface GlobJob extends Place {
  kind: 'glob'
  pattern: string
}

export interface GrepJob extends Place {
  kind: 'grep'
  /** Whether `start` is one file, named by `prefix`. */
  single: boolean
  source: string
  flags: string
  glob: string | null
  /** Lines shown before and after each that matches. */
  context: number
  filesOnly: boolean
}

export type SearchJob = GlobJob | GrepJob

/** Where the search goes, while it does. */
export interface SearchOutput {
  /** A line of what is shown. */
  show(line: string): void
  /** A piece of the whole list, which is longer than what is shown: it begins with what was shown. */
  keep(text: string): void
  /** Whether the session's rules let a file be told of, by its real path. */
  allows(real: string): boolean
  /** The file that is looked into now, and the line of it. */
  at(path: string): void
  line(number: number): void
}

/** What was passed over, and why. */
export interface PassedOver {
  /** Directories and files that could not be read; the first few by name. */
  unreadable: { count: number; first: string[] }
  /** Names that are not UTF-8, which no path in JSON can name. */
  unnameable: number
  /** Directories with more entries than are looked at. */
  crowded: string[]
  /** Files of ignore rules that could not be read. */
  rules: string[]
  /** Files that the session's rules bar. */
  barred: number
  /** Whether the place to begin is itself ignored, so that the rules above it were set aside. */
  ignoredStart: boolean
  /** Not the whole was looked at. */
  stopped: 'time' | 'enough' | null
}

export interface GlobEnd {
  kind: 'glob'
  passedOver: PassedOver
  total: number
  shown: number
  /** How many of those that are not shown are in which directory, the fullest first; at most so many. */
  rest: { directory: string; count: number }[]
}

export interface GrepEnd {
  kind: 'grep'
  passedOver: PassedOver
  /** Lines that match, and the files they are in. */
  lines: number
  files: number
  /** Matching lines, or files, that were shown. */
  shown: number
  searched: number
  binary: number
  /** Lines of which only the piece around the match is shown. */
  cutLines: number
  /** Lines so long that they were searched in pieces. */
  brokenLines: number
}

export type SearchEnd = GlobEnd | GrepEnd

/** The end of a search that had to be ended by force, since it didn't end by itself. */
export interface Stuck {
  kind: 'stuck'
  /** Where it was; empty before the first file. */
  path: string
  line: number
}

/**
 * *Contract:* answers `stuck` soon after the job's time is over, whatever it is doing; rejects soon after an abort, and with an
 * error for the model where the job can't be done.
 */
export type Search = (job: SearchJob, hear: SearchListener, signal: AbortSignal) => Promise<SearchEnd | Stuck>

export type SearchListener = Pick<SearchOutput, 'show' | 'keep' | 'allows'>

export function nothingPassedOver(): PassedOver {
  return { unreadable: { count: 0, first: [] }, unnameable: 0, crowded: [], rules: [], barred: 0, ignoredStart: false, stopped: null }
}
