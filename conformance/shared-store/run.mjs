// Owns the proof that several scripts in two languages share the default store, on one session and on several, also where a
// runtime of theirs is killed, or stands still for longer than its lease.
//
//   node conformance/shared-store/run.mjs
import assert from 'node:assert/strict'
import { check, expectNone, suite } from '../pack/tally.mjs'
import { faultsOf } from './log-faults.mjs'
import { Place } from './place.mjs'

const languages = ['TypeScript', 'Python', 'TypeScript']
const talk = { cases: [{ steps: [{ text: 'said' }] }] }
/** Its first question starts a process that would go on for ever, and waits; any other is answered at once. */
const held = {
  cases: [
    {
      when: 'hold',
      steps: [{ tool: { name: 'shell', input: { command: 'sleep 1000 >/dev/null 2>&1 & echo $! > left' } } }, { gate: 'go', text: 'held' }],
    },
    { steps: [{ text: 'said' }] },
  ],
}

async function within(script, prove) {
  const place = new Place(script)
  try {
    await prove(place)
  } finally {
    place.remove()
  }
}

/** Each prompt was answered, in a run whose interval begins with its own receipt and ends with an idle. */
function expectRuns(script, results) {
  for (const result of results) {
    assert.equal(result?.error, undefined, `${script.language}: ${JSON.stringify(result)}\n${script.stderr}`)
    assert.match(result.finalResponse, /said|held/)
    assert.deepEqual([result.events[0].type, result.events[0].data.message.id], ['inbox/receipt', result.messageId])
    assert.deepEqual([result.events.at(-1).type, result.events.at(-1).data.status], ['agent/status', 'idle'])
  }
}

const prompts = (name) => [1, 2, 3].map((n) => `${name} ${n}`)

async function finish(script, count) {
  const results = []
  for (let i = 1; i <= count; i += 1) results.push(await script.said(i))
  expectRuns(script, results)
  assert.equal(await script.end, 0, script.stderr)
  return results
}

await suite(async () => {
  await check('three scripts, three sessions, one store', () =>
    within(talk, async (place) => {
      const scripts = languages.map((language, i) => place.start(language, { sessionId: `s${i}`, create: true, prompts: prompts('own') }))
      await Promise.all(scripts.map((script) => finish(script, 3)))
      for (const i of languages.keys()) expectNone(faultsOf(await place.log(`s${i}`), 3))
    }),
  )

  await check('three scripts, one session', () =>
    within(talk, async (place) => {
      const first = place.start('Python', { sessionId: 's', create: true, prompts: prompts('first') })
      await first.said(0)
      const others = languages.map((language, i) => place.start(language, { sessionId: 's', prompts: prompts(`other ${i}`) }))
      const runs = await Promise.all([first, ...others].map((script) => finish(script, 3)))
      const log = await place.log('s')
      expectNone(faultsOf(log, 12))
      // What each run was given is what the log says, whoever drove.
      for (const { events } of runs.flat()) for (const event of events) assert.deepEqual(event.data, log[event.seq - 1].data)
    }),
  )

  await check('a runtime is killed in mid-turn: those that wait on its session go on', () =>
    within(held, async (place) => {
      const holder = place.start('TypeScript', { sessionId: 's', create: true, prompts: ['hold'] })
      await holder.said(0)
      await place.reached('go')
      const others = ['Python', 'TypeScript'].map((language) => place.start(language, { sessionId: 's', prompts: ['go on'] }))
      for (const other of others) await other.said(0)
      process.kill(place.runtimeOf(holder), 'SIGKILL')
      assert.equal((await holder.said(1)).error, 'ConnectionClosedError')
      place.open('go')
      await Promise.all(others.map((script) => finish(script, 1)))
      expectNone(faultsOf(await place.log('s'), 3))
      await place.gone('left')
    }),
  )

  await check('a runtime that stands still loses its session after the lease, and is told when it wakes', () =>
    within(held, async (place) => {
      const holder = place.start('Python', { sessionId: 's', create: true, prompts: ['hold', 'go on'] })
      await holder.said(0)
      await place.reached('go')
      const other = place.start('TypeScript', { sessionId: 's', prompts: ['go on'] })
      await other.said(0)
      const runtime = place.runtimeOf(holder)
      process.kill(runtime, 'SIGSTOP')
      place.open('go')
      await finish(other, 1)
      // The process that its tool had left in the background ended with the takeover, though the runtime itself lives on.
      await place.gone('left')
      process.kill(runtime, 'SIGCONT')
      assert.equal((await holder.said(1)).error, 'FencedError')
      expectRuns(holder, [await holder.said(2)])
      assert.equal(await holder.end, 0, holder.stderr)
      expectNone(faultsOf(await place.log('s'), 3))
    }),
  )
})
