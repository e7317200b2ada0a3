// Owns the thread's side of the worker home: opens the store and answers each text. Faults are made data here, before they cross.
import { parentPort, workerData } from 'node:worker_threads'
import { Engine } from '../engine.ts'
import { faultData } from '../fault.ts'
import { connect } from './connection.ts'
import { SqliteRows } from './sqlite-rows.ts'
import type { FromWorker, ToWorker, WorkerStart } from './worker-home.ts'

const port = parentPort
if (port === null) throw new Error('store-worker is the entry of a worker thread: it does not run by itself')

const send = (message: FromWorker) => port.postMessage(message)
const { path }: WorkerStart = workerData

try {
  const engine = new Engine(new SqliteRows(connect(path), path))
  port.on('message', (message: ToWorker) => {
    if (message !== null) return send(engine.call(message))
    engine.close()
    send({ closed: true })
    port.close()
  })
  send({ opened: true })
} catch (error) {
  send({ opened: false, fault: faultData(error) })
}
