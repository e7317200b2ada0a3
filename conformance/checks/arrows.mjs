// Owns the arrows of the architecture: a room imports only from lower ones, and the SDKs and the runtime nothing of each other.
import { readFileSync } from 'node:fs'
import { basename, posix } from 'node:path'
import { isGenerated, isMain, report, repository, walk } from './files.mjs'

const runtime = 'runtime/src'

/** Rooms by height. An interface file stands lower than the room it is in. */
const rooms = {
  base: 0,
  log: 2,
  store: 3,
  inbox: 3,
  models: 3,
  tools: 3,
  agent: 4,
  subagents: 5,
  goals: 5,
  subscriptions: 5,
  server: 6,
  acp: 6,
  cli: 6,
}
const interfaces = ['store/store.ts', 'store/upkeep.ts', 'models/model.ts', 'tools/tool.ts']
const schemaRank = 1
const interfaceRank = 2
const mainRank = 7

const forbiddenNames = /^(utils?|helpers?|common|core|types)$/
const namedFolders = ['runtime/src', 'schema/src', 'ts-sdk/src', 'python-sdk/src', 'conformance']

const packages = {
  'runtime/src': { mayImport: ['@quiesce/schema'] },
  'schema/src': { mayImport: [] },
  'ts-sdk/src': { mayImport: [] },
}

/** Tests, and the fixtures that only tests import: never built, never shipped. */
const isTest = (path) => /\.(test|fixture)\.ts$/.test(path)

const patterns = [
  /\bfrom\s*(['"])([^'"\n]+)\1/g,
  /^[ \t]*import\s*(['"])([^'"\n]+)\1/gm,
  /\b(?:import|require|mock|doMock|importActual)\s*\(\s*(['"`])([^'"`\n]+)\1/g,
  // A module by its URL: a worker's entry, say. A folder is no module.
  /\bnew\s+URL\(\s*(['"])(\.[^'"\n]+\.[mc]?[jt]s)\1/g,
]

/** Whether the last statement that begins in `before` is `import type` or `export type`. */
function isTypeOnly(before) {
  const last = [...before.matchAll(/^[ \t]*(?:import|export)\b([ \t]+type\b)?/gm)].at(-1)
  return last?.[1] !== undefined
}

/** Every import of a source text with its line, and whether it vanishes when built; lines that are comments are passed over. */
export function importsOf(text) {
  const found = []
  for (const pattern of patterns) {
    for (const match of text.matchAll(pattern)) {
      const at = match.index + match[0].lastIndexOf(match[2])
      const line = text.slice(0, at).split('\n').length
      const start = text.slice(text.lastIndexOf('\n', at) + 1, at).trimStart()
      if (/^(\/\/|\*|\/\*)/.test(start)) continue
      found.push({ line, specifier: match[2], typeOnly: match[0].startsWith('from') && isTypeOnly(text.slice(0, at)) })
    }
  }
  return found.sort((a, b) => a.line - b.line)
}

/** The room and the height of a file, `inside` being its path below runtime/src. */
function place(inside) {
  if (inside === 'main.ts') return { room: 'main', rank: mainRank }
  const room = inside.includes('/') ? inside.slice(0, inside.indexOf('/')) : undefined
  const rank = room !== undefined && Object.hasOwn(rooms, room) ? rooms[room] : undefined
  if (rank === undefined) return undefined
  return { room, rank: interfaces.includes(inside) ? interfaceRank : rank }
}

/** Why one runtime file may not import another, or nothing. */
function refusal(from, to, fromInside, toInside, typeOnly) {
  if (to.rank > from.rank) return `${from.room} (${from.rank}) is lower than ${to.room} (${to.rank})`
  if (to.room === from.room || isTest(fromInside)) return undefined
  // The log and the interfaces are written in each other's types; none may need another to load.
  if (to.rank === from.rank && !(typeOnly && to.rank === interfaceRank))
    return `${from.room} and ${to.room} stand at one height (${from.rank})`
  if (from.room === 'agent' && ['store', 'models', 'tools'].includes(to.room) && !interfaces.includes(toInside))
    return `the agent knows only the interface of ${to.room}`
  return undefined
}

function judgeWithinRuntime(path, target, typeOnly) {
  const [fromInside, toInside] = [path, target].map((file) => file.slice(runtime.length + 1))
  const from = place(fromInside)
  if (from === undefined) return undefined // said once, for the file
  const to = place(toInside)
  return to === undefined ? `${target} is in no room` : refusal(from, to, fromInside, toInside, typeOnly)
}

function judge(path, home, { specifier, typeOnly }) {
  const own = /^@quiesce\/[^/]+/.exec(specifier)?.[0]
  if (own !== undefined) {
    if (!packages[home].mayImport.includes(own)) return `${home} may not import ${own}`
    const from = place(path.slice(runtime.length + 1))
    if (from !== undefined && from.rank < schemaRank) return `${from.room} (${from.rank}) is lower than the schema (${schemaRank})`
    return undefined
  }
  if (!specifier.startsWith('.')) return undefined
  const target = posix.join(posix.dirname(path), specifier)
  if (!target.startsWith(`${home}/`)) return leavesItsPackage(path, home, target) ? `${target} is outside ${home}` : undefined
  return home === runtime ? judgeWithinRuntime(path, target, typeOnly) : undefined
}

/** A package may reach its own folder (its package.json, say), and tests the fixtures of the suite; never another package's source. */
function leavesItsPackage(path, home, target) {
  if (target.startsWith(`${posix.dirname(home)}/`)) return false
  return !(isTest(path) && target.startsWith('conformance/'))
}

function judgeNames(root) {
  const problems = []
  for (const folder of namedFolders) {
    for (const { path } of walk(root, folder)) {
      const stem = basename(path).replace(/^_+/, '').split('.')[0]
      if (!isGenerated(path) && forbiddenNames.test(stem)) problems.push(`${path}:1: a name that says nothing about what it owns`)
    }
  }
  return problems
}

/** Every violation in the tree at `root`, as `file:line: specifier: why`. */
export function violations(root) {
  const problems = judgeNames(root)
  for (const home of Object.keys(packages)) {
    for (const { path, isFolder } of walk(root, home)) {
      if (isFolder || !/\.(ts|mts|mjs|js)$/.test(path)) continue
      if (home === runtime && place(path.slice(runtime.length + 1)) === undefined)
        problems.push(`${path}:1: is in no room: put it in one, or give its room a height in conformance/checks/arrows.mjs`)
      for (const found of importsOf(readFileSync(`${root}/${path}`, 'utf8'))) {
        const why = judge(path, home, found)
        if (why !== undefined) problems.push(`${path}:${found.line}: ${found.specifier}: ${why}`)
      }
    }
  }
  return problems
}

if (isMain(import.meta.url)) report('arrows', violations(repository))
