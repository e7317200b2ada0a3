// Owns a search on the thread that asks for it, for tests: what isn't about threads needs none.
import { runSearch } from './run-search.ts'
import type { Search } from './search-job.ts'

export const searchHere: Search = async (job, hear, signal) => {
  signal.throwIfAborted()
  return runSearch(job, { ...hear, at: () => undefined, line: () => undefined })
}
