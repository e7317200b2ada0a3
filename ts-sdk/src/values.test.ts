import { expect, it, test } from 'vitest'
import { linked } from '../test/linked.ts'
import { type OptionsOf, optionNames } from './options.ts'
import { Quiesce } from './quiesce.ts'
import { Sessions } from './sessions.ts'
import { checkContent, checkValues } from './values.ts'

const strange = [42, null, true, [], {}, () => 1, Symbol('s'), 10n, new Date(0), new Map([['a', 1]]), 'Idle', '']
const fitting: Record<string, readonly unknown[]> = {
  runtime: ['quiesce', ''],
  store: ['memory:', ''],
  logLevel: ['debug', ''],
  model: ['a/b', ''],
  cwd: ['.', ''],
  roots: [[], ['/a']],
  env: [{}, { A: 'b', C: undefined }],
  onStderr: [() => {}],
  requestTimeoutMs: [1],
  timeoutMs: [1],
  inactivityTimeoutMs: [1],
  signal: [AbortSignal.abort()],
  until: ['idle', 'quiescent'],
  onAbort: ['cancel', 'detach'],
  onBusy: ['join', 'reject'],
  scope: ['turn', 'session', 'tree'],
  expect: ['idle'],
  metadata: [{}, { a: [1] }],
  after: [0, 7, 'now'],
  from: [{ messageId: 'm' }],
}
const text = new Set(['runtime', 'store', 'logLevel', 'model', 'cwd'])
const number = new Set(['requestTimeoutMs', 'timeoutMs', 'inactivityTimeoutMs', 'after'])

/** Of the strange values, those that an option takes all the same. */
function takes(name: string, value: unknown): boolean {
  if (typeof value === 'string') return text.has(name)
  if (typeof value === 'number') return number.has(name)
  if (typeof value === 'function') return name === 'onStderr'
  if (Array.isArray(value)) return name === 'roots'
  return ['env', 'metadata'].includes(name) && Object.prototype.toString.call(value) === '[object Object]'
}

it.each(Object.entries(fitting))('takes of %s what is right, and nothing else', (name, values) => {
  for (const value of [...values, undefined]) expect(() => checkValues('call', { [name]: value })).not.toThrow()
  for (const value of strange) {
    const check = () => checkValues('call', { [name]: value })
    if (takes(name, value)) expect(check).not.toThrow()
    else expect(check).toThrow(new RegExp(`^call\\(\\): ${name} must be .+, got .+$`))
  }
})

it.each<[object, string]>([
  [{ onAbort: 'leave' }, `onAbort must be 'cancel' or 'detach', got "leave"`],
  [{ onBusy: 'wait' }, `onBusy must be 'join' or 'reject', got "wait"`],
  [{ until: 'quiescient' }, `until must be 'idle' or 'quiescent', got "quiescient"`],
  [{ scope: 'all' }, `scope must be 'turn' or 'session' or 'tree', got "all"`],
  [{ timeoutMs: true }, 'timeoutMs must be a number of milliseconds, got true'],
  [{ signal: new AbortController() }, 'signal must be an AbortSignal, got an AbortController: give its signal'],
  [{ signal: null }, 'signal must be an AbortSignal, got null'],
  [{ roots: '/tmp' }, 'roots must be an array of strings, got "/tmp"'],
  [{ runtime: 42 }, 'runtime must be a string, got 42'],
  [{ cwd: 42 }, 'cwd must be a string, got 42'],
  [{ onStderr: 'x' }, 'onStderr must be a function, got "x"'],
  [{ env: 'KEY=secret' }, 'env must be an object of strings, got a string'],
  [{ env: null }, 'env must be an object of strings, got null'],
  [{ env: { A: 'secret', B: 1 } }, 'env must be an object of strings, got a number for B'],
  [{ env: new Map([['A', 'secret']]) }, 'env must be an object of strings, got a Map'],
  [{ after: -1 }, "after must be a seq (an integer from 0) or 'now', got -1"],
  [{ after: NaN }, "after must be a seq (an integer from 0) or 'now', got NaN"],
])('names the call, the option, the value and what is right: %o', (options, words) => {
  expect(() => checkValues('session.run', options)).toThrow(new TypeError(`session.run(): ${words}`))
})

/** Options as plain JavaScript may give them, whatever their type. */
const loose = (options: unknown) => JSON.parse(JSON.stringify(options))

test('every call that takes such an option looks at its value, and sends nothing', async () => {
  const { session, runtime } = await linked()
  const sessions = new Sessions(() => Promise.reject(new Error('reached the runtime')), { cwd: '/', model: undefined })
  const calls: Partial<Record<keyof OptionsOf, (options: object) => unknown>> = {
    'new Quiesce': (options) => new Quiesce(options),
    'Quiesce.launch': (options) => Quiesce.launch(options),
    'sessions.create': (options) => sessions.create(options),
    'sessions.list': (options) => sessions.list(options),
    'session.run': (options) => session.run('x', options),
    'session.stream': (options) => session.stream('x', options),
    'session.collect': (options) => session.collect('m', options),
    'session.prompt': (options) => session.prompt('x', options),
    'session.steer': (options) => session.steer('x', options),
    'session.inject': (options) => session.inject('x', options),
    'session.cancel': (options) => session.cancel(options),
    'session.events': (options) => session.events(options),
    'session.update': (options) => session.update(options),
  }
  const sent = runtime.requests.length
  for (const [call, names] of Object.entries(optionNames)) {
    const made = Object.entries(calls).find(([name]) => name === call)?.[1]
    for (const option of Object.keys(names).filter((name) => Object.hasOwn(fitting, name))) {
      const outcome = Promise.resolve().then(() => made?.(loose({ [option]: [7] })))
      await expect(outcome, `${call} ${option}`).rejects.toThrow(`${call}(): ${option} must be `)
      await expect(outcome).rejects.toBeInstanceOf(TypeError)
    }
  }
  expect(runtime.requests).toHaveLength(sent)
})

test('a message needs a content: no call makes another message of one that is missing', async () => {
  const { session, runtime } = await linked()
  const sent = runtime.requests.length
  const [missing] = loose([])
  for (const content of [missing, null, 42, true, {}, loose({ type: 'text', text: 'x' })]) {
    await expect(session.run(content)).rejects.toThrow('session.run(): the content must be a string or an array of content blocks, got ')
    expect(() => session.stream(content)).toThrow(TypeError)
    await expect(session.prompt(content)).rejects.toThrow('session.prompt(): the content must be ')
    await expect(session.steer(content)).rejects.toThrow('session.steer(): the content must be ')
    await expect(session.inject(content)).rejects.toThrow('session.inject(): the content must be ')
  }
  expect(runtime.requests).toHaveLength(sent)
  expect(() => checkContent('c', [{ type: 'text', text: 'x' }])).not.toThrow()
})
