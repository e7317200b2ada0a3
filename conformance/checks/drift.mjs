// Owns one rule: generated files are what the generators make from their sources today.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isMain, report, repository, walk } from './files.mjs'

/** Each takes `--out DIR`. */
const generators = ['schema/dist/generate.js', 'runtime/dist/tools/generate-catalogue.js']

/** Everything the generators own: nothing else may be in these folders. */
export const owned = [
  'schema/protocol.schema.json',
  'ts-sdk/src/generated',
  'python-sdk/src/quiesce/_generated',
  'docs/protocol.md',
  'docs/tools.md',
]

function ownedFiles(root) {
  const found = []
  for (const path of owned) {
    const at = join(root, path)
    if (!existsSync(at)) continue
    if (statSync(at).isDirectory()) found.push(...walk(root, path).flatMap((entry) => (entry.isFolder ? [] : [entry.path])))
    else found.push(path)
  }
  return found
}

/** Compares both ways: `made` is what the generators wrote just now, `kept` is the repository. */
export function drifted(made, kept) {
  const fresh = new Set(walk(made, '').flatMap((entry) => (entry.isFolder ? [] : [entry.path])))
  const problems = []
  for (const path of fresh) {
    if (!existsSync(join(kept, path))) problems.push(`${path}: missing: run make gen`)
    else if (!readFileSync(join(made, path)).equals(readFileSync(join(kept, path)))) problems.push(`${path}: drifted: run make gen`)
  }
  for (const path of ownedFiles(kept)) if (!fresh.has(path)) problems.push(`${path}: no generator writes it: remove it`)
  return problems.sort()
}

/** Runs one generator into `out`; why that failed, or nothing. */
function generate(generator, out) {
  if (!existsSync(join(repository, generator))) return `${generator}: not built: run make setup`
  const before = walk(out, '').length
  const run = spawnSync(process.execPath, [generator, '--out', out], { cwd: repository, stdio: ['ignore', 'ignore', 'inherit'] })
  if (run.status !== 0) return `${generator}: failed (${run.signal ?? `exit ${run.status}`})`
  if (walk(out, '').length === before) return `${generator}: wrote nothing below --out`
  return undefined
}

function check() {
  const made = mkdtempSync(join(tmpdir(), 'quiesce-drift-'))
  try {
    const failures = generators.flatMap((generator) => generate(generator, made) ?? [])
    return failures.length > 0 ? failures : drifted(made, repository)
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}

if (isMain(import.meta.url)) report('drift', check())
