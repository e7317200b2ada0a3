// The driver of @quiesce/sdk: does what each line of stdin says with the SDK's public surface, and answers in lines of JSON.
import { createInterface } from 'node:readline'
import { Quiesce } from '@quiesce/sdk'
import packageJson from '@quiesce/sdk/package.json' with { type: 'json' }

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)

/** Members that hold data of the user, whatever that looks like. */
const ofUser = new Set(['input', 'metadata', 'parameters', 'providerOptions', 'outputSchema'])

/** What the SDK could not name goes out as it came in, with the session that the SDK says it is of. */
function wire(value) {
  if (Array.isArray(value)) return value.map(wire)
  if (value === null || value === undefined || typeof value !== 'object') return value ?? null
  if ((value.type === 'unknown' || value.kind === 'unknown') && 'raw' in value)
    return value.sessionId === undefined ? value.raw : { sessionId: value.sessionId, ...value.raw }
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(members.map(([name, member]) => [name, ofUser.has(name) ? member : wire(member)]))
}

let runtimes = new Map()
let sessions = new Map()
let aborts = new Map()

function runtimeOf({ on = 'quiesce' }) {
  const found = runtimes.get(on)
  if (found === undefined) throw new Error(`no runtime ${on} was launched`)
  return found
}

function sessionOf({ on = 'session' }) {
  const found = sessions.get(on)
  if (found === undefined) throw new Error(`no session ${on} was created`)
  return found
}

/** A delta says beside its kind of what it is a piece. */
function streamed(item) {
  if (item.kind === 'event') return item
  return { ...item, kind: 'delta', of: item.kind === 'delta' ? 'text' : item.kind.replace('_delta', '') }
}

/** The options of an operation: what isn't for the driver itself. */
const optionsOf = ({ id, op, on, as, input, signal, ...options }) => options

async function follow(items, id, signal) {
  const iterator = items[Symbol.asyncIterator]()
  const stopped = new Promise((resolve) => signal.addEventListener('abort', () => resolve({ done: true }), { once: true }))
  for (;;) {
    const next = await Promise.race([iterator.next(), stopped])
    if (next.done) break
    say({ id, item: wire(next.value) })
  }
  await iterator.return?.()
}

const operations = {
  hello: async () => ({
    protocol: 1,
    name: 'typescript',
    version: packageJson.version,
    operations: Object.keys(operations).filter((name) => name !== 'hello' && name !== 'reset'),
  }),
  /** Ends everything that a case left, and forgets it. */
  reset: async () => {
    for (const abort of aborts.values()) abort.abort()
    const left = [...runtimes.values()]
    runtimes = new Map()
    sessions = new Map()
    aborts = new Map()
    await Promise.allSettled(left.map((runtime) => runtime.close()))
    return {}
  },
  launch: async (args) => {
    const { runtime, env, cwd, ...more } = optionsOf(args)
    runtimes.set(args.as ?? 'quiesce', await Quiesce.launch({ runtime, env, cwd, onStderr: () => undefined, ...more }))
    return {}
  },
  close: async (args) => {
    await runtimeOf(args).close()
    return {}
  },
  ping: async (args) => {
    await runtimeOf(args).ping()
    return {}
  },
  models: (args) => runtimeOf(args).models(optionsOf(args)),
  tools: (args) => runtimeOf(args).tools(optionsOf(args)),
  create: async (args) => {
    const session = await runtimeOf(args).sessions.create(optionsOf(args))
    sessions.set(args.as ?? 'session', session)
    return { sessionId: session.id }
  },
  get: async (args) => {
    const session = await runtimeOf(args).sessions.get(args.sessionId)
    sessions.set(args.as ?? 'session', session)
    return { sessionId: session.id }
  },
  list: (args) => runtimeOf(args).sessions.list(optionsOf(args)),
  delete: async (args) => {
    const { sessionId, ...options } = optionsOf(args)
    await runtimeOf(args).sessions.delete(sessionId, options)
    return {}
  },
  run: (args, signal) => sessionOf(args).run(args.input, { ...optionsOf(args), signal }),
  stream: async (args, signal) => {
    const run = sessionOf(args).stream(args.input, { ...optionsOf(args), signal })
    for await (const item of run) say({ id: args.id, item: streamed(wire(item)) })
    return await run.result
  },
  collect: (args, signal) => {
    const { messageId, ...options } = optionsOf(args)
    return sessionOf(args).collect(messageId, { ...options, signal })
  },
  prompt: (args) => sessionOf(args).prompt(args.input, optionsOf(args)),
  steer: (args) => sessionOf(args).steer(args.input, optionsOf(args)),
  inject: (args) => sessionOf(args).inject(args.input, optionsOf(args)),
  withdraw: async (args) => ({ withdrawn: await sessionOf(args).withdraw(args.messageId) }),
  cancel: (args) => sessionOf(args).cancel(optionsOf(args)),
  abort: async ({ target }) => {
    aborts.get(target)?.abort()
    return {}
  },
  events: async (args, signal) => {
    await follow(sessionOf(args).events(optionsOf(args)), args.id, signal)
    return {}
  },
  messages: (args) => sessionOf(args).messages(),
  status: (args) => sessionOf(args).status(),
  describe: (args) => sessionOf(args).describe(),
  update: (args) => sessionOf(args).update(optionsOf(args)),
}

/** The error as a caller would branch on it, with what a run that was given up, or a runtime that is gone, left behind. */
function shownError(error) {
  const { code, retryable, partial, outcome, path, lastStatus, lastEvent, signal, exitCode, stderr } = error
  const fields = { code, retryable, partial, outcome, path, lastStatus, lastEvent, exit: signal ?? exitCode, stderr }
  return {
    class: error.constructor.name,
    message: error.message,
    ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)),
  }
}

async function answer(line) {
  const args = JSON.parse(line)
  const abort = new AbortController()
  aborts.set(args.id, abort)
  const operation = operations[args.op]
  try {
    if (operation === undefined) throw new TypeError(`no operation ${args.op}`)
    say({ id: args.id, result: wire((await operation(args, abort.signal)) ?? null) })
  } catch (error) {
    say({ id: args.id, error: wire(shownError(error)) })
  } finally {
    aborts.delete(args.id)
  }
}

const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })
lines.on('line', (line) => void answer(line))
lines.on('close', async () => {
  await operations.reset()
  process.exit(0)
})
