// Proves the Python wheel: what is in it, and which Node it runs with, or what it says where there is none.
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { repository } from '../checks/files.mjs'
import { checkDriver } from './node-versions.mjs'
import { wheelContents } from './packages.mjs'
import { filesBelow, paths, place, scriptsLoaded, scrubbed } from './place.mjs'
import { run, succeed } from './run.mjs'
import { check, expectNone } from './tally.mjs'

const ownPython = join(repository, '.venv/bin/python')
const work = join(place, 'python')

/** Runs a script, then writes the files of every module that was loaded, and where Python itself is. */
const traced = `import json, runpy, sys
script, report = sys.argv[1:]
sys.path.insert(0, ".")
runpy.run_path(script, run_name="__main__")
files = sorted({m.__file__ for m in list(sys.modules.values()) if getattr(m, "__file__", None)})
with open(report, "w") as out:
    json.dump({"files": files, "python": sys.base_prefix}, out)
`

/** Makes a fresh environment, and installs the wheel into it. `extra`: as pip writes it, "[runtime]" or nothing. */
export async function installWheel(name, wheel, extra) {
  const venv = join(place, name)
  await succeed([ownPython, '-m', 'venv', '--without-pip', venv], { cwd: place })
  const pip = [ownPython, '-m', 'pip', '--python', join(venv, 'bin/python'), '--disable-pip-version-check', 'install', '--quiet']
  await succeed([...pip, `${wheel}${extra}`], { cwd: place })
  return venv
}

export async function checkWheel(wheel) {
  const { files, metadata } = await wheelContents(wheel)
  await check('wheel: it is pure, and has the runtime, its licences and its types', () => {
    assert.match(basename(wheel), /^quiesce-[\d.]+-py3-none-any\.whl$/)
    assert.match(metadata, /^Root-Is-Purelib: true$/m)
    const wanted = [
      'py.typed',
      '_runtime/quiesce.js',
      '_runtime/store-worker.js',
      '_runtime/search-worker.js',
      '_runtime/package.json',
      '_runtime/THIRD-PARTY-LICENSES.txt',
    ]
    expectNone(wanted.filter((name) => !files.includes(`quiesce/${name}`)))
    assert.ok(files.some((name) => name.endsWith('.dist-info/licenses/LICENSE')))
  })
  await check('wheel: the runtime inside is JavaScript alone, and nothing else was packed', () => {
    const inside = files.filter((name) => name.startsWith('quiesce/_runtime/'))
    expectNone(inside.filter((name) => !/\.js$|\/package\.json$|\/THIRD-PARTY-LICENSES\.txt$/.test(name)))
    const rest = files.filter((name) => !inside.includes(name) && !name.includes('.dist-info/'))
    expectNone(rest.filter((name) => !/^quiesce\/[\w/]+\.(py|typed)$/.test(name)))
  })
}

/** `bare` and `full`: environments without and with the extra; `node24`: a directory for PATH. */
export async function checkPython(bare, full, node24) {
  mkdirSync(work)
  for (const name of ['quickstart.py', 'scratch.py']) cpSync(join(repository, 'python-sdk/examples', name), join(work, name))
  writeFileSync(join(work, 'traced.py'), traced)

  await check('wheel: nothing in it names the repository', () => {
    const files = filesBelow(join(siteOf(bare), 'quiesce')).filter((file) => !file.endsWith('.pyc'))
    expectNone(files.filter((file) => readFileSync(file, 'utf8').includes(repository)))
  })
  await check("wheel: with the extra, its own Node is taken where PATH's is too old", () => checkRun(full, paths.withOldNode, 'old'))
  await check('wheel: with the extra, no node is needed on PATH', () => checkRun(full, paths.withoutNode, 'none'))
  await check('wheel: without the extra, a Node 24 on PATH is taken', () => checkRun(bare, node24, 'node24'))
  await check('wheel: the runtime inside uses node:sqlite on Node 24', () => {
    const runtime = join(siteOf(bare), 'quiesce/_runtime/quiesce.js')
    return checkDriver(join(node24, 'node'), runtime, { cwd: work, env: scrubbed(node24) })
  })
  for (const [what, path] of [
    ['an old node', paths.withOldNode],
    ['no node', paths.withoutNode],
  ])
    await check(`wheel: without the extra and with ${what} on PATH, the error names both ways`, () => checkRefusal(bare, path))
}

function siteOf(venv) {
  const [version] = readdirSync(join(venv, 'lib'))
  return join(venv, 'lib', version, 'site-packages')
}

async function checkRun(venv, path, name) {
  const [coverage, report] = [join(place, `coverage-wheel-${name}`), join(place, `modules-${name}.json`)]
  const env = scrubbed(path, { NODE_V8_COVERAGE: coverage })
  const said = await succeed([join(venv, 'bin/python'), 'traced.py', 'quickstart.py', report], { cwd: work, env })
  assert.match(said, /Buy milk/)
  const site = siteOf(venv)
  const scripts = scriptsLoaded(coverage)
  assert.ok(scripts.includes(join(site, 'quiesce/_runtime/quiesce.js')), 'the runtime inside the wheel was not loaded')
  expectNone(scripts.filter((script) => !script.startsWith(`${site}/quiesce/_runtime/`)))
  const { files, python } = JSON.parse(readFileSync(report, 'utf8'))
  assert.ok(files.includes(join(site, 'quiesce/__init__.py')), 'quiesce was not loaded from the wheel')
  expectNone(files.filter((file) => file.startsWith('/') && ![place, python].some((root) => file.startsWith(`${root}/`))))
}

async function checkRefusal(venv, path) {
  const { status, stdout, stderr } = await run([join(venv, 'bin/python'), 'quickstart.py'], { cwd: work, env: scrubbed(path) })
  assert.equal(status, 1, stdout + stderr)
  const last = stderr.trim().split('\n').at(-1)
  assert.match(last, /RuntimeNotFoundError: .*Node 22\.13 or newer.*on PATH, or run: pip install 'quiesce\[runtime\]'/)
}
