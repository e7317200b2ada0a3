import { describe, expect, it } from 'vitest'
import { InvalidParams, Refusal } from '../log/refusal.ts'
import { invalidRequest, methodNotFound, parseError, type RpcError, rpcErrorOf } from './rpc-error.ts'

const long = '"'.repeat(1_000_000)
const told = (error: unknown): RpcError => rpcErrorOf(error, () => undefined)

describe('FR-2: an error is never much longer than what it is about', () => {
  it.each([
    ['a method', methodNotFound(long, ['server/ping'])],
    ['an id in flight', invalidRequest(`the id ${long} is in flight already`)],
    ['what is not JSON', parseError(`not JSON: ${long}`)],
    ['a detail', told(new Refusal('subscription_not_found', `no subscription ${long}`, { subscriptionId: long }))],
    ['a fault', told(new InvalidParams([{ path: long, message: long }]))],
    ['many faults', told(new InvalidParams(Array.from({ length: 100_000 }, (_, i) => ({ path: `content[${i}]`, message: 'wrong' }))))],
  ])('which names %s', (_, error) => {
    expect(JSON.stringify(error).length).toBeLessThan(20_000)
    expect(error.message).toMatch(/\.\.\.|server\/ping/)
  })

  it('but tells the first hundred faults whole, and how many are left', () => {
    const faults = Array.from({ length: 107 }, (_, i) => ({ path: `content[${i}].text`, message: 'required: string' }))
    const { data } = told(new InvalidParams(faults))
    expect(data?.faults).toEqual([...faults.slice(0, 100), { path: '', message: 'and 7 more faults' }])
    expect(told(new InvalidParams(faults.slice(0, 100))).data?.faults).toEqual(faults.slice(0, 100))
  })

  it('and is never cut inside a character', () => {
    const { message } = parseError(`${'x'.repeat(1999)}🧭`)
    expect(message).toBe(`${'x'.repeat(1999)}...`)
  })
})
