// Owns where one case happens: the store, the session's directory, gates, what was recorded, and the processes that are left.
import { execFileSync } from 'node:child_process'
import { closeSync, constants, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Socket } from 'node:net'
import { join } from 'node:path'

export class Place {
  /** Processes of the runtime that were started here. */
  processes = []
  #lives = []
  #watchers = new Set()

  /** `cache` is shared by all cases: where the compiled bundle is kept. `mark` names the case in its processes' environment. */
  constructor(root, { mark, cache, script, gates }) {
    Object.assign(this, { root, mark, cache, gates })
    this.work = join(root, 'work')
    mkdirSync(this.work, { recursive: true })
    if (script !== undefined) writeFileSync(join(root, 'script.json'), JSON.stringify(script))
  }

  get store() {
    return join(this.root, 'store.db')
  }

  /** The file in which run number `k` notes every point that it meets. */
  record(k) {
    return join(this.root, `points-${k}`)
  }

  /** The points that run `k` met, in order, each as `name#n`. */
  points(k) {
    if (!existsSync(this.record(k))) return []
    const lines = readFileSync(this.record(k), 'utf8').trimEnd().split('\n')
    return lines.map((line) => line.slice(line.indexOf(' ') + 1))
  }

  /**
   * What a process of the runtime is started with. Run `k` is killed at `kill`, where that is given. `open`: no gate holds the model.
   * Tools' processes are told apart by run: TMPDIR is one of the few variables that they get.
   */
  start(k, { kill, open, model = `scripted/${join(this.root, 'script')}`, env }) {
    const gates = join(this.root, `gates-${k}`)
    mkdirSync(gates, { recursive: true })
    if (open) for (const gate of this.gates) this.open(k, gate)
    return {
      cwd: this.work,
      env: {
        PATH: process.env.PATH,
        HOME: this.root,
        XDG_CACHE_HOME: this.cache,
        TMPDIR: this.#temporary(k),
        QUIESCE_STORE: `sqlite:${this.store}`,
        QUIESCE_MODEL: model,
        QUIESCE_GATES: gates,
        QUIESCE_FAILPOINT: `${kill === undefined ? '' : `${kill};`}record:${this.record(k)}`,
        ...env,
      },
    }
  }

  /** Lets the model of run `k` pass a gate. */
  open(k, gate) {
    writeFileSync(join(this.root, `gates-${k}`, gate), '')
  }

  /** Resolves once the model of run `k` stands before a gate. */
  reached(k, gate) {
    return this.#appears(join(this.root, `gates-${k}`), () => existsSync(join(this.root, `gates-${k}`, `${gate}.reached`)))
  }

  /** Resolves once the session's commands have left this line in effects.txt. */
  effect(line) {
    return this.#appears(this.work, () => this.effects().includes(line))
  }

  /** Resolves once run `k` met a point whose name begins so. */
  met(k, name) {
    return this.#appears(this.root, () => this.points(k).some((point) => point.startsWith(name)))
  }

  effects() {
    return this.read('effects.txt')?.trimEnd().split('\n') ?? []
  }

  /** A file of the session's directory, or null. */
  read(name) {
    const path = join(this.work, name)
    return existsSync(path) ? readFileSync(path, 'utf8') : null
  }

  write(name, text) {
    writeFileSync(join(this.work, name), text)
  }

  /** Files that a tool made on the way to another and left. */
  temporaryFiles() {
    return readdirSync(this.work).filter((name) => name.endsWith('.tmp'))
  }

  /** Makes `$TMPDIR/life` of so many runs: a pipe that a command holds open, so that the end of all it started is heard of. */
  makeLives(count) {
    const paths = Array.from({ length: count }, (_, k) => join(this.#temporary(k), 'life'))
    execFileSync('mkfifo', paths)
    for (const path of paths) {
      const pipe = new Socket({ fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), writable: false })
      const over = new Promise((resolve) => pipe.once('end', resolve).resume())
      this.#lives.push({ pipe, over, ownEnd: openSync(path, constants.O_WRONLY | constants.O_NONBLOCK) })
    }
  }

  /** Resolves once no process that run `k` started for a tool is left. From the first call on none may begin. */
  lifeOver(k) {
    const life = this.#lives[k]
    if (life === undefined || process.platform !== 'linux') return Promise.resolve()
    if (life.ownEnd !== null) closeSync(life.ownEnd)
    life.ownEnd = null
    return life.over
  }

  /** The processes that the session's commands started and that still run. Linux alone can say. */
  survivors() {
    return marked(`CRASH_CASE=${this.mark}`)
  }

  /** The facts that are committed now, by way of the file: for one moment in the middle of a run. */
  committed() {
    const database = openDatabase(this.store)
    try {
      return database
        .prepare('SELECT fact FROM facts ORDER BY session, seq')
        .all()
        .map(({ fact }) => JSON.parse(fact))
    } finally {
      database.close()
    }
  }

  /** What SQLite finds wrong with the store. Nobody may have it open. */
  damage() {
    if (!existsSync(this.store)) return []
    const database = openDatabase(this.store)
    try {
      const rows = database.prepare('PRAGMA integrity_check').all()
      return rows.map((row) => row.integrity_check).filter((said) => said !== 'ok')
    } finally {
      database.close()
    }
  }

  #temporary(k) {
    const directory = join(this.root, `tmp-${k}`)
    mkdirSync(directory, { recursive: true })
    return directory
  }

  /** Resolves once `holds` does; it is looked at whenever something changes in the directory. */
  #appears(directory, holds) {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (!holds()) return
        watcher.close()
        this.#watchers.delete(watcher)
        resolve()
      }
      const watcher = watch(directory, look).unref().on('error', reject)
      this.#watchers.add(watcher)
      look()
    })
  }

  /** Ends whatever is left of the runtime and of its tools. */
  kill() {
    for (const { child } of this.processes) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    for (const pid of this.survivors()) process.kill(pid, 'SIGKILL')
  }

  /** Ends whatever is left, and removes all. */
  async remove() {
    this.kill()
    await Promise.all(this.processes.map(({ ended }) => ended))
    this.kill()
    for (const k of this.#lives.keys()) this.lifeOver(k)
    for (const { pipe } of this.#lives) pipe.destroy()
    for (const watcher of this.#watchers) watcher.close()
    rmSync(this.root, { recursive: true, force: true })
  }
}

function marked(variable) {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/environ`, 'latin1').split('\0').includes(variable) ? [Number(name)] : []
    } catch {
      return []
    }
  })
}

function openDatabase(path) {
  const builtIn = process.getBuiltinModule('node:sqlite')
  if (builtIn !== undefined) return new builtIn.DatabaseSync(path)
  const Database = createRequire(import.meta.url)('libsql')
  return new Database(path)
}
