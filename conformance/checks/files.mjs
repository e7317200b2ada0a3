// Owns how the checks find the repository's files; judges nothing.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export const repository = resolve(dirname(fileURLToPath(import.meta.url)), '../..')

const notSource = new Set(['node_modules', 'dist', '__pycache__', '.venv', '.git'])

/** Whether the module at `url` was started by name, and not imported. */
export const isMain = (url) => process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(url)

/** Generated files are the generator's affair. */
export const isGenerated = (path) => /(^|\/)_?generated\//.test(path)

/** Tracked files that are there, relative to `root`, with forward slashes. */
export function tracked(root = repository) {
  const listed = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20 })
  return listed.split('\0').filter((path) => path !== '' && existsSync(join(root, path)))
}

/** Every file and folder below `folder`, relative to `root`; what was installed or built is left out. */
export function walk(root, folder) {
  const found = []
  const start = join(root, folder)
  if (!existsSync(start)) return found
  for (const entry of readdirSync(start, { withFileTypes: true })) {
    if (notSource.has(entry.name)) continue
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    found.push({ path, isFolder: entry.isDirectory() })
    if (entry.isDirectory()) found.push(...walk(root, path))
  }
  return found
}

/** Prints what a check found and sets the exit code. */
export function report(name, problems) {
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) {
    console.error(`${name}: ${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}`)
    process.exitCode = 1
  } else {
    console.log(`${name}: good`)
  }
}
