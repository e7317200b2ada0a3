// Owns the start of a bundle of CommonJS files: each is loaded when it is needed, by way of V8's code cache in the user's cache directory.
// Refuses nothing: whatever is wrong with the cache, the files are compiled as if there were none.
import { closeSync, fdatasyncSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, isAbsolute, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { cachedDataVersionTag } from 'node:v8'
import { Script } from 'node:vm'

export interface Bundle {
  /** Absolute; it may be read-only. Its files hold ASCII alone. */
  directory: string
  /** The file that is loaded first. */
  main: string
  /** Differs between bundles with different files. */
  id: string
  /** Apart from others where they use other parts of the same files, so that each finds its own compiled. */
  profile: string
}

/** Another bundle, and code for another Node, is kept for so long. */
const KEPT_MS = 30 * 24 * 3_600_000

type Factory = (exports: unknown, require: (id: string) => unknown, module: { exports: unknown }, moduleUrl: string) => void

/** Loads the bundle's main file. *Contract:* throws as its files do. */
export function startBundle(bundle: Bundle, env: Readonly<Record<string, string | undefined>> = process.env): void {
  const cache = CodeCache.open(bundle, env)
  if (cache !== null) process.once('exit', () => cache.write())
  const path = join(bundle.directory, bundle.main)
  const moduleUrl = pathToFileURL(path).href
  const outside = createRequire(path)
  const factories = new Map<string, Factory>()
  const modules = new Map<string, { exports: unknown }>()
  const factoryOf = (name: string): Factory => {
    const known = factories.get(name)
    if (known !== undefined) return known
    const filename = join(bundle.directory, name)
    const source = readFileSync(filename, 'latin1')
    const script = cache === null ? new Script(source, { filename }) : cache.compile(name, source, filename)
    const pack: Record<string, Factory> = script.runInThisContext()
    for (const [name, factory] of Object.entries(pack)) factories.set(name, factory)
    return factoryOf(name)
  }
  const load = (name: string): unknown => {
    const known = modules.get(name)
    if (known !== undefined) return known.exports
    const factory = factoryOf(name)
    const module = { exports: {} }
    modules.set(name, module)
    factory(module.exports, require, module, moduleUrl)
    return module.exports
  }
  const require = (id: string) => (id.startsWith('./') ? load(id.slice(2)) : outside(id))
  load(bundle.main)
}

class CodeCache {
  readonly #directory: string
  readonly #profile: string
  /** Compiled here, not found in the cache. */
  readonly #missing = new Map<string, Script>()

  private constructor(directory: string, profile: string) {
    this.#directory = directory
    this.#profile = profile
  }

  /** Null where there is no place for it, or it is not wanted. */
  static open({ id, profile }: Bundle, env: Readonly<Record<string, string | undefined>>): CodeCache | null {
    const { XDG_CACHE_HOME: set, HOME: home, NODE_DISABLE_COMPILE_CACHE: disabled } = env
    const root = set !== undefined && isAbsolute(set) ? set : home !== undefined && isAbsolute(home) ? join(home, '.cache') : null
    if (root === null || disabled) return null
    const directory = join(root, 'quiesce', 'code', `${id}-${cachedDataVersionTag().toString(16)}`)
    return isForeign(directory) ? null : new CodeCache(directory, profile)
  }

  compile(name: string, source: string, filename: string): Script {
    const cachedData = this.#read(name)
    const script = new Script(source, { filename, ...(cachedData !== undefined && { cachedData }) })
    if (cachedData === undefined || script.cachedDataRejected === true) this.#missing.set(name, script)
    return script
  }

  /** Keeps what was compiled, with every function that was used so far. Others may do the same at once: each file is put in place whole. */
  write(): void {
    if (this.#missing.size === 0) return
    try {
      this.#prepare()
      for (const [name, script] of this.#missing) {
        const file = this.#file(name)
        const whole = `${file}.${process.pid}`
        writeDurably(whole, script.createCachedData())
        renameSync(whole, file)
      }
    } catch {
      // A read-only or full disk: the next start compiles again.
    }
  }

  #file(name: string): string {
    return join(this.#directory, `${name}.${this.#profile}`)
  }

  #read(name: string): Buffer | undefined {
    try {
      return readFileSync(this.#file(name))
    } catch {
      return undefined
    }
  }

  /** Makes the directory, and removes those of bundles that are no longer used. */
  #prepare(): void {
    if (mkdirSync(this.#directory, { recursive: true, mode: 0o700 }) === undefined) return
    const parent = dirname(this.#directory)
    for (const name of readdirSync(parent)) {
      const other = join(parent, name)
      if (Date.now() - statSync(other).mtimeMs > KEPT_MS) rmSync(other, { recursive: true, force: true })
    }
  }
}

/** Whether somebody else could have put code there. */
function isForeign(directory: string): boolean {
  try {
    const { uid, mode } = statSync(directory)
    return uid !== process.getuid?.() || (mode & 0o022) !== 0
  } catch {
    return false
  }
}

/** V8 doesn't look whether its data are whole, and runs what it is given: a power cut must not leave a file that lacks some. */
function writeDurably(path: string, data: Buffer): void {
  const file = openSync(path, 'w', 0o600)
  try {
    writeSync(file, data)
    fdatasyncSync(file)
  } finally {
    closeSync(file)
  }
}
