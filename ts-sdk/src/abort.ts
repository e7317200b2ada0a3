// Owns listening to an AbortSignal, as long as something is under way and no longer.
import { setMaxListeners } from 'node:events'

/** Calls `aborted` when the signal is, also where it is already; what it gives stops listening. */
export function onAbort(signal: AbortSignal | undefined, aborted: () => void): () => void {
  if (signal === undefined) return () => {}
  setMaxListeners(0, signal) // one signal for a hundred runs is no leak
  signal.addEventListener('abort', aborted)
  if (signal.aborted) aborted()
  return () => signal.removeEventListener('abort', aborted)
}
