// Owns the opening of a store in one SQLite file: the usual one, shared by every runtime of a user.
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '../../base/clock.ts'
import { Engine } from '../engine.ts'
import { StoreFault } from '../fault.ts'
import { type Home, inlineHome } from '../home.ts'
import { loopKeeper } from '../lease-keeper.ts'
import { lockedText, QueuedStore, refusal } from '../queued-store.ts'
import type { Upkeep } from '../upkeep.ts'
import { ChangeWatch } from './change-watch.ts'
import { connect } from './connection.ts'
import { LateKeeper } from './late-keeper.ts'
import { renewBy } from './renew-by.ts'
import { SqliteRows } from './sqlite-rows.ts'

export interface SqliteStoreOptions {
  /** Made where it is missing, with its directory; only the user can read either. */
  path: string
  /** `inline`: on the calling thread, quickest to start. `worker`: in a thread of its own, for a server. */
  home: 'inline' | 'worker'
  /** Called with one line where another process has held the store's lock for a while, and it is waited for. */
  onLocked?: (message: string) => void
}

/** A store that another process has just to itself, since it mends it or brings it up, is waited for so long, in ms. */
const OPEN_WITHIN_MS = 45_000
const PAUSE_MS = 50

/** *Contract:* rejects with Refusal `storage_unavailable` (what is wrong with the file or its place) or `store_version`. */
export async function openSqliteStore({ path, home, onLocked = () => undefined }: SqliteStoreOptions): Promise<QueuedStore> {
  const absolute = resolve(path)
  const start = performance.now()
  for (let attempt = 1; ; attempt += 1) {
    try {
      const store = new QueuedStore(home === 'worker' ? await openInWorker(absolute) : openInlineHome(absolute))
      store.onLocked = onLocked
      return store
    } catch (error) {
      if (!(error instanceof StoreFault)) throw error
      if (error.data.retry !== 'later' || performance.now() - start > OPEN_WITHIN_MS) throw refusal(error.data)
      if (attempt === 2) onLocked(lockedText(absolute, performance.now() - start, OPEN_WITHIN_MS))
    }
    await pause(PAUSE_MS)
  }
}

async function openInWorker(path: string): Promise<Home> {
  const { openWorkerHome } = await import('./worker-home.ts')
  return openWorkerHome(path)
}

export function openInlineHome(path: string): Home {
  const database = connect(path)
  const engine = new Engine(new SqliteRows(database, path))
  const home = inlineHome(engine)
  let keeper: LateKeeper | null = null
  const upkeep: Upkeep = {
    keep: (events) => {
      const instead = () => loopKeeper({ renew: renewBy(engine) }, systemClock, events)
      keeper = new LateKeeper(() => openInWorker(path), events, instead)
      return keeper
    },
    watch: (onChange) => new ChangeWatch(path, database, onChange),
  }
  return {
    ...home,
    upkeep,
    close: async () => {
      await keeper?.close()
      await home.close()
    },
  }
}
