// Owns one run of a program: its environment, its time limit, its process group, and what it wrote.
import { spawn } from 'node:child_process'

/** A program that is still running after this long has hung. */
const longestRunMs = 300_000

const running = new Set()
process.on('exit', () => {
  for (const child of running) killGroup(child)
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1))

function killGroup(child) {
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It ended in the meantime.
  }
}

/**
 * Runs a program to its end, whatever its status is.
 * @param {string[]} command the program and its arguments
 * @param {{ cwd: string, env?: NodeJS.ProcessEnv, show?: (text: string) => void }} options `env`: all that it gets; default: this
 * process's own. `show`: gets its stdout as it comes
 * @returns {Promise<{ status: number | null, stdout: string, stderr: string }>}
 */
export function run([program, ...args], { cwd, env = process.env, show = () => {} }) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    running.add(child)
    const said = { stdout: '', stderr: '' }
    const watchdog = setTimeout(() => killGroup(child), longestRunMs)
    for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', (text) => (said[name] += text))
    child.stdout.on('data', show)
    const end = () => {
      clearTimeout(watchdog)
      running.delete(child)
    }
    child.on('error', (error) => {
      end()
      reject(error)
    })
    child.on('close', (status) => {
      end()
      resolve({ status, ...said })
    })
  })
}

/** Runs a program that must succeed, to its stdout. */
export async function succeed(command, options) {
  const { status, stdout, stderr } = await run(command, options)
  if (status === 0) return stdout
  throw new Error(`${command.join(' ')}: ${status === null ? 'killed' : `exit ${status}`}\n${(stdout + stderr).trim().slice(-4000)}`)
}
