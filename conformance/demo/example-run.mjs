// Owns one run of an example: its directory, its environment, its time limit, and that it leaves no process and no file behind.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, watch, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { repository } from '../checks/files.mjs'

/** An example that is still running after this long has hung. */
const longestRunMs = 120_000
/** How long an interrupted example, with all that it started, may take to end. */
const longestEndMs = 10_000

/** The end of each example that runs, and the directories that are in use. */
const running = new Map()
const places = new Set()

// Last of all, whatever happened before.
process.on('exit', () => {
  for (const child of running.keys()) signalGroup(child, 'SIGKILL')
  for (const place of places) remove(place)
})

/** From here on, a signal that ends this process first ends the examples that run, as Ctrl-C in a terminal would. */
export function passSignalsOn() {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(name, async () => {
      await Promise.all([...running].map(([child, end]) => interrupt(child, end)))
      process.exit(128 + constants.signals[name])
    })
  }
}

/**
 * Runs an example to its end. `interruptAt`: a file in its directory; once it is there, the example gets SIGINT.
 * @returns {Promise<{ title: string, problem: string | null, seconds: number, output: string }>} `problem`: what is wrong, null
 * where nothing is
 */
export async function run(example, { interruptAt } = {}) {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'quiesce-demo-')))
  places.add(place)
  const begun = performance.now()
  const { child, output } = start(example, place)
  const end = endOf(child)
  running.set(child, end)
  const watchdog = setTimeout(() => signalGroup(child, 'SIGKILL'), longestRunMs)
  if (interruptAt !== undefined) await Promise.race([appears(join(place, 'here'), interruptAt), end])
  if (interruptAt !== undefined) signal(child.pid, 'SIGINT')
  const { status, how } = await end
  clearTimeout(watchdog)
  const seconds = (performance.now() - begun) / 1000
  const problem = judge(example, status, how, output) ?? (await leavings(place, interruptAt === undefined ? 0 : longestEndMs))
  running.delete(child)
  remove(place)
  await gone(place, longestEndMs)
  return { title: example.title, problem, seconds, output: output.all }
}

function start({ command, env = {}, files = {} }, place) {
  const [here, temporary] = [join(place, 'here'), join(place, 'tmp')]
  for (const directory of [here, temporary]) mkdirSync(directory)
  for (const [name, content] of Object.entries(files)) writeFileSync(join(here, name), content)
  symlinkSync(join(repository, 'node_modules'), join(here, 'node_modules'))
  const [program, ...args] = command
  const child = spawn(program, args, {
    cwd: here,
    env: { ...environment(here, temporary), ...env },
    detached: true, // a group of its own, so that all of it can be ended
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '', all: '' }
  for (const name of ['stdout', 'stderr']) {
    child[name].setEncoding('utf8').on('data', (text) => {
      output[name] += text
      output.all += text
    })
  }
  return { child, output }
}

/** No key, no configuration of the user's, no store but one in the directory; TMPDIR, which reaches tools too, marks every process. */
function environment(here, temporary) {
  const foreign = /^(QUIESCE_|XDG_|OPENAI|ANTHROPIC|DEEPSEEK|NODE_TEST|NODE_OPTIONS|PYTHON(PATH|HOME)|(HTTPS?|ALL)_PROXY)|_API_KEY$/i
  const kept = Object.entries(process.env).filter(([name]) => !foreign.test(name))
  return {
    ...Object.fromEntries(kept),
    TMPDIR: temporary,
    XDG_CONFIG_HOME: here,
    XDG_DATA_HOME: here,
    QUIESCE_MODEL: 'scripted/demo',
  }
}

function endOf(child) {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ status: null, how: `could not start: ${error.message}` }))
    child.once('close', (code, killedBy) => {
      const how = killedBy === 'SIGKILL' ? `was stopped after ${longestRunMs / 1000} s` : `ended with ${killedBy ?? `exit status ${code}`}`
      resolve({ status: code ?? 128 + constants.signals[killedBy], how })
    })
  })
}

function judge({ status: wanted = 0, shows, says }, status, how, { stdout, stderr }) {
  if (status !== wanted) return `${how}, and not with exit status ${wanted}`
  if (shows !== undefined && !shows.test(stdout)) return `stdout does not match ${shows}`
  if (says !== undefined && !says.test(stderr)) return `stderr does not match ${says}`
  return null
}

function remove(place) {
  for (const pid of left(place)) signal(pid, 'SIGKILL')
  rmSync(place, { recursive: true, force: true, maxRetries: 5 })
  places.delete(place)
}

async function gone(place, graceMs) {
  const until = Date.now() + graceMs
  while (left(place).length > 0 && Date.now() < until) await sleep(50)
}

/** What an example left behind, or null. */
async function leavings(place, graceMs) {
  await gone(place, graceMs)
  const processes = left(place)
  if (processes.length > 0) return `left processes behind: ${processes.map(describe).join(', ')}`
  const files = readdirSync(join(place, 'tmp'))
  return files.length > 0 ? `left files behind in TMPDIR: ${files.join(', ')}` : null
}

/** The ids of the processes whose TMPDIR is in `place`; none where the system doesn't tell. */
function left(place) {
  try {
    return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && readQuietly(`/proc/${pid}/environ`).includes(`TMPDIR=${place}/`))
  } catch {
    return []
  }
}

const describe = (pid) => `${pid} (${readQuietly(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim().slice(0, 80)})`

function readQuietly(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return '' // it ended, or belongs to somebody else
  }
}

async function appears(directory, name) {
  const watcher = watch(directory, { persistent: false }) // the example may end first
  while (!readdirSync(directory).includes(name)) await once(watcher, 'change')
  watcher.close()
}

/** As Ctrl-C does it; by force, where that takes too long. */
async function interrupt(child, end) {
  signalGroup(child, 'SIGINT')
  const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), longestEndMs)
  await end
  clearTimeout(timer)
}

function signalGroup(child, name) {
  if (child.pid !== undefined) signal(-child.pid, name)
}

function signal(pid, name) {
  try {
    process.kill(Number(pid), name)
  } catch {
    // It ended in the meantime.
  }
}
