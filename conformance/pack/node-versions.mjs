// Owns which Node brings SQLite, and a Node 24 beside the one that runs this: in a prefix of its own, where it takes over no script.
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../checks/files.mjs'
import { succeed } from './run.mjs'

const version = '24.21.0'

/** The driver that a runtime without `libsql` beside it, or with it, uses under the Node of this version. */
export function driverOf(nodeVersion) {
  const [major, minor] = nodeVersion.replace(/^v/, '').split('.').map(Number)
  return major > 22 || (major === 22 && minor >= 13) ? 'node:sqlite' : 'libsql'
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
