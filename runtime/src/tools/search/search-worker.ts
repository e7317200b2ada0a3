// Owns the thread's side of a search: does one job at a time, and tells what it finds as it finds it.
import { parentPort, workerData } from 'node:worker_threads'
import { runSearch } from './run-search.ts'
import type { SearchJob } from './search-job.ts'
import { SearchPlace } from './search-place.ts'
import type { FromSearcher, SearcherStart } from './search-threads.ts'

const port = parentPort
if (port === null) throw new Error('search-worker is the entry of a worker thread: it does not run by itself')

const send = (message: FromSearcher) => port.postMessage(message)
const { memory }: SearcherStart = workerData
const place = new SearchPlace(memory)

port.on('message', (job: SearchJob) => {
  try {
    place.enter('')
    const end = runSearch(job, {
      show: (line) => send({ show: line }),
      keep: (text) => send({ keep: text }),
      allows: (real) => place.ask(() => send({ ask: real })),
      at: (path) => place.enter(path),
      line: (number) => place.line(number),
    })
    send({ end })
  } catch (error) {
    send({ error: error instanceof Error ? error.message : String(error) })
  }
})
