// Owns the executable's bundle: main and the store's worker, with a chunk for whatever is loaded when it is needed.
// node build.mjs [directory]: into dist/bundle, or into another directory below this one.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = dirname(fileURLToPath(import.meta.url))
const target = resolve(root, process.argv[2] ?? 'dist/bundle')
// Made beside it and put in its place whole: what runs meanwhile finds one or the other.
const outdir = `${target}.${process.pid}`

/** The messages of zod in fifty languages: nobody asks for them, and they would be two thirds of what every start loads. */
const withoutLocales = {
  name: 'without-locales',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/locales\/index\.js$/ }, ({ importer }) =>
      importer.includes('/node_modules/zod/') ? { path: 'locales', namespace: 'without-locales', sideEffects: false } : undefined,
    )
    onLoad({ filter: /.*/, namespace: 'without-locales' }, () => ({ contents: 'export {}' }))
  },
}

const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: { quiesce: 'src/main.ts', 'store-worker': 'src/store/sqlite/store-worker.ts' },
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  minify: true,
  // Names of classes are part of messages and logs.
  keepNames: true,
  metafile: true,
  legalComments: 'none',
  chunkNames: '[name]-[hash]',
  alias: { '@quiesce/schema': join(root, '../schema/src') },
  // Its binary comes with its package, and Node may bring SQLite itself.
  external: ['libsql'],
  // CommonJS parts ask for their modules in their own way.
  banner: { js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);" },
  plugins: [withoutLocales],
  logLevel: 'warning',
})

const packages = bundledPackages(Object.keys(metafile.inputs))
writeFileSync(join(outdir, 'THIRD-PARTY-LICENSES.txt'), packages.map(licenseOf).join('\n\n'))
rmSync(target, { recursive: true, force: true })
renameSync(outdir, target)
report(metafile.outputs)

/** The directory of each package that is in the bundle. */
function bundledPackages(inputs) {
  const found = inputs.flatMap((input) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? [])
  return [...new Set(found)].sort()
}

function licenseOf(folder) {
  const directory = join(root, folder)
  const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  const file = readdirSync(directory).find((entry) => /^licen[cs]e/i.test(entry))
  const text = file !== undefined && existsSync(join(directory, file)) ? readFileSync(join(directory, file), 'utf8').trim() : ''
  return `${name} ${version} (${license})\n\n${text}`.trimEnd()
}

function report(outputs) {
  const kib = (bytes) => `${(bytes / 1024).toFixed(0)} KiB`
  const entries = Object.entries(outputs).sort(([, a], [, b]) => b.bytes - a.bytes)
  const total = entries.reduce((sum, [, { bytes }]) => sum + bytes, 0)
  const main = entries.find(([path]) => path.endsWith('/quiesce.js'))
  const atStart = main === undefined ? 0 : staticBytes(outputs, main[0], new Set())
  const [largest] = entries
  console.log(
    `bundle: ${kib(total)} in ${entries.length} files; ${kib(atStart)} loaded at every start; largest ${basename(largest[0])} ${kib(largest[1].bytes)}`,
  )
}

/** Bytes of a file and of what it imports statically. */
function staticBytes(outputs, path, seen) {
  if (seen.has(path)) return 0
  seen.add(path)
  const { bytes, imports } = outputs[path]
  return imports
    .filter(({ kind, external }) => kind === 'import-statement' && !external)
    .reduce((sum, { path: next }) => sum + staticBytes(outputs, next, seen), bytes)
}
