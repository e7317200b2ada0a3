// Owns how a test puts files into a workspace and looks for lines in them.
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import type * as z from 'zod/mini'
import { grepTool } from './grep.ts'
import { searchHere } from './search/search-here.fixture.ts'
import { temporaryWorkspace, type Workspace } from './temporary-workspace.ts'
import type { ToolContext } from './tool.ts'

export const tool = grepTool(searchHere)
export type Input = z.output<typeof tool.input>

export async function put({ root }: Pick<Workspace, 'root'>, files: Readonly<Record<string, string | Buffer>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), content)
  }
}

export async function grep(workspace: Workspace, input: Input, context: Partial<ToolContext> = {}): Promise<string[]> {
  const outcome = await tool.execute(input, { ...workspace.context, ...context })
  expect(outcome.isError).toBe(false)
  return outcome.content.split('\n')
}

/** What one file with this content answers. */
export async function inFile(content: string | Buffer, pattern: string, more: Partial<Input> = {}): Promise<string[]> {
  await using workspace = await temporaryWorkspace()
  await put(workspace, { f: content })
  return await grep(workspace, { pattern, path: 'f', ...more })
}
