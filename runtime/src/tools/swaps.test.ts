import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, unlinkSync } from 'node:fs'
import { chmod, link, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { editFileTool } from './edit-file.ts'
import { type Hold, holdByDescriptor, holdByName } from './held.ts'
import { type Boundary, type Moment, openInside, realRoots } from './paths.ts'
import { isTemporaryName, replaceFile } from './replace-file.ts'
import { temporaryWorkspace, type Workspace } from './temporary-workspace.ts'
import { writeFileTool } from './write-file.ts'

const SECRET = 'the secret beside the root'
const linux = process.platform === 'linux'
/** Whether a process here may have mounts of its own. */
const canUnshare = linux && spawnSync('unshare', ['-rm', 'mount', '--bind', '/tmp', '/tmp']).status === 0

/** In the root `dir/file`, and beside it the same names, which hold the secret. */
async function prepared(): Promise<Workspace> {
  const workspace = await temporaryWorkspace()
  for (const [base, text] of [
    [workspace.root, 'inside'],
    [workspace.outside, SECRET],
  ] as const) {
    await mkdir(join(base, 'dir'))
    await writeFile(join(base, 'dir', 'file'), text)
    await writeFile(join(base, 'file'), text)
  }
  return workspace
}

/** What is outside, whole. */
function outsideOf({ outside }: Workspace): string {
  const names = readdirSync(outside, { recursive: true }).map(String).sort()
  return JSON.stringify([names, readFileSync(join(outside, 'file'), 'utf8'), readFileSync(join(outside, 'dir', 'file'), 'utf8')])
}

const within = ({ context }: Workspace, extra: Partial<Boundary>): Boundary => ({ cwd: context.cwd, roots: [...context.roots], ...extra })

/** A hook that acts once, at the first such moment. */
function at(moment: Moment, act: () => void): NonNullable<Boundary['before']> {
  let done = false
  return (now) => {
    if (now !== moment || done) return
    done = true
    act()
  }
}

async function read(path: string, boundary: Boundary): Promise<string> {
  try {
    const { handle } = await openInside(path, boundary)
    try {
      return await handle.readFile('utf8')
    } finally {
      await handle.close()
    }
  } catch (error) {
    return String(error)
  }
}

async function write(path: string, boundary: Boundary): Promise<string> {
  return replaceFile(path, 'written', boundary, { signal: new AbortController().signal }).then(
    () => 'written',
    (error: unknown) => String(error),
  )
}

/** Each puts something else in the place of a part of `dir/file`. */
const swaps: Record<string, (workspace: Workspace) => void> = {
  'a directory for a link to one outside': ({ root, outside }) => {
    renameSync(join(root, 'dir'), join(root, 'moved'))
    symlinkSync(join(outside, 'dir'), join(root, 'dir'))
  },
  'a directory moved out, and a link to it': ({ root, outside }) => {
    renameSync(join(root, 'dir'), join(outside, 'taken'))
    symlinkSync(join(outside, 'taken'), join(root, 'dir'))
  },
  'the file for a link to one outside': ({ root, outside }) => {
    unlinkSync(join(root, 'dir', 'file'))
    symlinkSync(join(outside, 'file'), join(root, 'dir', 'file'))
  },
  'the file for a fifo': ({ root }) => {
    unlinkSync(join(root, 'dir', 'file'))
    execFileSync('mkfifo', [join(root, 'dir', 'file')])
  },
  'the file for a directory': ({ root }) => {
    unlinkSync(join(root, 'dir', 'file'))
    mkdirSync(join(root, 'dir', 'file'))
  },
  'the file for a hard link to one outside': ({ root, outside }) => {
    unlinkSync(join(root, 'dir', 'file'))
    linkSync(join(outside, 'file'), join(root, 'dir', 'file'))
  },
  'the root for a link to the outside': ({ root, outside }) => {
    renameSync(root, `${root}-moved`)
    symlinkSync(outside, root)
  },
}
/** Of these what was moved or linked stays the very thing that was inside when it was looked at. */
const isMoved = (name: string) => name.includes('moved out')
const isHardLink = (name: string) => name.includes('hard link')

const reading: Moment[] = ['hold', 'open']
const writing: Moment[] = ['hold', 'hold-directory', 'create', 'check', 'replace', 'look-back']
const names = Object.keys(swaps)
const cases = (moments: Moment[]) => moments.flatMap((moment) => names.map((name) => [moment, name] as const))

const ways: [string, Hold][] = linux
  ? [
      ['by descriptor', holdByDescriptor],
      ['by name', holdByName],
    ]
  : [['by name', holdByName]]

describe.each(ways)('a part of the path is swapped, held %s (FR-7)', (_way, hold) => {
  // Who only has a name can't find again what was moved: to clean up, or to say where it went.
  const isExact = hold === holdByDescriptor
  test.each(cases(reading))('before %s, %s: no byte from outside is read', async (moment, name) => {
    await using workspace = await prepared()
    const boundary = within(workspace, { hold, before: at(moment, () => swaps[name]?.(workspace)) })
    // Where a root leads is known from the first call on.
    await realRoots(boundary)
    const said = await read('dir/file', boundary)
    // A hard link inside the root is a file inside the root: its bytes are the same under each name.
    if (!(isHardLink(name) && moment === 'hold')) expect(said).not.toContain(SECRET)
    if (moment === 'open' && isExact) expect(said).toBe('inside')
  })

  test.each(cases(writing))('before %s, %s: nothing outside is written, nothing is left', async (moment, name) => {
    await using workspace = await prepared()
    const { root, outside } = workspace
    const before = outsideOf(workspace)
    const boundary = within(workspace, { hold, before: at(moment, () => swaps[name]?.(workspace)) })
    await realRoots(boundary)
    const said = await write('dir/file', boundary)
    const taken = join(outside, 'taken')
    if (isMoved(name) && existsSync(taken)) {
      if (isExact) expect(readdirSync(taken)).toEqual(['file'])
      // Only what was moved at the very last moment took the text along, and then the answer says so.
      const late = moment === 'replace' || moment === 'look-back'
      expect(readFileSync(join(taken, 'file'), 'utf8')).toBe(late ? 'written' : 'inside')
      expect(said).toContain(isExact ? "outside the session's roots" : 'Error: dir/file')
      rmSync(taken, { recursive: true })
    }
    expect(outsideOf(workspace)).toBe(before)
    const left = [root, `${root}-moved`].flatMap((base) => (existsSync(base) ? readdirSync(base, { recursive: true }).map(String) : []))
    if (isExact) expect(left.filter((path) => path.includes('.quiesce-'))).toEqual([])
  })

  test.each(['make-directory', 'hold-directory', 'create', 'check'] as const)(
    'before %s, a directory on the way: nothing is made outside',
    async (moment) => {
      await using workspace = await prepared()
      const { root, outside } = workspace
      const before = outsideOf(workspace)
      const swap = () => {
        rmSync(join(root, 'new'), { recursive: true, force: true })
        symlinkSync(outside, join(root, 'new'))
      }
      const said = await write('new/deep/file', within(workspace, { hold, before: at(moment, swap) }))
      expect(said).toContain('Error: new/deep/file')
      expect(outsideOf(workspace)).toBe(before)
    },
  )

  test('a directory that is moved out takes no new file along, nor a directory', async () => {
    for (const moment of ['make-directory', 'hold-directory', 'create', 'check', 'replace', 'look-back'] as const) {
      await using workspace = await prepared()
      const { root, outside } = workspace
      const move = () => renameSync(join(root, 'dir'), join(outside, 'taken'))
      const said = await write('dir/new/file', within(workspace, { hold, before: at(moment, move) }))
      expect([moment, said.startsWith('Error: dir/new/file')]).toEqual([moment, true])
      if (isExact) expect([moment, readdirSync(join(outside, 'taken'), { recursive: true })]).toEqual([moment, ['file']])
    }
  })
})

test('a root that leads elsewhere than before is refused, for reading and for writing', async () => {
  await using workspace = await prepared()
  const boundary = within(workspace, {})
  expect(await read('file', boundary)).toBe('inside')
  swaps['the root for a link to the outside']?.(workspace)
  const words = `the session's root ${workspace.root} leads to ${workspace.outside} now, and led to ${workspace.root}`
  expect(await read('file', boundary)).toContain(words)
  expect(await write('file', boundary)).toContain(words)
})

describe('files with more than one name', () => {
  test('a hard link is replaced, not written through, and the answer says so', async () => {
    await using workspace = await prepared()
    const { root, outside, context } = workspace
    for (const name of ['one', 'two']) await link(join(outside, 'file'), join(root, name))
    const edited = await editFileTool.execute({ path: 'one', oldText: 'secret', newText: 'changed' }, context)
    expect(edited.content).toContain('It had 2 other names (hard links) besides, which keep the old content.')
    const written = await writeFileTool.execute({ path: 'two', content: 'x' }, context)
    expect(written.content).toBe('Replaced two (1 bytes). It had 1 other name (hard link) besides, which keeps the old content.')
    expect(await readFile(join(outside, 'file'), 'utf8')).toBe(SECRET)
    expect((await writeFileTool.execute({ path: 'two', content: 'y' }, context)).content).toBe('Replaced two (1 bytes).')
  })

  test('an edit is refused where the name went to another file of the same content', async () => {
    await using workspace = await prepared()
    const { root } = workspace
    const boundary = within(workspace, {})
    const { handle, stats } = await openInside('file', boundary)
    await handle.close()
    await writeFile(join(root, 'other'), 'inside')
    renameSync(join(root, 'other'), join(root, 'file'))
    const { signal } = new AbortController()
    await expect(replaceFile('file', 'x', boundary, { expected: stats, signal })).rejects.toThrow('changed by somebody else')
  })
})

describe('what has no place among files', () => {
  test.runIf(linux)('links of the proc file system lead nowhere else', async () => {
    await using workspace = await prepared()
    const { root, outside } = workspace
    const { handle } = await openInside('file', within(workspace, { roots: [outside], cwd: outside }))
    const targets = [`/proc/self/root${outside}/file`, `/proc/self/fd/${handle.fd}`, `/dev/fd/${handle.fd}`, `/proc/${process.pid}/cwd`]
    for (const [index, target] of targets.entries()) {
      await symlink(target, join(root, `link${index}`))
      for (const path of [target, `link${index}`]) {
        expect(await read(path, within(workspace, {}))).toContain("outside the session's roots")
        expect(await write(path, within(workspace, {}))).toContain("outside the session's roots")
      }
    }
    await handle.close()
  })

  test.runIf(canUnshare)('a place in another mount namespace, where the path inside the root leads outside, is refused', async () => {
    await using workspace = await prepared()
    const { root, outside } = workspace
    const mounting = `mount --bind ${outside}/dir ${root}/dir && echo && read x`
    const other = spawn('unshare', ['-rm', 'sh', '-c', mounting], { stdio: ['pipe', 'pipe', 'inherit'] })
    const ended = once(other, 'exit')
    await once(other.stdout, 'data')
    await symlink(`/proc/${other.pid}/root${root}/dir`, join(root, 'link'))
    expect(readFileSync(join(root, 'link', 'file'), 'utf8')).toBe(SECRET)
    expect(await read('link/file', within(workspace, {}))).toContain('Error: link/file')
    expect(await write('link/file', within(workspace, {}))).toContain('Error: link/file')
    other.stdin.end()
    await ended
    expect(await readFile(join(outside, 'dir', 'file'), 'utf8')).toBe(SECRET)
    expect(await read('dir/file', within(workspace, {}))).toBe('inside')
  })

  test.runIf(linux)('under the root of all, a process keeps its environment and memory to itself', async () => {
    await using workspace = await prepared()
    const all = within(workspace, { roots: ['/'] })
    for (const path of ['/proc/self/environ', `/proc/${process.pid}/environ`, '/proc/self/task/../environ', '/proc/thread-self/environ'])
      expect(await read(path, all)).toMatch(/\/environ belongs to a process, not to the session's files/)
    expect(await read('/proc/version', all)).toContain('Linux')
    expect(await read(join(workspace.root, 'file'), all)).toBe('inside')
  })

  test('sockets and devices are refused', async () => {
    await using workspace = await prepared()
    const server = createServer().listen(join(workspace.root, 'socket'))
    await once(server, 'listening')
    expect(await read('socket', within(workspace, {}))).toContain('socket is not a regular file')
    expect(await write('socket', within(workspace, {}))).toContain('socket is not a regular file')
    server.close()
    expect(await write('/dev/null', within(workspace, { roots: ['/dev'] }))).toContain('is not a regular file')
  })

  test('names of any characters are names', async () => {
    await using workspace = await prepared()
    const boundary = within(workspace, {})
    for (const name of ['a\nb', ' ', '\\', '\'"$(x)', '-rf', '*', 'é😀', '\u202e', 'x (deleted)']) {
      expect(await write(`deep/${name}`, boundary)).toBe('written')
      expect(await read(`deep/${name}`, boundary)).toBe('written')
    }
    expect(await read('\uD800', boundary)).toContain('half of a surrogate pair')
    expect(await read('a/'.repeat(3_000), boundary)).toContain('too long')
    expect(await write(`${'a/'.repeat(1_500)}b`, boundary)).toBe('written')
  })

  test.runIf(linux)('a directory whose name is no text is reached through a link, and by nothing else', async () => {
    await using workspace = await prepared()
    const { root, outside } = workspace
    for (const base of [root, outside]) await mkdir(Buffer.concat([Buffer.from(`${base}/`), Buffer.from([0xff, 0xfe])]))
    await symlink(Buffer.from([0xff, 0xfe]), join(root, 'in'))
    await symlink(Buffer.concat([Buffer.from(`${outside}/`), Buffer.from([0xff, 0xfe])]), join(root, 'out'))
    const boundary = within(workspace, {})
    expect(await write('in/file', boundary)).toBe('written')
    expect(await write('in/file', boundary)).toBe('written')
    expect(await read('in/file', boundary)).toBe('written')
    expect(await write('out/file', boundary)).toContain("outside the session's roots")
    expect(await readdir(Buffer.concat([Buffer.from(`${outside}/`), Buffer.from([0xff, 0xfe])]))).toEqual([])
  })
})

describe('the file that is made', () => {
  test('has the mode that the umask leaves; one that is edited keeps its own', async () => {
    await using workspace = await prepared()
    const { root, context } = workspace
    const umask = process.umask(0o027)
    try {
      await writeFileTool.execute({ path: 'new/made', content: '' }, context)
    } finally {
      process.umask(umask)
    }
    expect([(await stat(join(root, 'new/made'))).mode & 0o777, (await stat(join(root, 'new'))).mode & 0o777]).toEqual([0o640, 0o750])
    for (const mode of [0o755, 0o600, 0o666]) {
      await writeFile(join(root, 'script'), 'echo one')
      await chmod(join(root, 'script'), mode)
      await editFileTool.execute({ path: 'script', oldText: 'one', newText: 'two' }, context)
      expect((await stat(join(root, 'script'))).mode & 0o7777).toBe(mode)
    }
  })

  test('is whole beside the place before it is there, under a name that tells', async () => {
    await using workspace = await prepared()
    const { root } = workspace
    let seen: string[] = []
    const before = at('replace', () => {
      seen = readdirSync(join(root, 'dir')).filter((name) => name !== 'file')
      expect(readFileSync(join(root, 'dir', seen[0] ?? ''), 'utf8')).toBe('written')
      expect(readFileSync(join(root, 'dir', 'file'), 'utf8')).toBe('inside')
    })
    expect(await write('dir/file', within(workspace, { before }))).toBe('written')
    expect(seen.map(isTemporaryName)).toEqual([true])
    expect(['.quiesce-x.tmp', 'file', '.quiesce-0123456789abcdef.tmp.bak'].map(isTemporaryName)).toEqual([false, false, false])
  })

  test('leaves nothing where it fails, the directories on its way included', async () => {
    await using workspace = await prepared()
    const { root } = workspace
    const fail = at('check', () => {
      throw new Error('no more')
    })
    expect(await write('a/b/c', within(workspace, { before: fail }))).toBe('Error: no more')
    expect(readdirSync(root).sort()).toEqual(['dir', 'file'])
  })
})

/** Swaps a directory for a link to the outside and back, and a file as well, until its stdin ends. */
const swapper = `
  const { renameSync, symlinkSync, unlinkSync } = require('node:fs')
  const [root, outside] = process.argv.slice(1)
  const steps = [
    () => renameSync(root + '/dir', root + '/aside'), () => symlinkSync(outside + '/dir', root + '/dir'),
    () => unlinkSync(root + '/dir'), () => renameSync(root + '/aside', root + '/dir'),
    () => renameSync(root + '/file', root + '/spare'), () => symlinkSync(outside + '/file', root + '/file'),
    () => unlinkSync(root + '/file'), () => renameSync(root + '/spare', root + '/file'),
  ]
  process.stdin.on('end', () => process.exit()).resume()
  process.stdout.write('.')
  const swap = () => { for (let i = 0; i < 64; i++) for (const step of steps) try { step() } catch {}; setImmediate(swap) }
  swap()
`

test.runIf(linux)(
  'against a process that swaps without end, no byte from outside is read and none is written',
  { timeout: 60_000 },
  async () => {
    await using workspace = await prepared()
    const { root, outside } = workspace
    const before = outsideOf(workspace)
    const process_ = spawn(process.execPath, ['-e', swapper, root, outside], { stdio: ['pipe', 'pipe', 'inherit'] })
    const ended = once(process_, 'exit')
    await once(process_.stdout, 'data')
    const said = new Set<string>()
    for (let attempt = 0; attempt < 150; attempt++) {
      const path = attempt % 2 === 0 ? 'dir/file' : 'file'
      const boundary = within(workspace, {})
      for (const words of [await read(path, boundary), await write(path, boundary), await write(`dir/new${attempt}/file`, boundary)]) {
        expect(words).not.toContain(SECRET)
        said.add(words.replace(/\d+/g, '#').slice(0, 60))
      }
    }
    process_.stdin.end()
    await ended
    expect(outsideOf(workspace)).toBe(before)
    expect(said.size).toBeGreaterThan(1)
  },
)
