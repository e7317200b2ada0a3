// Owns the other process of tests of faults: does to the store at argv[2] what argv[3] says, each step when stdin says so.
import { existsSync, readSync, writeSync } from 'node:fs'
import { created, receipt } from '../store.fixture.ts'
import { connect } from './connection.ts'
import { type Database, openDatabase } from './driver.ts'
import { migrate, migrations } from './schema.ts'
import { openSqliteStore } from './sqlite-store.ts'

const [path = '', task = '', argument = ''] = process.argv.slice(2)

/** At once, not when the event loop gets to it: the process may be killed next. */
const say = (value: unknown) => writeSync(1, `${JSON.stringify(value)}\n`)

/** Stands still until a byte comes. */
function told(): void {
  readSync(0, Buffer.alloc(1))
}

/** Opens the store with everybody else, commits once, and closes it: as often as is said. */
async function open(): Promise<void> {
  say('ready')
  told()
  for (let round = 0; round < Number(argument || 1); round += 1) {
    const store = await openSqliteStore({ path, home: 'inline' })
    await store.commit(created(`${process.pid}-${round}`))
    await store.close()
  }
  say('done')
}

/** Holds the write lock, as a backup or a large transaction does; for ever where nobody says otherwise. */
async function hold(): Promise<void> {
  const database = openDatabase(path)
  database.exec(argument || 'BEGIN IMMEDIATE')
  say('held')
  told()
  database.exec('ROLLBACK')
  say('free')
}

/** Writes once and closes as the last one does: whose connection is the last takes the log away. */
async function visit(): Promise<void> {
  const database = openDatabase(path)
  database.exec('BEGIN IMMEDIATE; COMMIT')
  database.close()
  say(existsSync(`${path}-wal`))
}

/** Brings the store up by one version, and waits at each statement. */
async function bringUp(): Promise<void> {
  const database = connect(path)
  // As it is while a store is opened.
  database.prepare('PRAGMA busy_timeout = 5000').all()
  say('ready')
  told()
  migrate(slowly(database), path, [...migrations, argument])
  say('up')
}

function slowly(database: Database): Database {
  return {
    ...database,
    exec: (sql) => {
      database.exec(sql)
      say(sql)
      told()
    },
  }
}

/** Opens, and has what is said in the argument ready to be committed when it is told to. */
async function commit(): Promise<void> {
  const store = await openSqliteStore({ path, home: 'inline' })
  say('open')
  told()
  say(await store.commit({ sessionId: 's', facts: [receipt(argument)] }).catch((error: Error) => error.message))
}

const tasks: Record<string, () => Promise<void>> = { open, hold, visit, bringUp, commit }
await tasks[task]?.()
