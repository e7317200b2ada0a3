// Proves that the arrows are checked: each kind of violation is caught in a tree made for it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { importsOf, violations } from './arrows.mjs'

let root

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'quiesce-arrows-'))
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

function tree(files) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return violations(root)
}

test('accepts imports from lower rooms, from the own room and from packages', () => {
  expect(
    tree({
      'runtime/src/main.ts': "import { serve } from './cli/serve.ts'\nimport { engine } from './store/sqlite/engine.ts'\n",
      'runtime/src/cli/serve.ts': "import type { Driver } from '../agent/activation.ts'\nimport pc from 'picocolors'\n",
      'runtime/src/agent/activation.ts': "import type { Store } from '../store/store.ts'\nimport { admit } from '../inbox/admit.ts'\n",
      'runtime/src/store/sqlite/engine.ts': "import type { Store } from '../store.ts'\nimport { now } from '../../base/clock.ts'\n",
      'runtime/src/log/event-log.ts': "import type { Store } from '../store/store.ts'\nimport type { Fact } from '@quiesce/schema'\n",
      'ts-sdk/src/index.ts': "import { readFileSync } from 'node:fs'\nexport { Peer } from './peer.ts'\n",
    }),
  ).toEqual([])
})

test('catches an import from a higher room, with file and line', () => {
  expect(tree({ 'runtime/src/log/run.ts': "import a from 'node:fs'\n\nimport { turn } from '../agent/turn.ts'\n" })).toEqual([
    'runtime/src/log/run.ts:3: ../agent/turn.ts: log (2) is lower than agent (4)',
  ])
})

test.each([
  ['a type', "import type { Turn } from '../agent/turn.ts'\n"],
  ['several lines', "import {\n  type Turn,\n  turn,\n} from '../agent/turn.ts'\n"],
  ['a re-export', "export * from '../agent/turn.ts'\n"],
  ['a side effect', "import '../agent/turn.ts'\n"],
  ['a late import', "const turn = await import(\n  '../agent/turn.ts'\n)\n"],
  ['a type position', "export type T = import('../agent/turn.ts').Turn\n"],
  ['a worker', "new Worker(new URL('../agent/turn.ts', import.meta.url))\n"],
])('catches it written as %s', (_, text) => {
  expect(tree({ 'runtime/src/tools/shell.ts': text })).toHaveLength(1)
})

test('passes over comments', () => {
  expect(importsOf("// import a from './a.ts'\n/** see import('./b.ts')\n * from './c.ts'\n */\nimport d from './d.ts'\n")).toEqual([
    { line: 5, specifier: './d.ts', typeOnly: false },
  ])
})

test('catches another room of the same height', () => {
  const text = "import { registry } from '../models/registry.ts'\n"
  expect(tree({ 'runtime/src/tools/shell.ts': text })).toHaveLength(1)
  expect(tree({ 'runtime/src/tools/shell.ts': '', 'runtime/src/tools/shell.test.ts': text })).toEqual([])
})

test('lets the log and the interfaces know each other by type alone', () => {
  const log = "import { now } from '../base/clock.ts'\nimport type {\n  Store,\n} from '../store/store.ts'\n"
  const store = "import type { Fact } from '../log/facts.ts'\nexport type { Fact }\n"
  expect(tree({ 'runtime/src/log/event-log.ts': log, 'runtime/src/store/store.ts': store })).toEqual([])
  expect(tree({ 'runtime/src/store/store.ts': store.replace('import type', 'import') })).toEqual([
    'runtime/src/store/store.ts:1: ../log/facts.ts: store and log stand at one height (2)',
  ])
})

test('catches an interface that imports its implementation', () => {
  expect(tree({ 'runtime/src/store/store.ts': "import { rows } from './sqlite/rows.ts'\n" })).toHaveLength(1)
})

test('catches an agent that knows more than an interface', () => {
  expect(tree({ 'runtime/src/agent/step.ts': "import { shell } from '../tools/shell.ts'\n" })).toEqual([
    'runtime/src/agent/step.ts:1: ../tools/shell.ts: the agent knows only the interface of tools',
  ])
})

test('catches the schema in base', () => {
  expect(tree({ 'runtime/src/base/ids.ts': "import { Id } from '@quiesce/schema'\n" })).toHaveLength(1)
})

test('catches a file in no room', () => {
  expect(tree({ 'runtime/src/plugins/a.ts': '', 'runtime/src/b.ts': '' })).toHaveLength(2)
})

test.each([
  ['ts-sdk/src/index.ts', '@quiesce/schema'],
  ['ts-sdk/src/index.ts', '../../schema/src/index.ts'],
  ['ts-sdk/src/index.ts', '@quiesce/runtime'],
  ['runtime/src/server/peer.ts', '@quiesce/sdk'],
  ['runtime/src/server/peer.ts', '../../../ts-sdk/src/peer.ts'],
  ['schema/src/index.ts', '@quiesce/runtime'],
])('catches %s importing %s', (path, specifier) => {
  expect(tree({ [path]: `export { a } from '${specifier}'\n` })).toHaveLength(1)
})

test.each(['runtime/src/log/utils.ts', 'ts-sdk/src/types.ts', 'python-sdk/src/quiesce/_helpers.py', 'runtime/src/store/common/rows.ts'])(
  'catches the name of %s',
  (path) => {
    expect(tree({ [path]: '' })).toHaveLength(1)
  },
)

test('leaves generated files alone', () => {
  expect(tree({ 'ts-sdk/src/generated/types.ts': '', 'python-sdk/src/quiesce/_generated/types.py': '' })).toEqual([])
})
