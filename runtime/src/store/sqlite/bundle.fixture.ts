// Owns the bundling of this room for tests that need compiled code: a thread, a process of its own, a place without libsql.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const here = fileURLToPath(new URL('.', import.meta.url))
const repository = fileURLToPath(new URL('../../../..', import.meta.url))

/** The thread; and the other processes of tests. */
type Entry = 'store-worker' | 'store-child' | 'faults-child'

export interface Bundle {
  entry: (name: Entry) => URL
  /** Source files of an entry, relative to the repository. */
  inputs: (name: Entry) => string[]
  remove: () => void
}

/** Bundles as the executable is: ESM, split, the thread's entry beside the rest. Under `parent`, by default where libsql is found. */
export async function bundleStore(parent = join(repository, 'node_modules/.cache')): Promise<Bundle> {
  mkdirSync(parent, { recursive: true })
  const outdir = mkdtempSync(join(parent, 'quiesce-store-'))
  const { metafile } = await build({
    absWorkingDir: repository,
    entryPoints: {
      'store-worker': join(here, 'store-worker.ts'),
      'store-child': join(here, 'store-child.fixture.ts'),
      'faults-child': join(here, 'faults-child.fixture.ts'),
    },
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    alias: { '@quiesce/schema': join(repository, 'schema/src') },
    external: ['libsql'],
    metafile: true,
    logLevel: 'error',
  })
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [join(repository, path), output]))
  const collect = (path: string, seen: Set<string>): string[] => {
    const output = outputs.get(path)
    if (output === undefined || seen.has(path)) return []
    seen.add(path)
    return [...Object.keys(output.inputs), ...output.imports.flatMap((chunk) => collect(join(repository, chunk.path), seen))]
  }
  return {
    entry: (name) => pathToFileURL(join(outdir, `${name}.js`)),
    inputs: (name) => collect(join(outdir, `${name}.js`), new Set()),
    remove: () => rmSync(outdir, { recursive: true, force: true }),
  }
}
