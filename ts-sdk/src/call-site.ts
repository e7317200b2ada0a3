// Owns where in the caller's code a call was made, so that its error shows it: an answer is read on the reader's stack, on which
// no frame is the caller's.
import { QuiesceError } from './errors.ts'

/** Errors that show a place already: one that several calls share keeps the first. */
const placed = new WeakSet<QuiesceError>()

export class CallSite {
  /** The frames are put into words only when somebody asks for the stack. */
  readonly #trace: { stack?: unknown } = {}

  /** The stack above `entry`, which must be on it. */
  constructor(entry: (...args: never[]) => unknown) {
    Error.captureStackTrace(this.#trace, entry)
  }

  /** Gives the error back; one of this package's own now shows the caller's stack. */
  shownIn(error: unknown): unknown {
    if (!(error instanceof QuiesceError) || placed.has(error)) return error
    placed.add(error)
    const { stack } = this.#trace
    const frames = typeof stack === 'string' ? stack.slice(stack.indexOf('\n')) : ''
    if (frames.startsWith('\n')) error.stack = `${error.name}: ${error.message}${frames}`
    return error
  }
}

/** Does the work of a public call at once; an error of this package's own that it rejects with shows where the call was made. */
export async function fromCaller<T>(work: () => Promise<T>): Promise<T> {
  const site = new CallSite(fromCaller)
  try {
    return await work()
  } catch (error) {
    throw site.shownIn(error)
  }
}
