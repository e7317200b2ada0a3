// Owns the other process of the store's tests: opens the store at argv[2] in the home argv[3] and does what argv[4] says.
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { created, outcome, ownerOf, receipt } from '../store.fixture.ts'
import { openSqliteStore } from './sqlite-store.ts'

const [path = '', home = '', task = '', name = ''] = process.argv.slice(2)

/** At once, not when the event loop gets to it: the process may be killed next. */
const say = (value: unknown) => writeSync(1, `${JSON.stringify(value)}\n`)

const store = await openSqliteStore({ path, home: home === 'worker' ? 'worker' : 'inline' })

/** Commits for ever, and says each seq as soon as it is answered. */
async function commitForever(): Promise<never> {
  await store.commit(created(name))
  for (let i = 1; ; i += 1) {
    const burst = [0, 1, 2].map((j) => store.commit({ sessionId: name, facts: [receipt(`m${i}-${j}`)] }))
    for (const result of await Promise.all(burst)) say(result.ok ? result.last : result)
  }
}

/** On each line of stdin, a session's id: takes its lease, sends one message, prompts it if idle; says how each went. */
async function race(): Promise<void> {
  say('ready')
  for await (const sessionId of createInterface({ input: process.stdin })) {
    const results = await Promise.all([
      store.acquire(sessionId, ownerOf(name), { now: 1000, ttlMs: 1000 }),
      store.commit({ sessionId: `${sessionId}-message`, when: [{ kind: 'new-message', messageId: 'same' }], facts: [receipt('same')] }),
      store.commit({ sessionId: `${sessionId}-idle`, when: [{ kind: 'idle' }], facts: [receipt(`by ${name}`)] }),
      store.commit(created(`${sessionId}-new`)),
    ])
    say(results.map(outcome))
  }
  await store.close()
}

/** Leaves the store open: nothing of it may hold the process. */
async function leaveOpen(): Promise<void> {
  say((await store.commit(created(name))).ok)
}

const tasks: Record<string, () => Promise<void>> = { commitForever, race, leaveOpen }
await tasks[task]?.()
