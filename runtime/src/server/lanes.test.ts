import { expect, it } from 'vitest'
import { deferred } from '../base/deferred.ts'
import { Lanes } from './lanes.ts'

it('runs the jobs of one lane in order, and those of others beside them', async () => {
  const lanes = new Lanes()
  const gate = deferred()
  const ran: string[] = []
  const job = (name: string, wait?: Promise<void>) => async () => {
    ran.push(`${name} begins`)
    await wait
    ran.push(`${name} ends`)
  }
  const all = [lanes.run('a', job('a1', gate.promise)), lanes.run('a', job('a2')), lanes.run('b', job('b1'))]
  expect(ran).toEqual(['a1 begins', 'b1 begins'])
  await all[2]
  gate.resolve()
  await Promise.all(all)
  expect(ran).toEqual(['a1 begins', 'b1 begins', 'b1 ends', 'a1 ends', 'a2 begins', 'a2 ends'])
})

it('goes on after a failure, and forgets an empty lane', async () => {
  const lanes = new Lanes()
  const failed = lanes.run('a', async () => {
    throw new Error('no')
  })
  const after = lanes.run('a', async () => 'yes')
  await expect(failed).rejects.toThrow('no')
  expect(await after).toBe('yes')
  await Promise.resolve()
  expect(lanes.size).toBe(0)
})
