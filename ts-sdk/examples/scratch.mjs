// Owns what surrounds the examples: a directory to work in and a store, both temporary, and the model that answers.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Makes a workspace that holds `files`, removed when the process ends, also after Ctrl-C. QUIESCE_STORE and QUIESCE_MODEL,
 * where they are set, say which store and which model are used.
 * @param {Record<string, string>} files contents by name
 */
export function scratch(files = {}) {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'quiesce-example-')))
  process.on('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }))
  // The runtime ends by itself when this process does, and takes along what it started.
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, () => process.exit(128 + constants.signals[signal]))

  const workspace = join(directory, 'workspace')
  mkdirSync(workspace)
  for (const [name, content] of Object.entries(files)) writeFileSync(join(workspace, name), content)

  const { QUIESCE_STORE: store = `sqlite:${join(directory, 'quiesce.db')}`, QUIESCE_MODEL: model } = process.env
  if (!model) {
    console.error('(The scripted demo model answers: no network, no key. For a real one, for example:')
    console.error('   export QUIESCE_MODEL=deepseek/deepseek-chat DEEPSEEK_API_KEY=your-key)')
  }
  return { workspace, store, model: model || 'scripted/demo' }
}
