// Owns the way from a job to the search that does it, on the thread that it is called on.
import { searchGlob } from './glob-search.ts'
import { searchGrep } from './grep-search.ts'
import type { SearchEnd, SearchJob, SearchOutput } from './search-job.ts'

/** *Contract:* throws an error for the model where the job can't be done. */
export function runSearch(job: SearchJob, output: SearchOutput): SearchEnd {
  return job.kind === 'glob' ? searchGlob(job, output) : searchGrep(job, output)
}
