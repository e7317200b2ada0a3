// Owns where the bench works: a directory on a real disk, the environment of every process, and the drivers, one of a kind.
import { accessSync, constants, mkdirSync, mkdtempSync, realpathSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Driver, gather, onLine, start } from './processes.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))
const repository = join(here, '../..')

/** Names of file systems by their magic number, as far as they matter here. */
const fileSystems = new Map([
  [0xef53, 'ext4'],
  [0x9123683e, 'btrfs'],
  [0x58465342, 'xfs'],
  [0x2fc12fc1, 'zfs'],
  [0x794c7630, 'overlayfs'],
  [0x1a, 'apfs'],
  [0x01021994, 'tmpfs'],
])

/** What must not reach a contestant: other servers, other stores, and what slows every Node down. */
const dropped = /^(NODE_EXTRA_CA_CERTS|NODE_OPTIONS|PYTHON.*|QUIESCE_.*|OPENAI_.*|XDG_.*|.*_PROXY|.*_proxy)$/

export class Place {
  directory
  fileSystem
  runtime
  baseURL
  python = join(repository, '.venv/bin/python')
  #drivers = new Map()
  #stores = 0

  constructor(runtime) {
    this.runtime = runtime ?? join(repository, 'node_modules/.bin/quiesce')
    const parents = [tmpdir(), join(repository, 'out')]
    const parent = parents.find((path) => fileSystemOf(path) !== 'tmpfs') ?? parents[0]
    mkdirSync(parent, { recursive: true })
    this.directory = mkdtempSync(join(parent, 'quiesce-bench-'))
    this.fileSystem = fileSystemOf(this.directory)
    mkdirSync(this.workspace)
  }

  get workspace() {
    return join(this.directory, 'workspace')
  }

  script(name) {
    return join(here, name)
  }

  /** Says what is missing before anything is measured. */
  check() {
    if (process.platform === 'win32') throw new Error('the runtime does not run on Windows yet')
    const needed = [this.runtime, join(repository, 'ts-sdk/dist/index.js'), this.python]
    for (const path of needed) if (!isThere(path)) throw new Error(`${path} is not there: run make setup`)
    const python = realpathSync(this.python)
    if (python.includes('/shims/')) throw new Error(`${python} is a version manager's shim, which takes half a second to start`)
  }

  /** Starts the model; every contestant asks this one. */
  async startModel() {
    const model = start([process.execPath, this.script('instant-model.mjs')], { env: this.env(), stdio: ['pipe', 'pipe', 'pipe'] })
    const stderr = gather(model.stderr)
    const port = await new Promise((resolve, reject) => {
      onLine(model.stdout, resolve)
      model.once('close', () => reject(new Error(`the instant model did not start: ${stderr()}`)))
    })
    this.baseURL = `http://127.0.0.1:${port}/v1`
  }

  env(more = {}) {
    const kept = Object.entries(process.env).filter(([name]) => !dropped.test(name))
    const own = { XDG_CONFIG_HOME: this.directory, XDG_DATA_HOME: this.directory, OPENAI_COMPATIBLE_BASE_URL: this.baseURL }
    return { ...Object.fromEntries(kept), ...own, ...more }
  }

  newStore() {
    this.#stores += 1
    return `sqlite:${join(this.directory, `store-${this.#stores}.db`)}`
  }

  /** The command of a floor with a log of its own; `way` is `http` or `provider`. */
  floor(way) {
    this.#stores += 1
    return [process.execPath, this.script('floor.mjs'), join(this.directory, `floor-${this.#stores}.log`), this.baseURL, way]
  }

  serve(store = this.newStore()) {
    return { command: [this.runtime, 'serve', '--stdio'], env: this.env({ QUIESCE_STORE: store }) }
  }

  /** The driver of a kind: made when it is asked for first, and kept. */
  async driver(kind) {
    const made = this.#drivers.get(kind) ?? this.newDriver(kind)
    this.#drivers.set(kind, made)
    return made
  }

  /** Another driver of that kind, with a server and a store of its own. */
  async newDriver(kind, store = this.newStore()) {
    const raw = [process.execPath, this.script('drive-raw.mjs')]
    const python = [this.python, this.script('drive_sdk.py')]
    const sdk = { runtime: this.runtime, store }
    const kinds = {
      R: () => [raw, { command: this.floor('http'), env: this.env() }],
      R2: () => [raw, { command: this.floor('provider'), env: this.env() }],
      wire: () => [raw, this.serve(store)],
      typescript: () => [[process.execPath, this.script('drive-sdk.mjs')], sdk],
      python: () => [[...python, 'async'], sdk],
      'python-sync': () => [[...python, 'sync'], sdk],
    }
    const [command, params] = kinds[kind]()
    return this.drive(kind, command, params)
  }

  /** A driver of the plain protocol for any server. */
  driveServer(name, server) {
    return this.drive(name, [process.execPath, this.script('drive-raw.mjs')], server)
  }

  async drive(name, command, params) {
    const driver = new Driver(name, command, { env: this.env(), cwd: this.workspace })
    await driver.ask('open', params)
    return driver
  }

  remove() {
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 3 })
  }
}

function fileSystemOf(path) {
  try {
    const { type } = statfsSync(path)
    return fileSystems.get(type) ?? `type 0x${type.toString(16)}`
  } catch {
    return 'not there yet'
  }
}

function isThere(path) {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}
