// Owns how a config file is read: a file of YAML, small, and what is wrong with it, each with its line. Loads the parser only where
// there is a file. What it may say is in config-schema.ts.
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { LineCounter, ParsedNode } from 'yaml'
import { ConfigError } from './config-error.ts'
import type { ConfigFile, FileFault, FileKind } from './config-schema.ts'

export type { ConfigFile, FileKind }

export interface ReadFile {
  content: ConfigFile
  /** `<path>:<line>` of what is at this place, or of the last part of it that is there. */
  place(at: readonly PropertyKey[]): string
}

const MAX_BYTES = 1024 * 1024

/** The file's content, or null where there is none. *Contract:* rejects with ConfigError that names the file and the line. */
export async function readConfigFile(path: string, kind: FileKind): Promise<ReadFile | null> {
  const text = await read(path)
  return text === null ? null : parse(path, text, kind)
}

/** A checkout may hold a link to anything: what isn't a file of a sensible size isn't read. */
async function read(path: string): Promise<string | null> {
  let file: FileHandle | undefined
  try {
    // Without the flag, opening a pipe would wait for its writer.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const stat = await file.stat()
    if (!stat.isFile()) throw new ConfigError(`${path}: can't be read: it is not a file`)
    if (stat.size > MAX_BYTES) throw new ConfigError(`${path}: can't be read: it has ${stat.size} bytes, at most ${MAX_BYTES} are read`)
    return await file.readFile('utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    if (error instanceof ConfigError) throw error
    throw new ConfigError(`${path}: can't be read: ${error instanceof Error ? error.message : String(error)}`)
  } finally {
    await file?.close()
  }
}

async function parse(path: string, text: string, kind: FileKind): Promise<ReadFile> {
  const [{ default: yaml }, { checkFile }] = await Promise.all([import('yaml'), import('./config-schema.ts')])
  const lines = new yaml.LineCounter()
  const document = noted(path, () => yaml.parseDocument(text, { lineCounter: lines }))
  const [broken] = document.errors
  if (broken !== undefined) throw new ConfigError(`${path}:${lines.linePos(broken.pos[0]).line}: not YAML: ${firstLine(broken.message)}`)
  const place = (at: readonly PropertyKey[]) => `${path}:${lineOf(document.contents, at, lines)}`
  const value: unknown = noted(path, () => document.toJS())
  const verdict = checkFile(value ?? {}, kind)
  if (verdict.ok) return { content: verdict.content, place }
  throw new ConfigError(verdict.faults.map(({ at, message }: FileFault) => `${place(at)}: ${message}`).join('\n'))
}

/** What the parser throws instead of telling it: nesting without end, aliases of aliases. */
function noted<T>(path: string, parsing: () => T): T {
  try {
    return parsing()
  } catch (error) {
    throw new ConfigError(`${path}: not YAML that can be read: ${error instanceof Error ? firstLine(error.message) : String(error)}`)
  }
}

function lineOf(root: ParsedNode | null, at: readonly PropertyKey[], lines: LineCounter): number {
  let node: ParsedNode | null = root
  let line = 1
  for (const part of at) {
    if (node === null || !('items' in node)) break
    const pair: unknown = node.items.find((item) => 'key' in item && 'value' in item.key && item.key.value === part)
    if (!isPair(pair)) break
    line = lines.linePos(pair.key.range[0]).line
    node = pair.value
  }
  return line
}

function isPair(value: unknown): value is { key: ParsedNode; value: ParsedNode | null } {
  return typeof value === 'object' && value !== null && 'key' in value && 'value' in value
}

const firstLine = (text: string): string => text.split('\n')[0] ?? text
