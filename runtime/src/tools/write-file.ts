// Owns the tool that writes a whole file.
import { posix } from 'node:path'
import * as z from 'zod/mini'
import { otherNamesText, replaceFile } from './replace-file.ts'
import { assertEncodable } from './text-file.ts'
import type { Tool } from './tool.ts'

const input = z.strictObject({
  path: z.string().check(z.minLength(1), z.describe('The file, relative to the working directory or absolute.')),
  content: z.string().check(z.describe('The whole new content, exactly as it shall be in the file.')),
})

export const writeFileTool: Tool<z.output<typeof input>> = {
  name: 'write_file',
  description:
    'Creates a file, or replaces the whole content of one. The content is written exactly as given, as UTF-8; missing ' +
    'directories are made, and an existing file keeps its mode. To change a part of a file, use edit_file. Files must be ' +
    "inside the session's roots.",
  access: 'edit',
  parallel: false,
  input,
  summary: ({ path }) => posix.normalize(path),
  subject: ({ path }) => ({ path }),
  async execute({ path: given, content }, context) {
    assertEncodable('content', content)
    if (/(^|\/)\.{0,2}$/.test(given)) throw new Error(`${given} names a directory: give the path of a file`)
    const replaced = await replaceFile(given, content, context, { signal: context.signal })
    const size = `${Buffer.byteLength(content)} bytes`
    const note = otherNamesText(replaced)
    return { content: `${replaced.created ? 'Created' : 'Replaced'} ${given} (${size}).${note}`, isError: false }
  },
}
