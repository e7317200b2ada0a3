// Owns one rule: a source file has at most 400 lines.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isGenerated, isMain, report, repository, tracked } from './files.mjs'

export const limit = 400

export function tooLong(root, paths) {
  const problems = []
  for (const path of paths) {
    if (!/\.(ts|mjs|py)$/.test(path) || isGenerated(path)) continue
    const text = readFileSync(join(root, path), 'utf8')
    const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
    if (lines > limit) problems.push(`${path}: ${lines} lines, ${limit} at most`)
  }
  return problems
}

if (isMain(import.meta.url)) report('sizes', tooLong(repository, tracked()))
