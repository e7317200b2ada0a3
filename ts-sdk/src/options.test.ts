import fc from 'fast-check'
import { describe, expect, expectTypeOf, it, test } from 'vitest'
import { FakeRuntime } from '../test/fake-runtime.ts'
import { linked } from '../test/linked.ts'
import { Connection } from './connection.ts'
import { checkOptions, type OptionsOf, optionNames } from './options.ts'
import { Quiesce } from './quiesce.ts'
import type { Session } from './session.ts'
import { Sessions } from './sessions.ts'

type Call = keyof OptionsOf
const calls = Object.entries(optionNames)

/** Options as plain JavaScript may give them, whatever their type. */
const loose = (options: unknown) => JSON.parse(JSON.stringify(options))

const anyName = fc.oneof(fc.string(), fc.constantFrom('constructor', 'toString', 'valueOf', '__proto__'))

/** Every public call that takes options, made with these. */
async function made(options: object): Promise<{ calls: Record<Call, () => unknown>; runtime: FakeRuntime }> {
  const { runtime, session } = await linked()
  const connection = await Connection.open(new FakeRuntime(), 60_000)
  const sessions = new Sessions(() => Promise.resolve(connection), { cwd: '/', model: undefined })
  const quiesce = new Quiesce({ runtime: '/nowhere' })
  return {
    runtime,
    calls: {
      'new Quiesce': () => new Quiesce(options),
      'Quiesce.launch': () => Quiesce.launch(options),
      'quiesce.models': () => quiesce.models(options),
      'quiesce.tools': () => quiesce.tools(options),
      'sessions.create': () => sessions.create(options),
      'sessions.list': () => sessions.list(options),
      'sessions.delete': () => sessions.delete('s-1', options),
      'session.run': () => session.run('x', options),
      'session.stream': () => session.stream('x', options),
      'session.collect': () => session.collect('m-1', options),
      'session.prompt': () => session.prompt('x', options),
      'session.steer': () => session.steer('x', options),
      'session.inject': () => session.inject('x', options),
      'session.cancel': () => session.cancel(options),
      'session.events': () => session.events(options),
      'session.update': () => session.update(options),
    },
  }
}

describe('an option that a call does not have', () => {
  it.each(calls.map(([call]) => call))('is refused by %s, and nothing is sent', async (call) => {
    const { calls, runtime } = await made({ colour: 'red' })
    const sent = runtime.requests.length
    const refused = Object.entries(calls).find(([name]) => name === call)?.[1]
    const outcome = Promise.resolve().then(refused)
    await expect(outcome).rejects.toBeInstanceOf(TypeError)
    await expect(outcome).rejects.toThrow(`${call}(): unknown option colour; known are `)
    expect(runtime.requests).toHaveLength(sent)
  })

  it('is refused whatever it is called, and no other is', () => {
    fc.assert(
      fc.property(fc.constantFrom(...calls), anyName, ([call, known], name) => {
        const check = () => checkOptions(call as Call, JSON.parse(`{${JSON.stringify(name)}: 1}`))
        if (Object.hasOwn(known, name)) expect(check).not.toThrow('unknown option')
        else expect(check).toThrow(TypeError)
      }),
    )
    for (const [call, known] of calls) {
      expect(() => checkOptions(call as Call, Object.fromEntries(Object.keys(known).map((name) => [name, undefined])))).not.toThrow()
    }
  })

  it.each<[Call, object, string]>([
    ['sessions.create', { permision: 'read-only' }, 'permision; did you mean permissions?'],
    ['Quiesce.launch', { modle: 'scripted/demo' }, 'modle; did you mean model?'],
    ['Quiesce.launch', { timeout: 5 }, 'timeout; did you mean requestTimeoutMs?'],
    ['session.run', { timeout: 5 }, 'timeout; did you mean timeoutMs?'],
    ['session.run', { on_busy: 'reject' }, 'on_busy; did you mean onBusy?'],
    ['session.run', { TIMEOUT_MS: 5 }, 'TIMEOUT_MS; did you mean timeoutMs?'],
    ['session.prompt', { delivery: 'steer' }, 'delivery; known are messageId, metadata, expect'],
    ['session.cancel', { Scope: 'tree' }, 'Scope; did you mean scope?'],
    ['session.run', { __proto__x: 1 }, '__proto__x; known are until, timeoutMs,'],
    ['session.events', { from: { message: 'm' } }, 'from.message; did you mean from.messageId?'],
    ['sessions.create', { limits: { maxStep: 3 } }, 'limits.maxStep; did you mean limits.maxSteps?'],
    ['sessions.create', { limits: { perTurn: { maxstep: 3 } } }, 'limits.perTurn.maxstep; did you mean limits.perTurn.maxSteps?'],
    ['session.update', { modelOptions: { temprature: 0 } }, 'modelOptions.temprature; did you mean modelOptions.temperature?'],
    [
      'session.update',
      {
        permissions: {
          mode: 'edit',
          rules: [
            { tool: 'shell', action: 'deny' },
            { tool: 'shell', patern: 'rm *', action: 'deny' },
          ],
        },
      },
      'permissions.rules[1].patern; did you mean permissions.rules[1].pattern?',
    ],
  ])('is named with the one that was meant: %s(%j)', (call, options, words) => {
    expect(() => checkOptions(call, loose(options))).toThrow(`${call}(): unknown option ${words}`)
  })
})

it('leaves alone what users name themselves', () => {
  const free = { permision: 1, modle: { timeout: 5 } }
  const keys = { metadata: free, env: { permision: '1' }, outputSchema: free, modelOptions: { providerOptions: free }, mcpServers: free }
  expect(() => checkOptions('sessions.create', loose(keys))).not.toThrow()
  expect(() => checkOptions('Quiesce.launch', loose({ env: { MODLE: '1' } }))).not.toThrow()
  expect(() => checkOptions('session.run', loose({ metadata: free }))).not.toThrow()
})

it('leaves to the runtime what only the runtime reads', () => {
  expect(() => checkOptions('sessions.create', loose({ permissions: 7, limits: 'none', modelOptions: null }))).not.toThrow()
})

it.each([
  ['tree', '"tree"'],
  [null, 'null'],
  [[], '[]'],
  [7, '7'],
])('refuses %j where options belong', (options, shown) => {
  expect(() => checkOptions('session.cancel', loose(options))).toThrow(
    new TypeError(`session.cancel(): the options must be an object, got ${shown}`),
  )
})

it.each([
  [() => {}, 'a function'],
  [10n, 'a BigInt'],
  [new Map([['permissions', 'read-only']]), 'a Map'],
  [Promise.resolve({}), 'a Promise'],
  [new AbortController(), 'an AbortController'],
  [new AbortController().signal, 'an AbortSignal'],
])('refuses where options belong: %o', (given, told) => {
  const misplaced: object = Object(given)
  expect(() => checkOptions('session.run', misplaced)).toThrow(`session.run(): the options must be an object, got ${told}`)
})

test('the table has the names of the types that the calls take, no less and no more', () => {
  expectTypeOf<{ [C in Call]: keyof (typeof optionNames)[C] }>().toEqualTypeOf<{ [C in Call]: keyof OptionsOf[C] }>()
  type Last<F extends (...args: never[]) => unknown> = NonNullable<
    Required<Parameters<F>> extends [...unknown[], infer Options] ? Options : never
  >
  expectTypeOf<{
    'new Quiesce': NonNullable<ConstructorParameters<typeof Quiesce>[0]>
    'Quiesce.launch': Last<typeof Quiesce.launch>
    'quiesce.models': Last<Quiesce['models']>
    'quiesce.tools': Last<Quiesce['tools']>
    'sessions.create': Last<Sessions['create']>
    'sessions.list': Last<Sessions['list']>
    'sessions.delete': Last<Sessions['delete']>
    'session.run': Last<Session['run']>
    'session.stream': Last<Session['stream']>
    'session.collect': Last<Session['collect']>
    'session.prompt': Last<Session['prompt']>
    'session.steer': Last<Session['steer']>
    'session.inject': Last<Session['inject']>
    'session.cancel': Last<Session['cancel']>
    'session.events': Last<Session['events']>
    'session.update': Last<Session['update']>
  }>().toEqualTypeOf<OptionsOf>()
})
