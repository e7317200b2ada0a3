// Owns the proof that a message can be prompted in one language and collected in the other, each in a process of its own, with one
// result: RunResult as JSON, apart from Python's finish_reason.
//
//   node conformance/demo/across-languages.mjs
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { repository } from '../checks/files.mjs'

const languages = {
  TypeScript: ['node', join(repository, 'ts-sdk/examples/prompt-here-collect-there.mjs')],
  Python: [join(repository, '.venv/bin/python'), join(repository, 'python-sdk/examples/prompt_here_collect_there.py')],
}

const base = realpathSync(mkdtempSync(join(tmpdir(), 'quiesce-across-')))
process.on('exit', () => rmSync(base, { recursive: true, force: true, maxRetries: 5 }))
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(128 + constants.signals[signal]))

async function ask({ cwd, store }, language, ...words) {
  const env = { QUIESCE_MODEL: 'scripted/demo', ...process.env, QUIESCE_STORE: store }
  const [program, ...args] = languages[language]
  const { stdout } = await promisify(execFile)(program, [...args, ...words], { cwd, env, maxBuffer: 64 << 20 })
  return JSON.parse(stdout)
}

/** Collects the message in one language and then in the other; their results must be equal. */
async function collected(place, { sessionId, messageId }, order) {
  const results = {}
  for (const language of order) results[language] = await ask(place, language, 'collect', sessionId, messageId)
  const { finish_reason: finishReason, ...python } = results.Python
  assert.equal(finishReason, 'completed')
  assert.equal(python.messageId, messageId)
  assert.notEqual(python.finalResponse, '')
  assert.deepEqual(python, results.TypeScript)
  return python
}

const endings = ({ events }) => events.filter(({ type }) => type === 'turn/end').map(({ data }) => data.reason.kind)

/** A message that is prompted in one language and collected in the other, in a store of their own. */
async function direction(here, there) {
  const place = { cwd: mkdtempSync(join(base, 'workspace-')) }
  place.store = `sqlite:${join(place.cwd, '.quiesce.db')}`

  // The runtime that was prompted is closed over its open turn; the one that collects goes on with it.
  const open = await ask(place, here, 'prompt', 'Wait for the file go')
  writeFileSync(join(place.cwd, 'go'), '')
  assert.deepEqual(endings(await collected(place, open, [there, here])), ['interrupted', 'completed'])
  console.log(`${here} prompts, ${there} collects: equal where the turn was open`)

  // Collected where it was prompted first, so that it is over when the other language comes.
  const over = await ask(place, here, 'prompt', 'Say hello.')
  await collected(place, over, [here, there])
  console.log(`${here} prompts, ${there} collects: equal where the turn was over`)
}

await Promise.all([direction('TypeScript', 'Python'), direction('Python', 'TypeScript')])
