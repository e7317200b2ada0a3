// Owns what no tracked file may say: registry hosts, this machine's paths, skipped or lone tests, unfinished business.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMain, report, repository, tracked } from './files.mjs'

// Written so that no pattern matches its own source.
const everywhere = [
  { pattern: /registry\.npmjs|\bnpmjs\.(org|com)|registry\.yarnpkg|npmmirror\.com/, why: 'names an npm registry' },
  { pattern: /\bpypi\.(org|python\.org)|python[h]osted/, why: 'names a Python registry' },
  { pattern: /(?<![\w.~-])\/(work|root)\//, why: 'names a path of one machine' },
  { pattern: /\b(TO[D]O|FIX[M]E|XX[X])\b/, why: 'leaves business unfinished' },
]

const inTests = [
  { pattern: /\b(it|test|describe|suite|bench)\b[\w.]*\.(only|skip)\(/, why: 'runs one test alone, or skips one' },
  { pattern: /\bpytest\.(mark\.)?skip\b/, why: 'skips a test without a condition' },
]

const isTest = (path) => /\.test\.(ts|mjs)$|(^|\/)(test_[^/]*|conftest)\.py$/.test(path)

export function unclean(root, paths) {
  const problems = []
  for (const path of paths) {
    const text = readFileSync(join(root, path), 'utf8')
    if (text.includes('\0')) continue
    const rules = isTest(path) ? [...everywhere, ...inTests] : everywhere
    for (const [index, line] of text.split('\n').entries()) {
      for (const { pattern, why } of rules)
        if (pattern.test(line)) problems.push(`${path}:${index + 1}: ${why}: ${line.trim().slice(0, 120)}`)
    }
  }
  return problems
}

if (isMain(import.meta.url)) report('hygiene', unclean(repository, tracked()))
