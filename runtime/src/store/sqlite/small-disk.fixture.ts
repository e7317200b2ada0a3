// Owns small file systems for tests, which can be full or read-only in earnest: mounted where that is allowed, unmounted always.
import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdtempSync, readdirSync, rmdirSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const mounted = new Set<SmallDisk>()
process.on('exit', () => {
  for (const disk of mounted) disk.remove()
})

/** What a process that was killed could not unmount. */
function removeLeft(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = /^quiesce-disk-(\d+)-/.exec(name)?.[1]
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue
    spawnSync('umount', ['--lazy', join(tmpdir(), name)], { stdio: 'ignore' })
    rmSync(join(tmpdir(), name), { recursive: true, force: true })
  }
}

export class SmallDisk {
  readonly root: string

  private constructor(kib: number) {
    this.root = mkdtempSync(join(tmpdir(), `quiesce-disk-${process.pid}-`))
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kib}k`, 'tmpfs', this.root], { stdio: 'ignore' })
    } catch (error) {
      rmdirSync(this.root)
      throw error
    }
    mounted.add(this)
  }

  /** *Contract:* throws where mounting isn't allowed. */
  static mount(kib: number): SmallDisk {
    return new SmallDisk(kib)
  }

  static isAllowed(): boolean {
    if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
    removeLeft()
    try {
      SmallDisk.mount(64).remove()
      return true
    } catch {
      return false
    }
  }

  path(name: string): string {
    return join(this.root, name)
  }

  get #filler(): string {
    return this.path('filler')
  }

  /** Takes all the room but so much. */
  fill(leavingKib = 0): void {
    const block = Buffer.alloc(4096)
    for (;;) {
      try {
        appendFileSync(this.#filler, block)
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') break
        throw error
      }
    }
    this.giveRoom(leavingKib)
  }

  /** Gives so much of the room back. */
  giveRoom(kib: number): void {
    const { size } = statSync(this.#filler)
    truncateSync(this.#filler, Math.max(0, size - kib * 1024))
  }

  /** Gives all the room back. */
  empty(): void {
    rmSync(this.#filler, { force: true })
  }

  resize(kib: number): void {
    execFileSync('mount', ['-o', `remount,size=${kib}k`, this.root], { stdio: 'ignore' })
  }

  /** The same files under another path, where nobody may write. */
  readOnly(): { path: (name: string) => string; remove: () => void } {
    const root = mkdtempSync(join(tmpdir(), `quiesce-disk-${process.pid}-`))
    execFileSync('mount', ['--bind', this.root, root], { stdio: 'ignore' })
    execFileSync('mount', ['-o', 'remount,bind,ro', root], { stdio: 'ignore' })
    const remove = () => {
      execFileSync('umount', ['--lazy', root], { stdio: 'ignore' })
      rmdirSync(root)
    }
    return { path: (name) => join(root, name), remove }
  }

  /** Also where a process still has files open there. Safe to call twice. */
  remove(): void {
    if (!mounted.delete(this)) return
    execFileSync('umount', ['--lazy', this.root], { stdio: 'ignore' })
    rmdirSync(this.root)
  }
}
