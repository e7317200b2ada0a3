// Owns the system text: the default one, AGENTS.md, and the session's own instructions.
import type { SessionConfigOf } from '@quiesce/schema'
import type { Prompts } from './ports.ts'

const DEFAULT_SYSTEM = `You are a coding agent. You work in a directory on the user's machine through the tools that you are given.

- Look before you change: read the files that matter, and keep to their style.
- Make the smallest change that does the whole job; do not touch what was not asked for.
- Check your work with the project's own tests or commands where a tool lets you.
- A tool result that says error is information: read it, and try another way instead of repeating the call.
- When you are done, answer briefly: what you did, what you found, and what is left.`

/** More of an AGENTS.md than this is left out, and the text says so. */
const MAX_AGENTS_BYTES = 64 * 1024

/** Reads so many bytes of the beginning of a file inside the roots; null where there is none. *Contract:* rejects with words where it may not be read. */
export type ReadBeginning = (path: string, boundary: { cwd: string; roots: readonly string[] }, bytes: number) => Promise<Uint8Array | null>

export const systemPrompts = (read: ReadBeginning): Prompts => ({
  system: async (config) => {
    const agents = await agentsText(config, read)
    const parts = [config.system ?? DEFAULT_SYSTEM, `Working directory: ${config.cwd}`, agents, config.instructions ?? '']
    return parts.filter((part) => part !== '').join('\n\n')
  },
})

async function agentsText({ cwd, roots }: SessionConfigOf, read: ReadBeginning): Promise<string> {
  try {
    const bytes = await read('AGENTS.md', { cwd, roots: [cwd, ...roots] }, MAX_AGENTS_BYTES + 1)
    if (bytes === null) return ''
    const cut = bytes.length > MAX_AGENTS_BYTES ? `\n[AGENTS.md is longer: cut after ${MAX_AGENTS_BYTES} bytes]` : ''
    return `AGENTS.md of this directory says:\n\n${new TextDecoder().decode(bytes.subarray(0, MAX_AGENTS_BYTES)).trim()}${cut}`
  } catch (error) {
    return `[AGENTS.md of this directory was not read: ${error instanceof Error ? error.message : String(error)}]`
  }
}
