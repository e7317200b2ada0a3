import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { type Clock, ManualClock, systemClock } from '../base/clock.ts'
import { type Deferred, deferred } from '../base/deferred.ts'
import { groupCount, killAllGroups, ProcessGroup } from './process-group.ts'
import { DRAIN_MS, KILL_GRACE_MS, shellTool } from './shell.ts'
import { temporaryWorkspace, type Workspace } from './temporary-workspace.ts'
import type { ToolContext } from './tool.ts'

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  killAllGroups()
})

/** A clock that stands still, and tells when a time limit is set. */
class WatchedClock extends ManualClock {
  readonly #watched = new Map<number, Deferred>()

  override after(ms: number, callback: () => void): () => void {
    const cancel = super.after(ms, callback)
    this.#of(ms).resolve()
    return cancel
  }

  /** Resolves once a timer of `ms` was set, before or after. */
  set(ms: number): Promise<void> {
    return this.#of(ms).promise
  }

  #of(ms: number): Deferred {
    const known = this.#watched.get(ms) ?? deferred()
    this.#watched.set(ms, known)
    return known
  }
}

interface Options {
  context?: Partial<ToolContext>
  clock?: Clock
  cwd?: string
  timeoutMs?: number
}

function run(workspace: Workspace, command: string, { context, clock = systemClock, ...input }: Options = {}) {
  return shellTool(clock).execute({ command, ...input }, { ...workspace.context, ...context })
}

/** Makes a fifo; reading it waits for what the command writes to it. */
function fifo({ root }: Workspace, name: string): string {
  const path = join(root, name)
  execFileSync('mkfifo', [path])
  return path
}

/** The processes of a group that live: those that are being taken down, or wait to be reaped, don't. */
function living(group: number): number[] {
  try {
    process.kill(-group, 0)
  } catch {
    return []
  }
  if (!existsSync('/proc/self/stat')) return [group]
  const exiting = 0x4
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = existsSync(`/proc/${name}/stat`) ? readFileSync(`/proc/${name}/stat`, 'utf8') : ''
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return Number(fields[2]) === group && (Number(fields[6]) & exiting) === 0 ? [Number(name)] : []
    })
}

describe('what a command answers', () => {
  test.each([
    ['output and status', 'echo out; echo err >&2; exit 3', 'out\nerr\n[exit status 3]'],
    ['no output', 'true', '[exit status 0, no output]'],
    ['no last newline', 'printf x', 'x\n[exit status 0]'],
    ['not found', 'no-such-command-here 2>/dev/null', '[exit status 127, no output]'],
    ['a signal', 'kill -SEGV $$', '[ended by SIGSEGV, no output]'],
    ['no input', 'cat; read x || echo none', 'none\n[exit status 0]'],
    ['no terminal', '(exec 3</dev/tty) 2>/dev/null || echo none', 'none\n[exit status 0]'],
    ['opened outputs', 'echo 1 >/dev/stdout; echo 2 >/dev/stderr; echo 3 | tee /dev/stderr', '1\n2\n3\n3\n[exit status 0]'],
    ['binary', "printf 'a\\0b\\377c'", 'a\uFFFDb\uFFFDc\n[exit status 0]'],
    ['many lines', "cat <<'E'\none $x\nE", 'one $x\n[exit status 0]'],
  ])('%s', async (_name, command, content) => {
    await using workspace = await temporaryWorkspace()
    expect(await run(workspace, command)).toEqual({ content, isError: false })
    expect(groupCount()).toBe(0)
  })

  test('stdout and stderr keep their order', async () => {
    await using workspace = await temporaryWorkspace()
    const lines = Array.from({ length: 200 }, (_, index) => String(index))
    const { content } = await run(workspace, 'for i in $(seq 0 199); do if [ $((i % 2)) = 0 ]; then echo $i; else echo $i >&2; fi; done')
    expect(content).toBe(`${lines.join('\n')}\n[exit status 0]`)
  })

  test('a huge output is cut in the middle, and its end is there', async () => {
    await using workspace = await temporaryWorkspace()
    const { content } = await run(workspace, 'echo first; head -c 50000000 /dev/zero | tr "\\0" x; echo; echo last')
    expect(content).toMatch(
      /^first\nx+\n\[\d+ bytes of the output are cut here\]\nx+\nlast\n\[the first 16777216 of the 50000012 bytes of the whole output is kept in .*\]\n\[exit status 0\]$/,
    )
    expect(content.length).toBeLessThan(31 * 1024)
    const kept = await readFile(join(workspace.context.spill?.directory ?? '', 'call.txt'))
    expect(kept.length).toBe(16 * 1024 ** 2)
    expect(kept.subarray(0, 10).toString()).toBe('first\nxxxx')
  })

  test('an output that is a little longer than what is shown is kept whole, in order', async () => {
    await using workspace = await temporaryWorkspace()
    const { content } = await run(workspace, 'seq 1 9000; exit 3')
    const kept = join(workspace.context.spill?.directory ?? '', 'call.txt')
    expect(content).toContain(`\n9000\n[the whole output is kept in ${kept}; see more of it with read_file or grep]\n[exit status 3]`)
    expect(await readFile(kept, 'utf8')).toBe(Array.from({ length: 9_000 }, (_, index) => `${index + 1}\n`).join(''))
  })

  test('one that fits is not kept, and where nothing is kept nothing is said', async () => {
    await using workspace = await temporaryWorkspace()
    const fits = await run(workspace, `head -c ${30 * 1024} /dev/zero | tr '\\0' x`)
    expect(fits.content).toBe(`${'x'.repeat(30 * 1024)}\n[exit status 0]`)
    expect(existsSync(workspace.context.spill?.directory ?? '')).toBe(false)
    const long = await run(workspace, `head -c ${30 * 1024 + 1} /dev/zero | tr '\\0' x`, { context: { spill: null } })
    expect(long.content).toMatch(/x\n\[exit status 0\]$/)
  })

  test('where it can not be kept, the call is as good as before, and says so', async () => {
    await using workspace = await temporaryWorkspace()
    await writeFile(join(workspace.root, 'file'), '')
    const spill = { directory: join(workspace.root, 'file', 'session'), name: 'call.txt' }
    const { content, isError } = await run(workspace, 'seq 1 9999; exit 4', { context: { spill } })
    expect(isError).toBe(false)
    expect(content).toMatch(
      /\n9999\n\[the whole output could not be kept: .*call\.txt: a part of the path that should be a directory is a file\]\n\[exit status 4\]$/,
    )
  })
})

describe('where it runs, and with what', () => {
  test('in the working directory, or another one inside the roots', async () => {
    await using workspace = await temporaryWorkspace()
    await mkdir(join(workspace.root, 'sub'))
    expect((await run(workspace, 'pwd')).content).toBe(`${workspace.root}\n[exit status 0]`)
    expect((await run(workspace, 'pwd', { cwd: 'sub' })).content).toBe(`${workspace.root}/sub\n[exit status 0]`)
    await expect(run(workspace, 'pwd', { cwd: '..' })).rejects.toThrow("is outside the session's roots")
    await expect(run(workspace, 'pwd', { cwd: 'gone' })).rejects.toThrow('gone: no such file or directory')
    await writeFile(join(workspace.root, 'file'), '')
    await expect(run(workspace, 'pwd', { cwd: 'file' })).rejects.toThrow('file is a file, not a directory')
  })

  test("its environment is the one given and its group's mark, and none of the runtime's own (FR-7)", async () => {
    await using workspace = await temporaryWorkspace()
    vi.stubEnv('QUIESCE_TEST_TOKEN', 'secret')
    const { content } = await run(workspace, 'env', { context: { env: { PATH: process.env.PATH ?? '', MINE: 'a b' } } })
    const names = content.split('\n').map((line) => line.split('=')[0])
    expect(names).toContain('MINE')
    const shells = ['PWD', 'OLDPWD', 'SHLVL', '_', '[exit status 0]']
    expect(names.filter((name) => !['MINE', 'PATH', 'QUIESCE_GROUP', ...shells].includes(name ?? ''))).toEqual([])
  })

  test("a command that can't be run is refused in words", async () => {
    await using workspace = await temporaryWorkspace()
    await expect(run(workspace, 'echo a\0b')).rejects.toThrow('NUL')
    await expect(run(workspace, `: ${'x'.repeat(140_000)}`)).rejects.toThrow('longer than 131071 bytes')
    vi.stubEnv('TMPDIR', join(workspace.root, 'gone'))
    await expect(run(workspace, 'true')).rejects.toThrow(/^no pipe can be made for the output of a command: ENOENT.*gone/)
    vi.unstubAllEnvs()
    await expect(run(workspace, 'true', { context: { env: { BIG: 'x'.repeat(3_000_000) } } })).rejects.toThrow('E2BIG')
    expect(groupCount()).toBe(0)
  })
})

describe('what is left in the background (ST-9)', () => {
  test("doesn't hold the call, though it holds the output, and lives on until all groups are killed", async () => {
    await using workspace = await temporaryWorkspace()
    const [go, told] = [fifo(workspace, 'go'), fifo(workspace, 'told')]
    // Ends when nobody has it open for writing: when the process in the background is gone.
    const end = readFile(fifo(workspace, 'end'))
    const clock = new WatchedClock()
    const leave = vi.spyOn(ProcessGroup.prototype, 'leave')
    const background = '(read x <go; echo late; echo $x >told; read y <go)'
    const call = run(workspace, `exec 9>end; ${background} & echo $$ >group; echo now`, { clock })
    await clock.set(DRAIN_MS)
    clock.advance(DRAIN_MS)
    expect(await call).toEqual({ content: 'now\n[exit status 0; what it started in the background goes on running]', isError: false })
    const group = Number(await readFile(join(workspace.root, 'group'), 'utf8'))
    expect(living(group)).toHaveLength(1)
    // It still writes to the output of the call: that must not end it.
    const answer = readFile(told, 'utf8')
    await writeFile(go, 'hello\n')
    expect(await answer).toBe('hello\n')
    expect(groupCount()).toBe(1)
    expect(leave).toHaveBeenCalledTimes(1)
    killAllGroups()
    await end
    expect(living(group)).toEqual([])
  })

  test('what has ended by itself is waited for, and all of its output is there', async () => {
    await using workspace = await temporaryWorkspace()
    const clock = new WatchedClock()
    expect((await run(workspace, '(echo a; echo b) & exit 4', { clock })).content).toContain('[exit status 4]')
    expect(clock.waiting).toBe(0)
  })
})

describe('the end by force leaves no process (TU-8, RE-5)', () => {
  const started = 'echo $$ >group; echo ready >ready'
  const groupOf = async ({ root }: Workspace) => Number(await readFile(join(root, 'group'), 'utf8'))

  test.each([
    ['one that just waits', `${started}; read x <hold`],
    ['grandchildren', `(read x <hold) & (exec bash -c '(read x <hold) & wait') & ${started}; wait`],
    ['with closed outputs', `(read x <hold) >/dev/null 2>&1 & ${started}; wait`],
    ['busy writing', `${started}; yes`],
  ])('an abort: %s', async (_name, command) => {
    await using workspace = await temporaryWorkspace()
    const ready = readFile(fifo(workspace, 'ready'))
    fifo(workspace, 'hold')
    const controller = new AbortController()
    const clock = new WatchedClock()
    const call = run(workspace, command, { clock, context: { signal: controller.signal } })
    await ready
    expect(living(await groupOf(workspace)).length).toBeGreaterThan(0)
    controller.abort()
    expect(await call).toMatchObject({ isError: true, error: { code: 'tool_cancelled', retryable: false } })
    expect((await call).content).toMatch(/\[stopped, with everything it started, because the call was cancelled\]$/)
    expect(living(await groupOf(workspace))).toEqual([])
    expect(clock.waiting).toBe(0)
  })

  test('those that ignore SIGTERM are killed after the grace, and the output so far is there', async () => {
    await using workspace = await temporaryWorkspace()
    const ready = readFile(fifo(workspace, 'ready'))
    fifo(workspace, 'hold')
    const clock = new WatchedClock()
    const stubborn = `trap "" TERM; echo before; (read x <hold) & ${started}; while true; do read x <hold; done`
    const call = run(workspace, stubborn, { clock, timeoutMs: 5_000 })
    await ready
    clock.advance(4_999)
    expect(clock.waiting).toBe(1)
    clock.advance(1)
    await clock.set(KILL_GRACE_MS)
    expect(living(await groupOf(workspace))).toHaveLength(2)
    clock.advance(KILL_GRACE_MS)
    const message = 'stopped, with everything it started, at the time limit of 5000 ms'
    expect(await call).toEqual({
      content: `before\n[${message}]`,
      isError: true,
      error: { code: 'tool_timeout', message, retryable: false },
    })
    expect(living(await groupOf(workspace))).toEqual([])
  })

  test('those that follow SIGTERM may clean up first', async () => {
    await using workspace = await temporaryWorkspace()
    const ready = readFile(fifo(workspace, 'ready'))
    fifo(workspace, 'hold')
    const controller = new AbortController()
    const polite = `exec >/dev/null 2>&1; trap 'echo clean >cleaned; exit' TERM; ${started}; read x <hold`
    const call = run(workspace, `(${polite}) & wait`, { clock: new WatchedClock(), context: { signal: controller.signal } })
    await ready
    controller.abort()
    await call
    expect(await readFile(join(workspace.root, 'cleaned'), 'utf8')).toBe('clean\n')
  })

  test('the time limit is 120 s where none is given', async () => {
    await using workspace = await temporaryWorkspace()
    const ready = readFile(fifo(workspace, 'ready'))
    fifo(workspace, 'hold')
    const clock = new WatchedClock()
    const call = run(workspace, `${started}; read x <hold`, { clock })
    await ready
    await clock.set(120_000)
    clock.advance(120_000)
    expect((await call).error?.code).toBe('tool_timeout')
  })

  test('an abort while the output of the background is waited for', async () => {
    await using workspace = await temporaryWorkspace()
    fifo(workspace, 'hold')
    const controller = new AbortController()
    const clock = new WatchedClock()
    const call = run(workspace, '(read x <hold) & echo $$ >group', { clock, context: { signal: controller.signal } })
    await clock.set(DRAIN_MS)
    controller.abort()
    expect((await call).error?.code).toBe('tool_cancelled')
    expect(living(await groupOf(workspace))).toEqual([])
  })

  test('an abort that came first starts nothing', async () => {
    await using workspace = await temporaryWorkspace()
    const { error } = await run(workspace, 'echo >started', { context: { signal: AbortSignal.abort() } })
    expect(error?.code).toBe('tool_cancelled')
    expect(existsSync(join(workspace.root, 'started'))).toBe(false)
  })
})

test('a summary is the command in one line', () => {
  expect(shellTool(systemClock).summary({ command: ' a\nb\r\nc\n' })).toBe('a ⏎ b ⏎ c')
})
