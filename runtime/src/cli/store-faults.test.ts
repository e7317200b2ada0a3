import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase } from '../store/sqlite/driver.ts'
import { Executable } from './executable.fixture.ts'
import { demo, expectLine, framesOf, hello, request } from './serve-frames.fixture.ts'

let quiesce: Executable
/** A store with a few runs in it, all of it in its file. */
let filled: string
beforeAll(async () => {
  quiesce = await Executable.build()
  const made = join(quiesce.home, 'made.db')
  for (let i = 0; i < 3; i += 1) expect((await quiesce.run(demo, { QUIESCE_STORE: `sqlite:${made}` })).status).toBe(0)
  const database = openDatabase(made)
  database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all()
  database.close()
  filled = join(quiesce.home, 'filled.db')
  copyFileSync(made, filled)
}, 60_000)
afterAll(() => quiesce.remove())

interface Fault {
  what: string
  code?: string
  /** What is wrong, and what would help. */
  says: RegExp
  /** Makes it at this path. */
  make(path: string): void
}

const faults: Fault[] = [
  {
    what: 'was written by a newer version',
    code: 'store_version',
    says: /has version 9, and this runtime knows up to 1: update quiesce, or name another store$/,
    make: (path) => {
      copyFileSync(filled, path)
      const database = openDatabase(path)
      database.exec('PRAGMA user_version = 9')
      database.close()
    },
  },
  { what: 'is a directory', says: /it is a directory: name a file, for example quiesce\.db in it$/, make: (path) => mkdirSync(path) },
  {
    what: 'is the database of another program',
    says: /is a database of another program: name another file as the store$/,
    make: (path) => {
      const database = openDatabase(path)
      database.exec('CREATE TABLE songs (title)')
      database.close()
    },
  },
  {
    what: 'is a text',
    says: /the file is not a Quiesce store: name another file, or move this one away/,
    make: (path) => writeFileSync(path, 'Dear diary\n'.repeat(1000)),
  },
  {
    what: 'is damaged at its beginning',
    says: /is not a Quiesce store: .*; if it was one, put a backup in its place/,
    make: (path) => writeFileSync(path, readFileSync(filled).fill(0xee, 0, 16)),
  },
  {
    what: 'was cut',
    says: /its contents are damaged: move the file away, or put a backup in its place/,
    make: (path) => {
      copyFileSync(filled, path)
      truncateSync(path, 8192)
    },
  },
  {
    what: 'has a damaged log',
    says: /its log .*-wal is damaged: put a backup of both in their place; or move the log away/,
    make: (path) => {
      copyFileSync(filled, path)
      writeFileSync(`${path}-wal`, 'x'.repeat(9000))
    },
  },
  {
    what: 'is empty beside a log that is not',
    says: /it is empty, and its log .*-wal is not: put the file back that belongs to the log, or move the log away/,
    make: (path) => {
      writeFileSync(path, '')
      writeFileSync(`${path}-wal`, 'x'.repeat(9000))
    },
  },
  {
    what: 'is a link to a disk that is not there',
    says: /it is a symbolic link to .*, and there is no such directory: mount what belongs there, or name another file$/,
    make: (path) => symlinkSync(join(quiesce.home, 'unmounted/store.db'), path),
  },
]

describe.each(faults)('RE-6: a store that $what', ({ what, says, code = 'storage_unavailable', make }) => {
  const at = () => {
    const path = join(quiesce.home, `${what.replaceAll(' ', '-')}.db`)
    rmSync(path, { recursive: true, force: true })
    make(path)
    return { path, env: { QUIESCE_STORE: `sqlite:${path}`, QUIESCE_MODEL: 'scripted/demo' } }
  }

  it('makes run exit 5, with a line that says what is wrong and what to do (CLI-4)', async () => {
    const { path, env } = at()
    const { status, stdout, stderr } = await quiesce.run(demo, env)
    expect({ status, stdout }).toEqual({ status: 5, stdout: '' })
    expectLine(stderr, path, says)
  })

  it('makes serve tell its client, with a code, and exit 5', async () => {
    const { path, env } = at()
    const running = quiesce.start(['serve', '--stdio'], env)
    running.child.stdin?.write(hello)
    const { status, stdout, stderr } = await running.ended
    expect(framesOf(stdout)).toMatchObject([{ id: 1, error: { message: expect.stringMatching(says), data: { code, path } } }])
    expect(status).toBe(5)
    expectLine(stderr, path, says)
  })

  it('makes doctor exit 1, and say the same', async () => {
    const { env } = at()
    const { status, stdout, stderr } = await quiesce.run(['doctor', '--json'], env)
    expect({ status, stderr }).toEqual({ status: 1, stderr: '' })
    const { store, problems, healthy } = JSON.parse(stdout)
    expect({ healthy, opens: store.opens, problems }).toEqual({
      healthy: false,
      opens: false,
      problems: [`the store does not open: ${store.problem}`],
    })
    expect(store.problem).toMatch(says)
  })
})

describe('RE-6: a store that opens, and is damaged further on', () => {
  it('is found by doctor; a run goes on where it does not meet it', async () => {
    const path = join(quiesce.home, 'inside.db')
    copyFileSync(filled, path)
    const database = openDatabase(path)
    const first = database.prepare<{ id: string }>('SELECT id FROM sessions WHERE n = 1').get()?.id ?? ''
    database.exec("UPDATE facts SET fact = '{' WHERE session = 1 AND seq = 4")
    database.close()
    const env = { QUIESCE_STORE: `sqlite:${path}`, QUIESCE_MODEL: 'scripted/demo' }
    const doctor = await quiesce.run(['doctor'], env)
    expect(doctor.status).toBe(1)
    expect(doctor.stdout.replace(/\s+/g, ' ')).toContain(`is damaged: fact 4 of session ${first} can not be read`)
    expect((await quiesce.run(demo, env)).status).toBe(0)
    const { status, stdout, stderr } = await quiesce.run([...demo, '--session', JSON.parse(first)], env)
    expect({ status, stdout }).toEqual({ status: 5, stdout: '' })
    expect(stderr).toMatch(
      /^quiesce: the store .*inside\.db is damaged: fact 4 of session \S+ can not be read\. Other sessions go on; delete/m,
    )
  })

  it('is locked: doctor says so at once', async () => {
    const path = join(quiesce.home, 'locked.db')
    copyFileSync(filled, path)
    const other = openDatabase(path)
    other.exec('PRAGMA journal_mode = WAL; BEGIN IMMEDIATE')
    const { status, stdout } = await quiesce.run(['doctor', '--json'], { QUIESCE_STORE: `sqlite:${path}`, QUIESCE_MODEL: 'scripted/demo' })
    other.exec('ROLLBACK')
    other.close()
    expect({ status, store: JSON.parse(stdout).store }).toMatchObject({
      status: 1,
      store: { opens: true, problem: expect.stringMatching(/another process has held its lock for too long: end the backup or/) },
    })
  })
})

describe('RE-6: a store whose lock another process has', () => {
  const told =
    /^\{.*"msg":"another process has had the lock of the store \S+\.db for \d+ s, and it is waited for, up to 45 s in all: end the/

  async function whileLocked(name: string) {
    const path = join(quiesce.home, `${name}.db`)
    copyFileSync(filled, path)
    const other = openDatabase(path)
    other.exec('PRAGMA journal_mode = WAL; BEGIN IMMEDIATE')
    const running = quiesce.start(demo, { QUIESCE_STORE: `sqlite:${path}` })
    await running.says('stderr', told)
    return { other, running }
  }

  it('is waited for by a run, which says so on one line, and answers', async () => {
    const { other, running } = await whileLocked('waited-for')
    other.exec('ROLLBACK')
    other.close()
    const { status, stdout, stderr } = await running.ended
    expect({ status, lines: stderr.trim().split('\n').length }).toEqual({ status: 0, lines: 1 })
    expect(stdout).toMatch(/hello/)
  })

  it('is left at once at the second signal, also before anything was begun (CLI-5)', async () => {
    const { other, running } = await whileLocked('left')
    // Two of the same kind that come together are one.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) running.child.kill(signal)
    expect(await running.ended).toMatchObject({ status: 3, stdout: '', signal: null })
    other.exec('ROLLBACK')
    other.close()
  })
})

/** The user that is nobody: root may write everywhere. */
const nobody = 65_534
const mayBeNobody = () =>
  process.getuid?.() === 0 &&
  spawnSync('setpriv', [`--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', process.execPath, '-e', '0']).status === 0

describe.skipIf(!mayBeNobody())('RE-6: a store that its user may not write (needs to become another user)', () => {
  const own = (path: string) => chownSync(path, nobody, nobody)
  const as = `setpriv --reuid=${nobody} --regid=${nobody} --clear-groups env -C "$place" HOME="$place" "$0" "$bundle"`

  /** A directory of nobody's, and a store in it. */
  function place(name: string): { place: string; path: string; env: Record<string, string> } {
    chmodSync(dirname(dirname(quiesce.bundle)), 0o755)
    const folder = join(quiesce.home, name)
    mkdirSync(folder)
    own(folder)
    const path = join(folder, 'store.db')
    copyFileSync(filled, path)
    own(path)
    return { place: folder, path, env: { place: folder, QUIESCE_STORE: `sqlite:${path}`, QUIESCE_MODEL: 'scripted/demo' } }
  }

  const cases: [string, (at: { place: string; path: string }) => void, RegExp][] = [
    ['a file of mode 0444', ({ path }) => chmodSync(path, 0o444), /it is not yours to read and write: change its owner or permissions/],
    ['a file of another user', ({ path }) => chownSync(path, 0, 0), /it is not yours to read and write: change its owner or permissions/],
    ['a directory of mode 0555', ({ place: folder }) => chmodSync(folder, 0o555), /its directory .* is not yours to read and write/],
    [
      'a log that another user left there',
      ({ path }) => writeFileSync(`${path}-wal`, '', { mode: 0o600 }),
      /store\.db-wal is not yours to read and write: change its owner or permissions, or name another file \(EACCES\)/,
    ],
    [
      'no file, in a directory of mode 0555',
      ({ place: folder, path }) => {
        rmSync(path)
        chmodSync(folder, 0o555)
      },
      /you may not write there: name a file in a directory of your own, or change the permissions \(EACCES\)/,
    ],
  ]
  it.each(cases)('says what is not writable, and what to do: %s', async (name, make, says) => {
    const at = place(name.replaceAll(/\W/g, '-'))
    expect((await quiesce.shell(`${as} doctor`, at.env)).status).toBe(0)
    for (const suffix of ['-wal', '-shm']) rmSync(`${at.path}${suffix}`, { force: true })
    make(at)
    const run = await quiesce.shell(`${as} run hello`, at.env)
    expect({ status: run.status, stdout: run.stdout }).toEqual({ status: 5, stdout: '' })
    expectLine(run.stderr, at.path, says)
    const doctor = await quiesce.shell(`${as} doctor --json`, at.env)
    expect(doctor.status).toBe(1)
    expect(JSON.parse(doctor.stdout)).toMatchObject({ healthy: false, store: { opens: false, problem: expect.stringMatching(says) } })
    const serve = await quiesce.shell(`${as} serve --stdio <<<'${hello.trimEnd()}'`, at.env)
    expect(serve.status).toBe(5)
    expect(framesOf(serve.stdout)).toMatchObject([
      { error: { message: expect.stringMatching(says), data: { code: 'storage_unavailable' } } },
    ])
  })
})

describe('RE-6: a limit on the size of files', () => {
  it('fails a run that meets it, and what was begun goes on without it', async () => {
    const env = { QUIESCE_STORE: `sqlite:${quiesce.home}/limited.db` }
    const model = quiesce.script('long', [{ text: 'x'.repeat(300_000) }])
    // Blocks of 1,024 bytes, for every file that it writes.
    const { status, stderr } = await quiesce.shell(`ulimit -f 200; quiesce run --model ${model} go`, env)
    expect(status).toBe(5)
    expect(stderr).toMatch(/^quiesce: .*limited\.db failed: it could not be read or written: .* a limit on the size of files was reached/m)
    const serving = quiesce.start(['serve', '--stdio'], env)
    serving.child.stdin?.write(hello + request(2, 'session/list'))
    await serving.says('stdout', /"id":2,/)
    const [session] = (framesOf(serving.stdout).find(({ id }) => id === 2)?.result?.sessions ?? []) as { sessionId: string }[]
    serving.child.stdin?.write(request(3, 'session/subscribe', { sessionId: session?.sessionId, after: 0, activate: true }))
    await serving.says('stdout', /"status":"idle"/)
    serving.child.stdin?.end()
    const types = framesOf((await serving.ended).stdout).flatMap(({ params }) => (params?.event === undefined ? [] : [params.event.type]))
    expect(types.filter((type) => type === 'assistant/message')).toHaveLength(1)
    expect(types.filter((type) => type === 'inbox/receipt')).toHaveLength(1)
  })
})

describe('RE-6: files that a runtime has open', () => {
  it('are missed where they are deleted: prompts are refused, what was answered can still be read', async () => {
    const path = join(quiesce.home, 'deleted.db')
    const running = quiesce.start(['serve', '--stdio'], { QUIESCE_STORE: `sqlite:${path}`, QUIESCE_MODEL: 'scripted/demo' })
    running.child.stdin?.write(hello + request(2, 'session/create', { sessionId: 's', cwd: quiesce.home }))
    await running.says('stdout', /"id":2,/)
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`)
    running.child.stdin?.write(
      request(3, 'session/prompt', { sessionId: 's', content: 'x' }) + request(4, 'session/get', { sessionId: 's' }),
    )
    await running.says('stdout', /"id":4,/)
    const refused = framesOf(running.stdout).find(({ id }) => id === 3)
    expect(refused?.error?.message).toMatch(
      /deleted\.db was deleted while it was open, so nothing more is written to it\. Put the file back, then start/,
    )
    running.child.stdin?.end()
    expect((await running.ended).status).toBe(0)
    expect(existsSync(path)).toBe(false)
  })
})
