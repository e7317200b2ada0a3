// Owns the making of ids: sortable ones for the real world, counted ones for tests.
import { closeSync, openSync, readSync } from 'node:fs'
import { v7 } from 'uuid'

/** Makes an id that was not made before; `prefix` says what it names. */
export type Ids = (prefix: string) => string

export const systemIds: Ids = (prefix) => `${prefix}_${nextV7(Date.now(), systemRandom())}`

let last = { msecs: 0, seq: 0 }

/** Sorted behind every earlier one of this process, within one millisecond too. */
function nextV7(now: number, random: Uint8Array): string {
  const seq = now > last.msecs ? new DataView(random.buffer, random.byteOffset).getUint32(0) & 0x7fff_ffff : last.seq + 1
  last = { msecs: Math.max(now, last.msecs), seq }
  return v7({ msecs: last.msecs, seq, random })
}

/** Read ahead, as much as the system gives without being interrupted. An id takes 16 bytes. */
const pool = new Uint8Array(256)
let used = pool.length

/** What Node's crypto would give as well; loading that takes a tenth of the start of a command. */
function systemRandom(): Uint8Array {
  if (used === pool.length) {
    const device = openSync('/dev/urandom', 'r')
    try {
      if (readSync(device, pool) !== pool.length) throw new Error('/dev/urandom gives too few bytes')
    } finally {
      closeSync(device)
    }
    used = 0
  }
  used += 16
  return pool.subarray(used - 16, used)
}

/** Ids that count up per prefix: the same in every run of a test. */
export function countedIds(): Ids {
  const counts = new Map<string, number>()
  return (prefix) => {
    const next = (counts.get(prefix) ?? 0) + 1
    counts.set(prefix, next)
    return `${prefix}_${next}`
  }
}
