// Owns every process that the bench starts: each leads a group of its own, and none outlives the bench, however that ends.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

const running = new Set()
const endGraceMs = 5000
let stopping = false

/** Starts a process; `options.env` is all that it gets. */
export function start([command, ...args], options) {
  if (stopping) throw new Error('the bench was stopped')
  const child = spawn(command, args, { detached: true, ...options })
  running.add(child)
  child.once('close', () => running.delete(child))
  child.once('error', () => running.delete(child))
  return child
}

/** Ends a process that ends with its stdin, and kills its group where it doesn't. */
export async function end(child, graceMs = endGraceMs) {
  if (!running.has(child)) return
  const closed = once(child, 'close')
  child.stdin?.end()
  const killing = setTimeout(() => killGroup(child), graceMs)
  await closed
  clearTimeout(killing)
}

export async function endAll(graceMs) {
  await Promise.all([...running].map((child) => end(child, graceMs)))
}

/** Ends everything, and lets nothing start any more. */
export async function stop(graceMs) {
  stopping = true
  await endAll(graceMs)
}

export function killAll() {
  for (const child of running) killGroup(child)
}

function killGroup(child) {
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It has ended in the meantime.
  }
}

/** Runs a command to its end: how long that took, in milliseconds, and its stdout. *Contract:* rejects unless it exits with 0. */
export async function timed(command, options, limitMs = 60_000) {
  const begun = performance.now()
  const child = start(command, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, err] = [gather(child.stdout), gather(child.stderr)]
  const watchdog = setTimeout(() => killGroup(child), limitMs)
  try {
    const [code, signal] = await once(child, 'close')
    const ms = performance.now() - begun
    if (code !== 0) throw new Error(`${command.join(' ')} ended with ${signal ?? code}: ${err().trim() || 'it said nothing on stderr'}`)
    return { ms, stdout: out() }
  } finally {
    clearTimeout(watchdog)
  }
}

/** The last of what a stream said, once it is asked for. */
export function gather(stream, keep = 20_000) {
  let text = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk) => {
    text = (text + chunk).slice(-keep)
  })
  return () => text
}

/** Calls back with each line that a stream says. */
export function onLine(stream, take) {
  let parts = []
  stream.setEncoding('utf8')
  stream.on('data', (chunk) => {
    const lines = chunk.split('\n')
    if (lines.length > 1) {
      lines[0] = parts.join('') + lines[0]
      parts = []
    }
    parts.push(lines.pop())
    for (const line of lines) take(line)
  })
}

/**
 * A process that measures when it is asked to: one JSON line in, `{op, ...params}`, one out, `{value}` or `{error}`.
 * It ends with its stdin.
 */
export class Driver {
  #name
  #child
  #stderr
  #waiting

  constructor(name, command, options) {
    this.#name = name
    this.#child = start(command, { ...options, stdio: ['pipe', 'pipe', 'pipe'] })
    this.#stderr = gather(this.#child.stderr)
    this.#child.stdin.on('error', () => {}) // its end says why
    onLine(this.#child.stdout, (line) => this.#take(line))
    this.#child.once('error', (error) => this.#fail(`could not be started: ${error.message}`))
    this.#child.once('close', (code, signal) => this.#fail(`ended with ${signal ?? code}: ${this.#stderr().trim()}`))
  }

  /** *Contract:* one at a time; rejects with the driver's name where the work fails, the driver ends, or it takes too long. */
  ask(op, params = {}, limitMs = 120_000) {
    return new Promise((resolve, reject) => {
      const watchdog = setTimeout(() => this.#fail(`took longer than ${limitMs / 1000} s for ${op}`), limitMs)
      this.#waiting = { op, resolve, reject, watchdog }
      this.#child.stdin.write(`${JSON.stringify({ op, ...params })}\n`)
    })
  }

  close() {
    return end(this.#child)
  }

  #take(line) {
    const { value, error } = JSON.parse(line)
    if (error !== undefined) return this.#fail(`failed at ${this.#waiting?.op}: ${error}\n${this.#stderr()}`.trimEnd())
    this.#settle()?.resolve(value)
  }

  #fail(how) {
    this.#settle()?.reject(new Error(`${this.#name} ${how}`))
  }

  #settle() {
    const waiting = this.#waiting
    this.#waiting = undefined
    clearTimeout(waiting?.watchdog)
    return waiting
  }
}
