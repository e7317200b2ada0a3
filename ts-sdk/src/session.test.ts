import { expect, it } from 'vitest'
import { FakeRuntime } from '../test/fake-runtime.ts'
import { Connection } from './connection.ts'
import { Session } from './session.ts'
import { Sessions } from './sessions.ts'

const usage = { inputTokens: 0, outputTokens: 0 }
const described = (sessionId: unknown) => ({
  session: {
    sessionId,
    depth: 0,
    metadata: {},
    cwd: '/project',
    roots: [],
    model: 'scripted/demo',
    permissions: 'edit',
    limits: {},
    createdAt: 1,
    updatedAt: 1,
    status: 'idle',
    seq: 1,
    usage,
  },
})

async function linked(defaults = { cwd: '/project', model: undefined as string | undefined }) {
  const runtime = new FakeRuntime()
    .on('session/create', (params) => described(params.sessionId ?? 's-new'))
    .on('session/get', (params) => described(params.sessionId))
    .on('session/update', (params) => described(params.sessionId))
    .on('session/delete', () => ({}))
    .on('session/list', () => ({ sessions: [described('s-1').session], nextCursor: 'next' }))
    .on('session/status', () => ({
      status: 'idle',
      seq: 1,
      waitingOn: [],
      blockedOn: [],
      pending: { followup: 0, steer: 0, inject: 0 },
      resident: false,
    }))
  const connection = await Connection.open(runtime, 60_000)
  const connect = () => Promise.resolve(connection)
  return { runtime, sessions: new Sessions(connect, defaults), session: new Session('s-1', connect) }
}

it('creates with the directory and model of the launch, unless it is told otherwise', async () => {
  const { runtime, sessions } = await linked({ cwd: '/project', model: 'scripted/demo' })
  const loose: Record<string, undefined> = { model: undefined, cwd: undefined } // as JavaScript may give it
  expect((await sessions.create()).id).toBe('s-new')
  expect((await runtime.received('session/create')).params).toEqual({ cwd: '/project', model: 'scripted/demo' })
  await sessions.create(loose)
  expect((await runtime.received('session/create')).params).toEqual({ cwd: '/project', model: 'scripted/demo' })
  await sessions.create({ cwd: 'packages/a', roots: ['docs', '/shared'], model: 'x/y', permissions: 'read-only', metadata: { a_b: 1 } })
  expect((await runtime.received('session/create')).params).toEqual({
    cwd: '/project/packages/a',
    roots: ['/project/docs', '/shared'],
    model: 'x/y',
    permissions: 'read-only',
    metadata: { a_b: 1 },
  })
})

it('names no model where none was named', async () => {
  const { runtime, sessions } = await linked()
  await sessions.create({ cwd: '/elsewhere' })
  expect((await runtime.received('session/create')).params).toEqual({ cwd: '/elsewhere' })
})

it('gets, lists and deletes', async () => {
  const { runtime, sessions } = await linked()
  expect((await sessions.get('s-7')).id).toBe('s-7')
  expect(await sessions.list({ limit: 1 })).toMatchObject({ sessions: [{ sessionId: 's-1' }], nextCursor: 'next' })
  expect((await runtime.received('session/list')).params).toEqual({ limit: 1 })
  expect(await sessions.delete('s-1', { tree: true })).toBeUndefined()
  expect((await runtime.received('session/delete')).params).toEqual({ sessionId: 's-1', tree: true })
})

it('enqueues by each delivery, and answers the receipt alone (IN-1)', async () => {
  const { runtime, session } = await linked()
  expect(await session.prompt('a', { messageId: 'm-1', expect: 'idle', metadata: { k: 1 } })).toEqual({ messageId: 'm-1' })
  expect(await session.steer('b')).toEqual({ messageId: 'm-server' })
  expect(await session.inject([{ type: 'text', text: 'c' }])).toEqual({ messageId: 'm-server' })
  const sent = runtime.requests.filter(({ method }) => method === 'session/prompt').map(({ params }) => params)
  expect(sent).toEqual([
    { sessionId: 's-1', content: 'a', messageId: 'm-1', expect: 'idle', metadata: { k: 1 } },
    { sessionId: 's-1', content: 'b', delivery: 'steer' },
    { sessionId: 's-1', content: [{ type: 'text', text: 'c' }], delivery: 'inject' },
  ])
})

it('has one word for each of the other requests', async () => {
  const { runtime, session } = await linked()
  expect(await session.withdraw('m-1')).toBe(true)
  expect(await session.cancel({ scope: 'tree', reason: 'enough' })).toEqual({ cancelled: true, withdrawn: [] })
  expect((await runtime.received('session/cancel')).params).toEqual({ sessionId: 's-1', scope: 'tree', reason: 'enough' })
  expect(await session.status()).toMatchObject({ status: 'idle', resident: false })
  expect(await session.describe()).toMatchObject({ sessionId: 's-1', model: 'scripted/demo' })
  await session.update({ title: 'A title' })
  expect((await runtime.received('session/update')).params).toEqual({ sessionId: 's-1', title: 'A title' })
})

it('reads the whole conversation, page by page', async () => {
  const { runtime, session } = await linked()
  const message = (seq: number) => ({ role: 'user', content: [{ type: 'text', text: `${seq}` }], seq })
  runtime.on('session/messages', ({ cursor }) =>
    cursor === undefined ? { messages: [message(1), message(2)], nextCursor: 'c-2' } : { messages: [message(3)] },
  )
  expect((await session.messages()).map(({ seq }) => seq)).toEqual([1, 2, 3])
  expect(runtime.requests.filter(({ method }) => method === 'session/messages').map(({ params }) => params.cursor)).toEqual([
    undefined,
    'c-2',
  ])
})
