import { afterEach, expect, test } from 'vitest'
import { ManualClock } from '../base/clock.ts'
import { LeaseKeeper } from './lease-keeper.ts'
import type { Lease } from './store.ts'
import { LEASE_MS, RENEW_MS } from './upkeep.ts'

class Rig {
  readonly clock = new ManualClock()
  readonly told: unknown[] = []
  readonly killed: number[] = []
  readonly renewals: { sessions: string[]; now: number }[] = []
  turning = true
  answer: (leases: readonly Lease[]) => Promise<(number | null)[]> = async (leases) => leases.map(() => 7)
  #ticks = 0
  readonly keeper = new LeaseKeeper({
    clock: this.clock,
    ticks: () => (this.turning ? ++this.#ticks : this.#ticks),
    renew: (leases, { now }) => {
      this.renewals.push({ sessions: leases.map(({ sessionId }) => sessionId), now })
      return this.answer(leases)
    },
    kill: (group) => this.killed.push(group),
    events: {
      renewed: (seqs) => this.told.push(...seqs),
      failed: (error) => this.told.push(error.message),
      expiring: (afterMs, groups) => this.told.push({ afterMs, groups }),
    },
  })

  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 500) {
      this.clock.advance(500)
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
  }
}

const lease = (sessionId: string, epoch = 1): Lease => ({ sessionId, epoch })
const rigs: Rig[] = []
const rig = (): Rig => {
  const made = new Rig()
  rigs.push(made)
  return made
}
afterEach(() => {
  for (const { keeper } of rigs.splice(0)) keeper.stop()
})

test('RE-5: leases are renewed while the loop turns, and nothing is killed however long it lasts', async () => {
  const { keeper, renewals, told, killed, pass } = bound(rig())
  keeper.guard([41])
  keeper.hold(lease('a'))
  keeper.hold(lease('b'))
  await pass(5 * LEASE_MS)
  expect(renewals).toHaveLength((5 * LEASE_MS) / RENEW_MS)
  expect(renewals.at(-1)?.sessions).toEqual(['a', 'b'])
  expect(told.slice(0, 2)).toEqual([
    ['a', 7],
    ['b', 7],
  ])
  expect(killed).toEqual([])
})

test('RE-5: a loop that stands still is not renewed for, and what its tools run is killed before the lease ends', async () => {
  const made = bound(rig())
  const { keeper, renewals, told, killed, pass } = made
  keeper.guard([41, 42])
  keeper.hold(lease('a'))
  await pass(RENEW_MS)
  made.rig.turning = false
  const before = renewals.length
  await pass(LEASE_MS - RENEW_MS - 500)
  expect(renewals).toHaveLength(before)
  expect(killed).toEqual([])
  await pass(500)
  expect(killed).toEqual([41, 42])
  expect(told.at(-1)).toEqual({ afterMs: LEASE_MS - RENEW_MS, groups: 2 })
  await pass(3 * LEASE_MS)
  expect(killed).toEqual([41, 42])
  made.rig.turning = true
  await pass(RENEW_MS)
  expect(told.at(-1)).toEqual(['a', 7])
  made.rig.turning = false
  await pass(LEASE_MS)
  expect(killed).toEqual([41, 42, 41, 42])
})

test.each([
  ['fails', () => Promise.reject(new Error('the disk is full'))],
  ['hangs', () => new Promise<never>(() => undefined)],
])('RE-5: a store that %s ends the tools too, in time', async (_, answer) => {
  const made = bound(rig())
  made.keeper.guard([41])
  made.keeper.hold(lease('a'))
  await made.pass(RENEW_MS)
  made.rig.answer = answer
  await made.pass(LEASE_MS - RENEW_MS)
  expect(made.killed).toEqual([41])
})

test('RE-4: a lost lease is told once and kept no more; a newer one of the same session is kept on', async () => {
  const made = bound(rig())
  made.keeper.hold(lease('a'))
  made.keeper.hold(lease('b'))
  made.rig.answer = async (leases) => leases.map(({ sessionId, epoch }) => (sessionId === 'a' && epoch === 1 ? null : 9))
  await made.pass(2 * RENEW_MS)
  expect(made.told).toEqual([
    ['a', null],
    ['b', 9],
    ['b', 9],
  ])
  made.keeper.hold(lease('a', 2))
  made.keeper.drop(lease('a', 1))
  made.keeper.drop(lease('b'))
  await made.pass(RENEW_MS)
  expect(made.told.at(-1)).toEqual(['a', 9])
})

test('nothing is renewed, told or killed without a lease, nor after the stop', async () => {
  const made = bound(rig())
  made.keeper.guard([41])
  await made.pass(LEASE_MS)
  made.keeper.hold(lease('a'))
  made.keeper.drop(lease('a'))
  await made.pass(LEASE_MS)
  made.keeper.hold(lease('a'))
  made.keeper.stop()
  made.keeper.hold(lease('b'))
  await made.pass(2 * LEASE_MS)
  expect([made.renewals, made.told, made.killed]).toEqual([[], [], []])
})

function bound(rig: Rig) {
  const { keeper, renewals, told, killed } = rig
  return { rig, keeper, renewals, told, killed, pass: (ms: number) => rig.pass(ms) }
}
