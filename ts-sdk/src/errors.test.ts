import { expect, it } from 'vitest'
import * as errors from './errors.ts'
import { errorCodes } from './generated/errors.ts'

it('has the class that the schema names for each code', () => {
  for (const [code, { className, retryable }] of Object.entries(errorCodes)) {
    const error = errors.rpcErrorOf({ code: -32000, message: 'no', data: { code, retryable, extra: 1 } })
    expect(error).toBeInstanceOf(errors.RpcError)
    expect(error.name).toBe(className)
    expect(error).toMatchObject({ code, rpcCode: -32000, retryable, message: 'no', data: { extra: 1 } })
  }
})

it('keeps a code that it does not know', () => {
  const error = errors.rpcErrorOf({ code: -32000, message: 'no', data: { code: 'toString', retryable: true } })
  expect(error).toMatchObject({ name: 'RpcError', code: 'toString', retryable: true })
})

it.each([
  [-32700, 'parse_error'],
  [-32600, 'invalid_request'],
  [-32601, 'method_not_found'],
  [-32602, 'invalid_params'],
  [-32603, 'internal_error'],
  [-1, '-1'],
])('names JSON-RPC code %i %s', (rpcCode, code) => {
  expect(errors.rpcErrorOf({ code: rpcCode, message: 'no' })).toMatchObject({ name: 'RpcError', code, rpcCode, data: {}, retryable: false })
})

it('tells the faults of params under the name of the method, and no other error', () => {
  const faulty = { code: -32602, message: 'invalid params: permissions: expected "edit", got 3', data: { faults: [] } }
  expect(errors.rpcErrorOf(faulty, 'session/create').message).toBe('session/create: permissions: expected "edit", got 3')
  expect(errors.rpcErrorOf({ ...faulty, message: 'bad' }, 'session/create').message).toBe('session/create: bad')
  expect(errors.rpcErrorOf({ code: -32000, message: 'busy', data: { code: 'session_busy' } }, 'session/prompt').message).toBe('busy')
})

it('is one tree', () => {
  for (const value of Object.values(errors)) {
    if (typeof value === 'function' && value.prototype instanceof Error)
      expect(value === errors.QuiesceError || value.prototype instanceof errors.QuiesceError).toBe(true)
  }
  expect(new errors.RequestTimeoutError('server/ping', 5)).toMatchObject({
    name: 'RequestTimeoutError',
    method: 'server/ping',
    timeoutMs: 5,
  })
})
