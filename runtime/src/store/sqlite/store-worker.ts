// Owns the thread's side of the worker home: opens the store and answers each text, keeps leases while the holder's loop ticks, and
// tells of other processes' commits. Faults are made data here, before they cross.
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../base/clock.ts'
import { Engine } from '../engine.ts'
import { faultData } from '../fault.ts'
import { killGroup, LeaseKeeper } from '../lease-keeper.ts'
import type { Keeper, Watch } from '../upkeep.ts'
import { ChangeWatch } from './change-watch.ts'
import { connect } from './connection.ts'
import { renewBy } from './renew-by.ts'
import { SqliteRows } from './sqlite-rows.ts'
import type { FromWorker, ToWorker, WorkerStart } from './worker-messages.ts'

const port = parentPort
if (port === null) throw new Error('store-worker is the entry of a worker thread: it does not run by itself')

const send = (message: FromWorker) => port.postMessage(message)
const { path, ticks: shared, times }: WorkerStart = workerData
const ticks = new Int32Array(shared)

try {
  const database = connect(path)
  const engine = new Engine(new SqliteRows(database, path))
  let keeper: Keeper | null = null
  let watch: Watch | null = null
  const stop = () => {
    keeper?.stop()
    watch?.stop()
    keeper = watch = null
  }
  const startKeeping = () =>
    new LeaseKeeper({
      clock: systemClock,
      ticks: () => Atomics.load(ticks, 0),
      renew: renewBy(engine),
      kill: killGroup,
      events: {
        renewed: (renewed) => send({ renewed }),
        failed: (error) => send({ renewalFailed: faultData(error) }),
        expiring: (expiring, groups) => send({ expiring, groups }),
      },
      ...(times !== undefined && { times }),
    })
  const manage = (message: Exclude<ToWorker, string | null>) => {
    if ('hold' in message) keeper?.hold(message.hold)
    else if ('drop' in message) keeper?.drop(message.drop)
    else if ('guard' in message) keeper?.guard(message.guard)
    else if ('check' in message) watch?.check()
    else if ('keep' in message) {
      keeper?.stop()
      keeper = message.keep ? startKeeping() : null
    } else {
      watch?.stop()
      watch = message.watch ? new ChangeWatch(path, database, () => send({ changed: true })) : null
    }
  }
  port.on('message', (message: ToWorker) => {
    if (typeof message === 'string') return send(engine.call(message))
    if (message !== null) return manage(message)
    stop()
    engine.close()
    send({ closed: true })
    port.close()
  })
  send({ opened: true })
} catch (error) {
  send({ opened: false, fault: faultData(error) })
}
