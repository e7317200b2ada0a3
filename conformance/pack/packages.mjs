// Owns how the published packages are made: each is put together in a place of its own from what the repository holds, then packed.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { repository } from '../checks/files.mjs'
import { succeed } from './run.mjs'

const python = join(repository, '.venv/bin/python')

/** The runtime's bundle, built anew: by no other build, and with nothing in it of an earlier one. */
async function bundle() {
  await succeed([process.execPath, 'runtime/build.mjs', 'dist/published'], { cwd: repository })
  return join(repository, 'runtime/dist/published')
}

const copy = (from, to) => cpSync(join(repository, from), to, { recursive: true, filter: (path) => basename(path) !== '__pycache__' })

/** What every npm package has; nothing of how it is developed. */
function beginPackage(folder, stage) {
  mkdirSync(stage, { recursive: true })
  const { devDependencies: _, ...manifest } = JSON.parse(readFileSync(join(repository, folder, 'package.json'), 'utf8'))
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  copy('LICENSE', join(stage, 'LICENSE'))
  copy(`${folder}/README.md`, join(stage, 'README.md'))
}

async function stageSdk(stage) {
  beginPackage('ts-sdk', stage)
  const output = ['--outDir', join(stage, 'dist'), '--tsBuildInfoFile', `${stage}.tsbuildinfo`, '--sourceMap', 'false']
  await succeed(['node_modules/.bin/tsc', '-p', 'ts-sdk/tsconfig.json', ...output], { cwd: repository })
}

function stageRuntime(stage, built) {
  beginPackage('runtime', stage)
  copy('runtime/bin', join(stage, 'bin'))
  cpSync(built, join(stage, 'dist/bundle'), { recursive: true })
}

/** The suite with all that it reads; what the repository has beside it comes along, and each driver says what it needs. */
async function stageConformance(stage) {
  beginPackage('conformance', stage)
  const output = ['--outDir', join(stage, 'dist'), '--composite', 'false', '--incremental', 'false', '--declaration', 'false']
  await succeed(['node_modules/.bin/tsc', '-p', 'conformance/tsconfig.json', ...output, '--sourceMap', 'false'], { cwd: repository })
  for (const name of ['bin', 'cases', 'drivers', 'case.schema.json', 'not-covered.yaml']) copy(`conformance/${name}`, join(stage, name))
  for (const name of ['patch.mjs', 'patch-hooks.mjs', 'broken-server.mjs']) rmSync(join(stage, 'bin', name))
  copy('docs/contract.md', join(stage, 'contract.md'))
  copy('schema/protocol.schema.json', join(stage, 'protocol.schema.json'))
  copyImported(
    stage,
    readdirSync(join(stage, 'dist')).map((name) => join('dist', name)),
  )
  const driver = (name, lines) => writeFileSync(join(stage, 'drivers', name, 'driver.yaml'), `name: ${name}\n${lines.join('\n')}\n`)
  driver('typescript', ['command: [node, driver.mjs]', `needs: [node, --input-type=module, -e, "import '@quiesce/sdk'"]`])
  driver('python', ['command: [python3, driver.py]', 'needs: [python3, -c, import quiesce]'])
}

/** The modules outside of dist that a module imports, and what these import. */
function copyImported(stage, modules) {
  for (const module of modules) {
    const text = readFileSync(join(stage, module), 'utf8')
    const paths = [...text.matchAll(/\bfrom\s*'(\.[^']+)'/g)].map(([, path]) => join(dirname(module), path))
    const missing = paths.filter((path) => !existsSync(join(stage, path)))
    for (const path of missing) copy(join('conformance', path), join(stage, path))
    copyImported(stage, missing)
  }
}

function stagePython(stage, built) {
  mkdirSync(stage, { recursive: true })
  for (const name of ['pyproject.toml', 'README.md', 'src']) copy(`python-sdk/${name}`, join(stage, name))
  copy('LICENSE', join(stage, 'LICENSE'))
  cpSync(built, join(stage, 'src/quiesce/_runtime'), { recursive: true })
}

/**
 * Makes every package in the directory `out`, and leaves nothing else there; put together below `stage`.
 * @returns {Promise<{ sdk: Tarball, runtime: Tarball, conformance: Tarball, wheel: string }>} paths; a tarball's with the names of its `files`
 * @typedef {{ path: string, files: string[] }} Tarball
 */
export async function makePackages(stage, out) {
  const built = await bundle()
  await stageSdk(join(stage, 'sdk'))
  stageRuntime(join(stage, 'runtime'), built)
  await stageConformance(join(stage, 'conformance'))
  stagePython(join(stage, 'python'), built)
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const pack = ['npm', 'pack', './sdk', './runtime', './conformance', '--pack-destination', out, '--json', '--ignore-scripts']
  const packed = Object.values(JSON.parse(await succeed(pack, { cwd: stage })))
  const tarball = (wanted) => {
    const { filename, files } = packed.find(({ name }) => name === wanted)
    return { path: join(out, basename(filename)), files: files.map(({ path }) => path) }
  }
  await succeed([python, '-m', 'hatchling', 'build', '-t', 'wheel', '-d', out], { cwd: join(stage, 'python') })
  return {
    sdk: tarball('@quiesce/sdk'),
    runtime: tarball('@quiesce/runtime'),
    conformance: tarball('@quiesce/conformance'),
    wheel: join(
      out,
      readdirSync(out).find((name) => name.endsWith('.whl')),
    ),
  }
}

/** The names of a wheel's files, and its metadata file WHEEL. */
export async function wheelContents(wheel) {
  const script = `import json, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
names = wheel.namelist()
print(json.dumps({"files": names, "metadata": wheel.read(next(n for n in names if n.endswith(".dist-info/WHEEL"))).decode()}))`
  return JSON.parse(await succeed([python, '-c', script, wheel], { cwd: repository }))
}
