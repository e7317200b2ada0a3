// Owns the place in which several scripts share the default store: its directories, its processes, and their end.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, watch, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Quiesce } from '@quiesce/sdk'
import { repository } from '../checks/files.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))
const languages = {
  TypeScript: ['node', join(here, 'script.mjs')],
  Python: [join(repository, '.venv/bin/python'), join(here, 'script.py')],
}

/** A script that is still silent after this long has hung. */
const longestSilenceMs = 60_000

export class Place {
  /** @param {unknown} script what the scripted model plays */
  constructor(script) {
    this.home = realpathSync(mkdtempSync(join(tmpdir(), 'quiesce-shared-')))
    this.cwd = join(this.home, 'work')
    this.gates = join(this.home, 'gates')
    for (const folder of [this.cwd, this.gates]) mkdirSync(folder)
    writeFileSync(join(this.cwd, 'play.json'), JSON.stringify(script))
    this.env = {
      PATH: process.env.PATH,
      HOME: this.home,
      XDG_DATA_HOME: join(this.home, 'data'),
      QUIESCE_MODEL: 'scripted/play',
      QUIESCE_GATES: this.gates,
    }
    this.scripts = []
  }

  /** Starts a script: `said(i)` is its i-th line, parsed; undefined where it ends before. */
  start(language, task) {
    const [program, file] = languages[language]
    const child = spawn(program, [file, JSON.stringify({ cwd: this.cwd, create: false, ...task })], {
      cwd: this.cwd,
      env: this.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    const script = { language, child, lines: [], stderr: '', ended: false, wake: () => undefined }
    child.stderr.setEncoding('utf8').on('data', (text) => {
      script.stderr += text
    })
    createInterface({ input: child.stdout }).on('line', (line) => {
      script.lines.push(JSON.parse(line))
      script.wake()
    })
    script.end = new Promise((resolve) => {
      child.once('close', (code, signal) => {
        script.ended = true
        script.wake()
        resolve(code ?? signal)
      })
    })
    script.said = async (i) => {
      const watchdog = globalThis.setTimeout(() => child.kill('SIGKILL'), longestSilenceMs)
      while (script.lines.length <= i && !script.ended)
        await new Promise((resolve) => {
          script.wake = resolve
        })
      clearTimeout(watchdog)
      return script.lines[i]
    }
    this.scripts.push(script)
    return script
  }

  /** Lets the model go on that stands, or will stand, before the gate. */
  open(gate) {
    writeFileSync(join(this.gates, gate), '')
  }

  /** Once the model stands before the gate. */
  reached(gate) {
    return appears(this.gates, `${gate}.reached`)
  }

  /** Once the process has ended whose id is in this file. Its parent can't be asked: it is nobody's child by then. */
  async gone(file) {
    const pid = Number(readFileSync(join(this.cwd, file), 'utf8'))
    for (let look = 0; existsSync(`/proc/${pid}`) && stateOf(pid) !== 'Z'; look += 1) {
      if (look === 100) throw new Error(`process ${pid} still runs: ${readFileSync(`/proc/${pid}/cmdline`, 'utf8')}`)
      await setTimeout(20)
    }
  }

  /** The runtime that a script launched. */
  runtimeOf(script) {
    return childrenOf(script.child.pid).find(({ command }) => command.includes('serve'))?.pid
  }

  /** The session's whole log, read by a runtime of its own. */
  async log(sessionId) {
    const quiesce = await Quiesce.launch({ cwd: this.cwd, env: this.env })
    try {
      const session = await quiesce.sessions.get(sessionId)
      const { seq } = await session.describe()
      const facts = []
      for await (const fact of session.events({ after: 0 })) {
        facts.push(fact)
        if (fact.seq === seq) break
      }
      return facts
    } finally {
      await quiesce.close()
    }
  }

  remove() {
    for (const { child } of this.scripts) {
      for (const { pid } of [...childrenOf(child.pid), child]) signal(pid, 'SIGCONT')
      for (const { pid } of [...childrenOf(child.pid), child]) signal(pid, 'SIGKILL')
    }
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 })
  }
}

function stateOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)[0]
  } catch {
    return 'Z'
  }
}

/** Watched before the look, so that it can't come between the two. */
async function appears(folder, name) {
  const watcher = watch(folder)
  try {
    if (existsSync(join(folder, name))) return
    await new Promise((resolve) => watcher.on('change', () => existsSync(join(folder, name)) && resolve()))
  } finally {
    watcher.close()
  }
}

function childrenOf(pid) {
  return readdirSync('/proc').flatMap((name) => {
    try {
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1).split(' ')
      return Number(fields[1]) === pid ? [{ pid: Number(name), command: readFileSync(`/proc/${name}/cmdline`, 'utf8') }] : []
    } catch {
      return []
    }
  })
}

function signal(pid, name) {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended.
  }
}
