// bin: the composition. The only file that builds concrete objects; what a command doesn't need isn't loaded.
import type { ToolInfoOf } from '@quiesce/schema'
import type { Models, Tools } from './agent/ports.ts'
import { systemPrompts } from './agent/prompts.ts'
import { MAX_PENDING, Sessions } from './agent/sessions.ts'
import { systemClock } from './base/clock.ts'
import { systemIds } from './base/ids.ts'
import { type Logger, openLogger } from './base/logger.ts'
import { identify, isGone } from './base/process-identity.ts'
import { VERSION } from './base/version.ts'
import { type Config, loadConfig } from './cli/config.ts'
import { exitStatus } from './cli/exit-status.ts'
import { type Commands, runProgram } from './cli/program.ts'
import type { Runtime } from './cli/runtime.ts'
import { openTerminal } from './cli/terminal.ts'
import { noSession } from './inbox/inbox.ts'
import { EventLog } from './log/event-log.ts'
import { ModelRegistry } from './models/registry.ts'
import type { QueuedStore } from './store/queued-store.ts'
import { parseStoreUrl } from './store/store-url.ts'
import { Subscriptions } from './subscriptions/subscriptions.ts'
import { builtInTools } from './tools/built-in.ts'
import { environmentFaults, toolEnvironment } from './tools/environment.ts'
import { openOutputs } from './tools/kept-files.ts'
import { permissionFaults } from './tools/permission-faults.ts'
import { decide } from './tools/permission-policy.ts'
import { killAllGroups, killGroupsOf, markGroups, onGroupsChanged, reapGroups } from './tools/process-group.ts'
import { ToolRegistry, validateInput } from './tools/registry.ts'
import { readBeginning } from './tools/text-file.ts'

async function openStore(config: Config, home: 'inline' | 'worker', onLocked: (message: string) => void): Promise<QueuedStore> {
  const url = parseStoreUrl(config.store.value)
  if (url.kind === 'memory') return (await import('./store/memory/memory-store.ts')).openMemoryStore()
  return (await import('./store/sqlite/sqlite-store.ts')).openSqliteStore({ path: url.path, home, onLocked })
}

function openModels(config: Config): ModelRegistry {
  const named = Object.fromEntries(Object.entries(config.models).map(([name, { value }]) => [name, value]))
  const known = {
    ...(config.model.value !== null && { default: config.model.value }),
    env: process.env,
    named,
    refused: config.refusedModels,
  }
  return new ModelRegistry(known, { clock: systemClock, random: Math.random, retry: config.retry.value })
}

/** What a session may use is loaded while its client is still busy with the answer, not when its first prompt waits for it. */
function prepared(models: ModelRegistry): Models {
  return {
    defaultModel: () => models.defaultModel(),
    check: (name) => {
      models.check(name)
      models.prepare(name)
    },
    answer: (name, request, hooks) => models.answer(name, request, hooks),
  }
}

function openTools(): Tools {
  const registry = new ToolRegistry(builtInTools(systemClock))
  return {
    get: (name) => registry.get(name),
    faults: ({ tools: patterns = [], env = {}, permissions }) => [
      ...registry.faults(patterns),
      ...environmentFaults(env),
      ...permissionFaults(permissions, registry.enabled()),
    ],
    enabled: (patterns) => registry.enabled(patterns),
    specs: (patterns) => registry.specs(patterns),
    validate: (tool, input) => {
      const verdict = validateInput(tool, input)
      return verdict.ok ? { ok: true, input: verdict.value } : verdict
    },
    decide,
    environment: (sessionEnv) => toolEnvironment(process.env, sessionEnv),
  }
}

async function openRuntime(config: Config, home: 'inline' | 'worker', logger: Logger): Promise<Runtime> {
  const opening = openStore(config, home, (message) => logger.log('warn', message))
  const models = openModels(config)
  // While a thread starts, this one has nothing else to do.
  if (config.model.value !== null) models.prepare(config.model.value)
  const store = await opening
  const log = new EventLog(store)
  const tools = openTools()
  const runtimeId = systemIds('run')
  markGroups(runtimeId)
  const sessions = new Sessions({
    log,
    store,
    clock: systemClock,
    ids: systemIds,
    models: prepared(models),
    tools,
    prompts: systemPrompts(readBeginning),
    outputs: openOutputs(config.store.value === 'memory:' ? runtimeId : config.store.value, process.env, logger.report),
    owner: { runtimeId, ...identify() },
    keep: (events) => {
      const keeper = store.keep(events, systemClock)
      onGroupsChanged((groups) => keeper.guard(groups))
      return keeper
    },
    watch: (onChange) => store.watch(onChange),
    isDead: (owner) => isGone(owner),
    reap: (owner, sessionId) => reapGroups(owner.runtimeId, sessionId ?? undefined),
    endTools: killGroupsOf,
    report: logger.report,
  })
  let closing: Promise<void> | undefined
  return {
    sessions,
    subscriptions: (sink) => new Subscriptions({ log, store, sessions, newId: () => systemIds('sub') }, sink),
    models: (provider) => models.list(provider),
    tools: async (sessionId) => {
      const session = sessionId === undefined ? undefined : await log.peek(sessionId)
      if (sessionId !== undefined && session === null) throw noSession(sessionId)
      return tools.specs(session?.config.tools).map((spec): ToolInfoOf => ({ ...spec, parameters: { ...spec.parameters } }))
    },
    close: () => {
      closing ??= sessions.shutdown().finally(() => store.close())
      return closing
    },
  }
}

const terminal = openTerminal(process.stdout, process.stderr)

const commands: Commands = {
  run: async (options) => {
    const { runCommand } = await import('./cli/run.ts')
    const config = await loadConfig(options.config, { cwd: options.cwd, env: process.env })
    const logger = openLogger(config.logLevel.value)
    const open = () => openRuntime(config, 'inline', logger)
    const status = await runCommand(options, { open, clock: systemClock, newId: systemIds, terminal, onSignal })
    await logger.flush()
    return status
  },
  serve: async (options) => {
    // Before anything else is loaded that might print.
    const { takeStdout } = await import('./server/stdout.ts')
    const taken = takeStdout()
    const config = await loadConfig(options.config, { cwd: process.cwd(), env: process.env })
    const logger = openLogger(config.logLevel.value)
    const streams = { input: process.stdin, write: taken.write }
    const [runtime, { serveStdio }, { MAX_FRAME_BYTES }, { MAX_IN_FLIGHT }] = await Promise.all([
      openRuntime(config, 'worker', logger),
      import('./server/stdio.ts'),
      import('./server/framing.ts'),
      import('./server/peer.ts'),
    ]).catch(async (error: unknown) => {
      const { refuseClient } = await import('./server/unopened.ts')
      await refuseClient(streams, error, systemClock)
      throw error
    })
    logger.log('info', 'serving on stdio', { version: VERSION, node: process.version, store: config.store.value })
    const server = serveStdio(streams, {
      ...runtime,
      stop: () => runtime.close(),
      now: () => systemClock.now(),
      limits: { maxFrameBytes: MAX_FRAME_BYTES, maxInFlight: MAX_IN_FLIGHT, maxPendingMessages: MAX_PENDING },
      clock: systemClock,
      report: logger.report,
    })
    onSignal(server.end)
    const end = await server.ended
    await logger.flush()
    return end === 'clean' ? 0 : 1
  },
  doctor: async (options) => {
    const { doctorCommand } = await import('./cli/doctor.ts')
    const { migrations } = await import('./store/sqlite/schema.ts')
    return doctorCommand(options, {
      cwd: process.cwd(),
      env: process.env,
      openStore: (config) => openStore(config, 'inline', (message) => terminal.say(`quiesce: ${message}`)),
      storeVersion: migrations.length,
      openModels,
      monotonic: () => systemClock.monotonic(),
      terminal,
    })
  },
}

/** Calls back at each signal that asks for an end; the answer takes it back. */
function onSignal(listener: () => void): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, listener)
  return () => {
    for (const signal of signals) process.off(signal, listener)
  }
}

/** Ends the process with a status: nothing that a library left open holds it, and no tool's process outlives it. */
async function main(): Promise<number> {
  if (process.platform === 'win32') {
    terminal.say('quiesce: the runtime does not run on Windows yet; it runs on Linux and macOS, and in the Linux subsystem of Windows')
    return exitStatus.failed
  }
  process.on('exit', killAllGroups)
  process.on('uncaughtException', (error) => {
    terminal.say(`quiesce: a fault of the runtime: ${error.stack ?? error.message}`)
    process.exit(exitStatus.failed)
  })
  // What waits for a timer alone must not end: timers don't hold the process.
  setInterval(() => undefined, 2 ** 30)
  return runProgram(process.argv.slice(2), commands)
}

void main().then((status) => process.exit(status))
