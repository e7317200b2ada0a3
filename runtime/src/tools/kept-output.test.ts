import { mkdir, readdir, readFile, stat, symlink, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { KEPT_MS, MAX_SESSION, openOutputs, prune, trim } from './kept-files.ts'
import { KeptOutput } from './kept-output.ts'
import { readFileTool } from './read-file.ts'
import { temporaryWorkspace, type Workspace } from './temporary-workspace.ts'
import type { Spill } from './tool.ts'

const spillOf = ({ outside }: Workspace, session = 'session'): Spill => ({ directory: join(outside, 'kept', session), name: 'call.txt' })

describe('an output that is kept', () => {
  test('is in the file that the note names, whole, for this user alone', async () => {
    await using workspace = await temporaryWorkspace()
    const output = new KeptOutput(spillOf(workspace))
    for (const piece of ['a', 'b\n', 'ü']) output.write(Buffer.from(piece))
    expect(await output.close('the whole output')).toBe(`the whole output is kept in ${output.path}; see more of it with read_file or grep`)
    expect(await readFile(output.path, 'utf8')).toBe('ab\nü')
    expect((await stat(output.path)).mode & 0o777).toBe(0o600)
    expect((await stat(spillOf(workspace).directory)).mode & 0o777).toBe(0o700)
  })

  test('is cut at the limit, and the note says so', async () => {
    await using workspace = await temporaryWorkspace()
    const output = new KeptOutput(spillOf(workspace), 5)
    for (const piece of ['abc', 'def', 'ghi']) output.write(Buffer.from(piece))
    expect(await output.close('it')).toContain(`the first 5 of the 9 bytes of it is kept in ${output.path}`)
    expect(await readFile(output.path, 'utf8')).toBe('abcde')
  })

  test('with NUL bytes is none for the tools that read text', async () => {
    await using workspace = await temporaryWorkspace()
    const output = new KeptOutput(spillOf(workspace))
    output.write(Buffer.from('a\0b'))
    expect(await output.close('it')).toContain('it has NUL bytes in it: look into it with shell')
  })

  test('that can not be kept is told, and harms nothing', async () => {
    await using workspace = await temporaryWorkspace()
    await writeFile(join(workspace.outside, 'kept'), '')
    const output = new KeptOutput(spillOf(workspace))
    for (let piece = 0; piece < 3; piece++) output.write(Buffer.alloc(100_000))
    expect(await output.close('it')).toBe(`it could not be kept: ${output.path}: a part of the path that should be a directory is a file`)
  })

  test('replaces no other, and follows no link', async () => {
    await using workspace = await temporaryWorkspace()
    const spill = spillOf(workspace)
    await mkdir(spill.directory, { recursive: true })
    await writeFile(join(spill.directory, spill.name), 'older')
    const output = new KeptOutput(spill)
    output.write(Buffer.from('newer'))
    expect(await output.close('it')).toContain('it could not be kept: ')
  })
})

describe('the end of what is kept', () => {
  const put = async (root: string, path: string, bytes: number, ageMs: number) => {
    const file = join(root, path)
    await mkdir(join(file, '..'), { recursive: true })
    await writeFile(file, Buffer.alloc(bytes))
    await utimes(file, new Date(), new Date(Date.now() - ageMs))
  }
  const files = async (root: string) =>
    (await readdir(root, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
      .sort()

  test('by age: all of a session, after its last', async () => {
    await using workspace = await temporaryWorkspace()
    const root = join(workspace.outside, 'kept')
    await put(root, 'old/1', 1, 0)
    await put(root, 'young/2', 1, KEPT_MS * 2)
    await utimes(join(root, 'old'), new Date(), new Date(Date.now() - KEPT_MS - 1_000))
    await prune(root)
    expect(await readdir(root)).toEqual(['young'])
  })

  test('by size: the oldest first, of one session and of all', async () => {
    await using workspace = await temporaryWorkspace()
    const root = join(workspace.outside, 'kept')
    for (const [path, age] of [
      ['a/1', 2],
      ['a/2', 4],
      ['b/3', 1],
      ['b/4', 3],
    ] as const)
      await put(root, path, 10, age * 10_000)
    await prune(root, 30)
    expect(await files(root)).toEqual(['1', '3', '4'])
    await trim(join(root, 'b'), 10)
    expect(await files(root)).toEqual(['1', '3'])
    await prune(join(root, 'gone'))
  })

  test('a new session looks at the others; one that is known at its own', async () => {
    await using workspace = await temporaryWorkspace()
    const root = join(workspace.outside, 'kept')
    await put(root, 'old/1', 1, 0)
    await utimes(join(root, 'old'), new Date(), new Date(Date.now() - KEPT_MS - 1_000))
    await mkdir(spillOf(workspace).directory)
    const keep = async (spill: Spill) => {
      const output = new KeptOutput(spill)
      output.write(Buffer.from('x'))
      await output.close('it')
    }
    const large = join(spillOf(workspace).directory, 'large.txt')
    await put(root, 'session/large.txt', 0, 1_000)
    await truncate(large, MAX_SESSION + 1)
    await keep(spillOf(workspace))
    expect((await readdir(root)).sort()).toEqual(['old', 'session'])
    expect(await files(join(root, 'session'))).toEqual(['call.txt'])
    await keep(spillOf(workspace, 'new'))
    expect((await readdir(root)).sort()).toEqual(['new', 'session'])
  })
})

describe('where outputs are', () => {
  const report = (what: string) => {
    throw new Error(what)
  }

  test("in the user's cache, a place for each session of each store", () => {
    const place = (store: string, sessionId: string, env: Record<string, string> = { XDG_CACHE_HOME: '/c', HOME: '/h' }) =>
      openOutputs(store, env, report).place(sessionId, 'call_1')
    expect(place('sqlite:/a', 's')).toEqual({
      directory: expect.stringMatching(/^\/c\/quiesce\/outputs\/[0-9a-f]{24}$/),
      name: 'call_1.txt',
    })
    expect(place('sqlite:/a', 's', { HOME: '/h' })?.directory).toMatch(/^\/h\/\.cache\/quiesce\/outputs\//)
    expect(place('sqlite:/a', 's', { XDG_CACHE_HOME: 'relative', HOME: '/h' })?.directory).toMatch(/^\/h\/\.cache\//)
    expect(place('sqlite:/a', 's', {})).toBeNull()
    const places = ['sqlite:/a', 'sqlite:/b'].flatMap((store) => ['s', 't', '..', '.'].map((id) => place(store, id)?.directory))
    expect(new Set(places).size).toBe(8)
    expect(place('sqlite:/a', 's')).toEqual(place('sqlite:/a', 's'))
  })

  test("a session's go with it, and no others", async () => {
    await using workspace = await temporaryWorkspace()
    const outputs = openOutputs('memory:', { HOME: workspace.outside }, report)
    for (const session of ['s', 't']) {
      const spill = outputs.place(session, 'call_1')
      if (spill === null) throw new Error('no place')
      const output = new KeptOutput(spill)
      output.write(Buffer.from(session))
      await output.close('it')
    }
    await outputs.remove('s')
    await outputs.remove('never')
    expect(await readdir(join(workspace.outside, '.cache/quiesce/outputs'))).toHaveLength(1)
    await openOutputs('memory:', {}, report).remove('s')
  })

  test('read_file reads what its session kept, and nothing beside it', async () => {
    await using workspace = await temporaryWorkspace()
    const spill = spillOf(workspace)
    const context = { ...workspace.context, spill }
    const output = new KeptOutput({ ...spill, name: 'earlier.txt' })
    output.write(Buffer.from('one\ntwo\n'))
    await output.close('it')
    await mkdir(join(spill.directory, '../other'))
    await writeFile(join(spill.directory, '../other/call.txt'), 'secret')
    expect((await readFileTool.execute({ path: output.path, offset: 2 }, context)).content).toBe('2\ttwo')
    await symlink('../other/call.txt', join(spill.directory, 'link'))
    for (const path of ['../other/call.txt', '..', '.', 'link'])
      await expect(readFileTool.execute({ path: `${spill.directory}/${path}` }, context)).rejects.toThrow("outside the session's roots")
    const gone = join(spill.directory, 'gone.txt')
    await expect(readFileTool.execute({ path: gone }, context)).rejects.toThrow(`${gone} is not kept any more, or never was`)
    await expect(readFileTool.execute({ path: output.path }, { ...context, spill: null })).rejects.toThrow("outside the session's roots")
  })
})
