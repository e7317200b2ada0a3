// Owns the one temporary directory that packages are installed in and run from: its homes, its PATHs, and what is left in it.
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { driverOf } from './node-versions.mjs'
import { succeed } from './run.mjs'

export const place = realpathSync(mkdtempSync(join(tmpdir(), 'quiesce-pack-')))
process.on('exit', () => rmSync(place, { recursive: true, force: true, maxRetries: 5 }))

export const home = join(place, 'home')
const temporary = join(place, 'tmp')
for (const directory of [home, temporary]) mkdirSync(directory)

/** A directory for PATH that has the program `node`, or none where it is undefined, and a shell. */
function programs(name, node) {
  const directory = join(place, name)
  mkdirSync(directory)
  symlinkSync('/bin/sh', join(directory, 'sh'))
  if (node !== undefined) symlinkSync(node, join(directory, 'node'))
  return directory
}

/** The Node that runs this where it is too old for the wheel, else a program that says that it is. */
function oldNode() {
  if (driverOf(process.version) === 'libsql') return process.execPath
  const program = join(place, 'old-node')
  writeFileSync(program, '#!/bin/sh\necho v20.20.2\n')
  chmodSync(program, 0o755)
  return program
}

/** Directories for PATH; each has nothing else than its name says. */
export const paths = {
  withThisNode: programs('this-node', process.execPath),
  withOldNode: programs('old-node-only', oldNode()),
  withoutNode: programs('no-node', undefined),
  withNode24: (node) => programs('node24', node),
}

/** The whole environment of a program under proof: nothing of this process's own, and every place to keep something is in here. */
export function scrubbed(path, more = {}) {
  const xdg = Object.fromEntries(['DATA', 'CONFIG', 'STATE', 'CACHE'].map((name) => [`XDG_${name}_HOME`, join(home, name.toLowerCase())]))
  return { PATH: path, HOME: home, TMPDIR: temporary, LANG: 'C.UTF-8', QUIESCE_MODEL: 'scripted/demo', ...xdg, ...more }
}

/** Every file below a directory, as absolute paths; links are not followed. */
export function filesBelow(directory) {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name)
    return entry.isDirectory() ? filesBelow(path) : [path]
  })
}

/** The bytes of the files below a directory. */
export const sizeBelow = (directory) => filesBelow(directory).reduce((sum, file) => sum + statSync(file).size, 0)

/** Every script that the Node processes loaded which had `NODE_V8_COVERAGE` set to this directory. */
export function scriptsLoaded(coverage) {
  const reports = filesBelow(coverage).map((file) => JSON.parse(readFileSync(file, 'utf8')))
  const urls = reports.flatMap(({ result }) => result.map(({ url }) => url)).filter((url) => url.startsWith('file:'))
  return [...new Set(urls.map((url) => fileURLToPath(url)))]
}

/** What the programs have left in here: their processes, temporary files, and what they keep at home. */
export async function leftovers() {
  const processes = await succeed(['ps', '-A', '-o', 'pid=,args='], { cwd: place })
  return {
    processes: processes.split('\n').filter((line) => line.includes(place)),
    temporary: readdirSync(temporary),
    home: readdirSync(home).sort(),
    data: readdirSync(join(home, 'data')),
  }
}
