// Owns the tool that writes a whole file.
import { posix } from 'node:path'
import * as z from 'zod/mini'
import { resolveInside } from './paths.ts'
import { assertEncodable, existingFile, replaceFile } from './text-file.ts'
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
  async execute({ path: given, content }, context) {
    assertEncodable('content', content)
    if (given.endsWith('/')) throw new Error(`${given} names a directory: give the path of a file`)
    const path = await resolveInside(given, context)
    const replacing = await existingFile(given, path)
    await replaceFile(given, path, content, { replacing, signal: context.signal })
    const size = `${Buffer.byteLength(content)} bytes`
    return { content: `${replacing === undefined ? 'Created' : 'Replaced'} ${given} (${size}).`, isError: false }
  },
}
