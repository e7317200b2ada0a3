// Owns the list of the tools that every runtime has, in the order in which models see them.
import type { Clock } from '../base/clock.ts'
import { editFileTool } from './edit-file.ts'
import { readFileTool } from './read-file.ts'
import { shellTool } from './shell.ts'
import type { Tool } from './tool.ts'
import { writeFileTool } from './write-file.ts'

export function builtInTools(clock: Clock): Tool[] {
  return [readFileTool, writeFileTool, editFileTool, shellTool(clock)]
}
