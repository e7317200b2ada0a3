// Owns the executable's bundle: main, the store's worker and that of searches, with a chunk for whatever is loaded when it is needed.
// node build.mjs [directory]: into dist/bundle, or into another directory below this one.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, transform } from 'esbuild'

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

const options = {
  absWorkingDir: root,
  outdir,
  bundle: true,
  write: false,
  platform: 'node',
  target: 'node20.19',
  // Names are part of messages, logs and stacks; restoring them at every start would take longer than reading them.
  minifyWhitespace: true,
  minifySyntax: true,
  metafile: true,
  legalComments: 'none',
  alias: { '@quiesce/schema': join(root, '../schema/src') },
  // Its binary comes with its package, and Node may bring SQLite itself.
  external: ['libsql'],
  plugins: [withoutLocales],
  logLevel: 'warning',
}

// Only ES modules are split into chunks; CommonJS is what can be started from V8's code cache. So the one is made of the other.
const main = await build({
  ...options,
  entryPoints: { main: 'src/main.ts' },
  splitting: true,
  format: 'esm',
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  define: { 'import.meta.url': 'moduleUrl' },
})
const modules = new Map(await Promise.all(main.outputFiles.map(async ({ path, text }) => [basename(path), await commonJs(text)])))
const first = [...modules.keys()].find((name) => name.startsWith('main-'))
const files = packed(modules, first, main.metafile.outputs)
const workers = await build({
  ...options,
  entryPoints: { 'store-worker': 'src/store/sqlite/store-worker.ts', 'search-worker': 'src/tools/search/search-worker.ts' },
  format: 'cjs',
  define: { 'import.meta.url': 'moduleUrl' },
  banner: { js: "const moduleUrl = require('node:url').pathToFileURL(__filename).href;" },
})
const start = await build({
  ...options,
  stdin: { contents: startOf(first, idOf(files)), resolveDir: root, sourcefile: 'quiesce.js' },
  format: 'cjs',
})
files.push(...workers.outputFiles.map(({ path, text }) => [basename(path), text]), ['quiesce.js', start.outputFiles[0].text])

mkdirSync(outdir, { recursive: true })
for (const [name, text] of files) writeFileSync(join(outdir, name), text)
writeFileSync(join(outdir, 'package.json'), '{ "private": true, "type": "commonjs" }\n')
const packages = bundledPackages(Object.keys({ ...main.metafile.inputs, ...workers.metafile.inputs }))
writeFileSync(join(outdir, 'THIRD-PARTY-LICENSES.txt'), packages.map(licenseOf).join('\n\n'))
rmSync(target, { recursive: true, force: true })
renameSync(outdir, target)
report(files, first)

async function commonJs(source) {
  const { code } = await transform(source, {
    format: 'cjs',
    target: options.target,
    minifyWhitespace: true,
    supported: { 'dynamic-import': false },
  })
  // It is read as Latin-1, which is quicker.
  if (Buffer.byteLength(code) !== code.length) throw new Error('a file of the bundle is not ASCII')
  return code
}

/**
 * The files that code-cache.ts reads, each with one module or more: a few large parts that most starts do without have a file of
 * their own; all else is in the first, since a file more costs every start more than a function that is passed over.
 */
function packed(modules, first, outputs) {
  const atStart = staticImports(outputs, first)
  const isApart = ([name, code]) => code.length > 50 * 1024 && !atStart.has(name)
  const entries = [...modules].sort(([a], [b]) => (a < b ? -1 : 1))
  const pack = (some) =>
    `({\n${some.map(([name, code]) => `${JSON.stringify(name)}(exports, require, module, moduleUrl) {${code}}`).join(',\n')}\n})\n`
  const apart = entries.filter(isApart).map((entry) => [entry[0], pack([entry])])
  return [[first, pack(entries.filter((entry) => !isApart(entry)))], ...apart]
}

/** A module and all that it imports statically. */
function staticImports(outputs, name, seen = new Set()) {
  if (seen.has(name)) return seen
  seen.add(name)
  const [, { imports }] = Object.entries(outputs).find(([path]) => basename(path) === name)
  for (const { kind, external, path } of imports) if (kind === 'import-statement' && !external) staticImports(outputs, basename(path), seen)
  return seen
}

/** Of all that is in these files. */
function idOf(files) {
  const hash = createHash('sha256')
  for (const [name, text] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) hash.update(`${name}\0${text}\0`)
  return hash.digest('hex').slice(0, 16)
}

/** The executable. What is not one of the long commands is over soon, and uses little. */
function startOf(main, id) {
  return `import { startBundle } from './src/base/code-cache.ts'
const profile = ['run', 'serve'].includes(process.argv[2]) ? process.argv[2] : 'other'
startBundle({ directory: __dirname, main: ${JSON.stringify(main)}, id: ${JSON.stringify(id)}, profile })`
}

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

function report(files, first) {
  const kib = (name) => `${(files.find(([other]) => other === name)[1].length / 1024).toFixed(0)} KiB`
  console.log(`bundle: ${files.map(([name]) => `${name} ${kib(name)}`).join(', ')}; ${first} is read at every start`)
}
