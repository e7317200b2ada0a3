import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, renameSync } from 'node:fs'
import { chmod, link, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { editFileTool } from './edit-file.ts'
import { at, linux, prepared, read, SECRET, within, write } from './guarded-tree.fixture.ts'
import { openInside } from './paths.ts'
import { isTemporaryName, replaceFile } from './replace-file.ts'
import { writeFileTool } from './write-file.ts'

/** Whether a process here may have mounts of its own. */
const canUnshare = linux && spawnSync('unshare', ['-rm', 'mount', '--bind', '/tmp', '/tmp']).status === 0

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
    expect(await read('a/'.repeat(500_000), boundary)).toMatch(/^Error: (a\/){50}\.\.\.: a path of \d+ bytes is too long: at most 4095$/)
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

  test.runIf(process.getuid?.() !== 0)('is refused where the old one, or its directory, lets nobody write', async () => {
    await using workspace = await prepared()
    const { root } = workspace
    await chmod(join(root, 'file'), 0o444)
    expect(await write('file', within(workspace, {}))).toBe('Error: file: permission denied')
    await chmod(join(root, 'dir'), 0o555)
    expect(await write('dir/file', within(workspace, {}))).toBe('Error: dir/file: permission denied')
    expect(await write('dir/new', within(workspace, {}))).toBe('Error: dir/new: permission denied')
    await chmod(join(root, 'dir'), 0o000)
    expect(await read('dir/file', within(workspace, {}))).toBe('Error: dir/file: permission denied')
    await chmod(join(root, 'dir'), 0o755)
    expect(await readFile(join(root, 'dir', 'file'), 'utf8')).toBe('inside')
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
