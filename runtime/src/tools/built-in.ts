// Owns the list of the tools that every runtime has, in the order in which models see them, and how long a call of each may take.
import type { Clock } from '../base/clock.ts'
import { editFileTool } from './edit-file.ts'
import { globTool } from './glob.ts'
import { grepTool } from './grep.ts'
import { readFileTool } from './read-file.ts'
import type { Search } from './search/search-job.ts'
import { searchInThreads } from './search/search-threads.ts'
import { MAX_TIMEOUT_MS, shellTool } from './shell.ts'
import { limited } from './time-limit.ts'
import type { Tool } from './tool.ts'
import { writeFileTool } from './write-file.ts'

const FILE_LIMIT_MS = 60_000
/** A search has a limit of its own, and may wait for others before it begins. */
const SEARCH_LIMIT_MS = 120_000
/** The shell has limits of its own; this one is for what is around it. */
const SHELL_LIMIT_MS = MAX_TIMEOUT_MS + 60_000

export function builtInTools(clock: Clock, search: Search = searchInThreads(clock)): Tool[] {
  return [
    limited(readFileTool, FILE_LIMIT_MS, clock),
    limited(writeFileTool, FILE_LIMIT_MS, clock),
    limited(editFileTool, FILE_LIMIT_MS, clock),
    limited(globTool(search), SEARCH_LIMIT_MS, clock),
    limited(grepTool(search), SEARCH_LIMIT_MS, clock),
    limited(shellTool(clock), SHELL_LIMIT_MS, clock),
  ]
}
