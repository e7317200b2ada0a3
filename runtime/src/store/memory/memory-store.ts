// Owns the opening of a store that forgets everything at its end: for tests, demos and throw-away runs.
import { Engine } from '../engine.ts'
import { inlineHome } from '../home.ts'
import { QueuedStore } from '../queued-store.ts'
import { MemoryRows } from './memory-rows.ts'

export function openMemoryStore(): QueuedStore {
  return new QueuedStore(inlineHome(new Engine(new MemoryRows())))
}
