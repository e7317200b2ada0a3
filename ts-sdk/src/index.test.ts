// The public surface, frozen: what is added or taken away here is added or taken away on purpose, in both SDKs.
import { expect, it } from 'vitest'
import * as surface from './index.ts'
import { Session } from './session.ts'
import { Sessions } from './sessions.ts'
import { RunStream } from './stream.ts'

const members = (type: { prototype: object }): string[] =>
  Reflect.ownKeys(type.prototype)
    .filter((key) => key !== 'constructor')
    .map(String)
    .sort()

it('exports these values', () => {
  expect(Object.keys(surface).sort()).toEqual([
    'ConnectionClosedError',
    'FencedError',
    'FrameTooLargeError',
    'LimitExceededError',
    'MessageConflictError',
    'MessageNotFoundError',
    'ModelAuthError',
    'OverloadedError',
    'ProtocolError',
    'Quiesce',
    'QuiesceError',
    'RequestTimeoutError',
    'RevisionConflictError',
    'RpcError',
    'RunAbortedError',
    'RunTimeoutError',
    'RuntimeNotFoundError',
    'SessionBusyError',
    'SessionExistsError',
    'SessionNotFoundError',
    'ShuttingDownError',
    'StorageUnavailableError',
    'StoreVersionError',
    'UnauthorizedError',
    'UnknownModelError',
    'UnsupportedProtocolError',
  ])
})

it('has these members', () => {
  expect(Object.keys(surface.Quiesce)).toEqual([])
  expect(Object.getOwnPropertyNames(surface.Quiesce)).toContain('launch')
  expect(members(surface.Quiesce)).toEqual([String(Symbol.asyncDispose), 'close', 'models', 'ping', 'tools'])
  expect(members(Sessions)).toEqual(['create', 'delete', 'get', 'list'])
  expect(members(Session)).toEqual([
    'cancel',
    'collect',
    'describe',
    'events',
    'inject',
    'messages',
    'prompt',
    'run',
    'status',
    'steer',
    'stream',
    'update',
    'withdraw',
  ])
  expect(members(RunStream)).toEqual(['Symbol(Symbol.asyncIterator)'])
})

it('shows a handle as its id alone', () => {
  const session = new Session('s-1', () => Promise.reject(new Error('unused')))
  expect(Object.keys(session)).toEqual(['id'])
})

it('has no word for a prompt that is finished (ST-8)', () => {
  const names = [surface.Quiesce, Session, Sessions, RunStream].flatMap(members)
  expect(names.filter((name) => /finish|complet|wait|done/i.test(name))).toEqual([])
})
