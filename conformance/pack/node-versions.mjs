// Owns which Node brings SQLite, what a runtime says of the one that it runs on, and a Node 24 beside the one that runs this: in a prefix of its own, where it takes over no script.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../checks/files.mjs'
import { run, succeed } from './run.mjs'

const version = '24.21.0'

/** The driver that a runtime without `libsql` beside it, or with it, uses under the Node of this version. */
export function driverOf(nodeVersion) {
  const [major, minor] = nodeVersion.replace(/^v/, '').split('.').map(Number)
  return major > 22 || (major === 22 && minor >= 13) ? 'node:sqlite' : 'libsql'
}

/** Proves that an executable of the runtime is healthy under this Node, that it uses the right driver and says nothing on stderr. */
export async function checkDriver(node, executable, options) {
  const { status, stdout, stderr } = await run([node, executable, 'doctor', '--json'], options)
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' }, stdout + stderr)
  const { node: ranOn, store } = JSON.parse(stdout)
  const version = (await succeed([node, '--version'], options)).trim()
  assert.deepEqual({ ranOn, driver: store.driver }, { ranOn: version, driver: driverOf(version) })
}

/** The program, by its absolute path; installed where it is not there yet. */
export async function node24() {
  const prefix = join(repository, '.node24')
  const program = join(prefix, 'node_modules/node/bin/node')
  if (existsSync(program) && (await succeed([program, '--version'], { cwd: repository })).trim() === `v${version}`) return program
  rmSync(prefix, { recursive: true, force: true })
  mkdirSync(prefix)
  // The package's script fetches the program for this platform.
  writeFileSync(join(prefix, 'package.json'), JSON.stringify({ private: true, allowScripts: { node: true } }))
  await succeed(['npm', 'install', '--no-audit', '--no-fund', '--no-package-lock', `node@${version}`], { cwd: prefix })
  return program
}
