// Talks to an agent that is at work: one run is told something new, another one is cancelled.
//
//   node ts-sdk/examples/steer-and-cancel.mjs
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Quiesce } from '@quiesce/sdk'
import { scratch } from './scratch.mjs'

const { workspace, store, model } = scratch()
const [go, pid] = [join(workspace, 'go'), join(workspace, 'pid')]

// A command that goes on until the file `go` is there, and leaves the id of its process in the file `pid`.
const prompt = 'Run `echo $$ > .pid; mv .pid pid; until [ -e go ]; do sleep 0.05; done` in the shell, and tell me how it ended.'

const quiesce = await Quiesce.launch({ cwd: workspace, store, model })
try {
  const session = await quiesce.sessions.create({ permissions: 'allow-all' }) // commands run without asking

  const steered = session.stream(prompt)
  await underWay(steered)
  await session.steer('Have the word PELICAN in your answer.') // joins the work under way, at its next step
  writeFileSync(go, '')
  const { finalResponse } = await steered.result
  console.log(finalResponse)
  assert.match(finalResponse, /PELICAN/)

  rmSync(go)
  rmSync(pid)
  const cancelled = session.stream(prompt)
  await underWay(cancelled)
  const shell = Number(readFileSync(pid, 'utf8'))
  process.kill(shell, 0) // signal 0 only asks: no exception, so the process is there
  await session.cancel()

  // The run ends as any other; its facts say that the turn was cancelled, and the command is gone with it.
  const { events } = await cancelled.result
  assert.equal(events.findLast((event) => event.type === 'turn/end')?.data.reason.kind, 'cancelled')
  assert.throws(() => process.kill(shell, 0), { code: 'ESRCH' })
  console.log(`Cancelled: process ${shell} is gone.`)
} finally {
  await quiesce.close()
}

/** Resolves once the command has left its process id. @param {import('@quiesce/sdk').RunStream} run */
async function underWay(run) {
  const watcher = watch(workspace)
  const fail = () => Promise.reject(new Error('the run ended, and the agent ran no command'))
  while (!existsSync(pid)) await Promise.race([once(watcher, 'change'), run.result.then(fail)])
  watcher.close()
}
