import { afterEach, beforeEach, expect, it } from 'vitest'
import { FakeRuntime, Refusal } from '../test/fake-runtime.ts'
import { linked } from '../test/linked.ts'
import { CallSite, fromCaller } from './call-site.ts'
import { Connection } from './connection.ts'
import { ConnectionClosedError, QuiesceError } from './errors.ts'
import { Quiesce } from './quiesce.ts'
import type { Session } from './session.ts'
import { Sessions } from './sessions.ts'

const refusing = () => {
  const runtime = new FakeRuntime()
  for (const method of ['session/create', 'session/get', 'session/list', 'session/prompt', 'session/subscribe', 'session/status']) {
    runtime.on(method, () => {
      throw new Refusal('unknown_model', 'no model was named')
    })
  }
  return runtime
}

async function sessions(): Promise<Sessions> {
  const connection = await Connection.open(refusing(), 60_000)
  return new Sessions(() => Promise.resolve(connection), { cwd: '/', model: undefined })
}

const session = async (): Promise<Session> => (await linked(refusing())).session
const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? '') : 'no error')

let limit: number
beforeEach(() => {
  limit = Error.stackTraceLimit
})
afterEach(() => {
  Error.stackTraceLimit = limit
})

it.each<[string, () => Promise<unknown>]>([
  ['sessions.create', async () => scriptOfAUser(await sessions(), (each) => each.create())],
  ['sessions.get', async () => scriptOfAUser(await sessions(), (each) => each.get('s-1'))],
  ['sessions.list', async () => scriptOfAUser(await sessions(), (each) => each.list())],
  ['session.prompt', async () => scriptOfAUser(await session(), (each) => each.prompt('x'))],
  ['session.status', async () => scriptOfAUser(await session(), (each) => each.status())],
  ['session.run', async () => scriptOfAUser(await session(), (each) => each.run('x'))],
  ['session.collect', async () => scriptOfAUser(await session(), (each) => each.collect('m-1'))],
  ['session.stream', async () => scriptOfAUser(await session(), (each) => each.stream('x').result)],
  ['session.events', async () => scriptOfAUser(await session(), (each) => each.events()[Symbol.asyncIterator]().next())],
  ['Quiesce.launch', async () => scriptOfAUser(Quiesce, (each) => each.launch({ runtime: '/nowhere' }))],
])('an error of %s shows the caller, also where nobody awaits in its function', async (_, call) => {
  const stack = stackOf(await call())
  expect(stack).toMatch(/^(UnknownModelError: no model was named|RuntimeNotFoundError: the runtime option names \/nowhere.*)\n +at /)
  expect(stack).toContain('at scriptOfAUser (')
  expect(stack).not.toContain('fake-runtime')
})

/** The name to look for. The error is taken by a handler, so that no `await` leads from it to this function. */
function scriptOfAUser<T>(receiver: T, call: (receiver: T) => Promise<unknown>): Promise<unknown> {
  const error = call(receiver).catch((error: unknown) => error)
  return error
}

it('shows each caller of a connection that is over its own place', async () => {
  const { runtime, session, fence } = await linked()
  const closed = new ConnectionClosedError('it is over', { exitCode: 3, signal: null, stderr: '' })
  const pending = fence().catch((error: unknown) => error)
  runtime.end(closed)
  await pending
  const first = () => session.status().catch((error: unknown) => error)
  const second = () => session.status().catch((error: unknown) => error)
  const [one, two] = [await first(), await second()]
  expect(one).toMatchObject({ message: 'it is over', exitCode: 3 })
  expect(stackOf(one)).toContain('at first ')
  expect(stackOf(two)).toContain('at second ')
})

it('keeps the first place of an error that several share', async () => {
  const shared = Promise.reject(new QuiesceError('once'))
  const first = () => fromCaller(() => shared).catch((error: unknown) => error)
  const second = () => fromCaller(() => shared).catch((error: unknown) => error)
  const [one, two] = await Promise.all([first(), second()])
  expect(one).toBe(two)
  expect(stackOf(two)).toContain('at first ')
  expect(stackOf(two)).not.toContain('at second ')
})

it('leaves errors of others, and stacks without frames, as they are', () => {
  const foreign = new RangeError('mine')
  const before = foreign.stack
  const inner = () => new CallSite(inner)
  expect(inner().shownIn(foreign)).toBe(foreign)
  expect(foreign.stack).toBe(before)
  Error.stackTraceLimit = 0
  const error = new QuiesceError('bare')
  expect(stackOf(inner().shownIn(error))).toBe('QuiesceError: bare')
})
