import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { at, linux, outsideOf, prepared, read, SECRET, within, write } from './guarded-tree.fixture.ts'
import { type Hold, holdByDescriptor, holdByName } from './held.ts'
import { type Moment, realRoots } from './paths.ts'
import type { Workspace } from './temporary-workspace.ts'

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
    const swap = at(moment, () => swaps[name]?.(workspace))
    // Also between the steps: a file that is taken back at once was there. Who holds names alone can't rule that out.
    const seen = new Set<string>()
    const watching = (now: Moment) => {
      swap(now)
      if (isExact && !isMoved(name)) seen.add(outsideOf(workspace))
    }
    const boundary = within(workspace, { hold, before: watching })
    await realRoots(boundary)
    const said = await write('dir/file', boundary)
    expect([...seen].filter((state) => state !== before)).toEqual([])
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

  test('a link on the way to a directory inside is no way round the rules either', async () => {
    for (const moment of ['make-directory', 'hold-directory', 'create', 'check'] as const) {
      await using workspace = await prepared()
      const { root } = workspace
      const swap = () => {
        rmSync(join(root, 'new'), { recursive: true, force: true })
        symlinkSync('dir', join(root, 'new'))
      }
      const said = await write('new/deep/file', within(workspace, { hold, before: at(moment, swap) }))
      expect([moment, said.startsWith('Error: new/deep/file')]).toEqual([moment, true])
      expect(readdirSync(join(root, 'dir'))).toEqual(['file'])
    }
  })

  test.runIf(isExact)('a directory that is moved to where nothing may be written is not written to', async () => {
    for (const moment of ['hold-directory', 'create', 'check'] as const) {
      await using workspace = await prepared()
      const { root } = workspace
      const guard = (real: string) => (real.startsWith(join(root, 'secrets')) ? 'not there' : undefined)
      const move = () => renameSync(join(root, 'dir'), join(root, 'secrets'))
      const said = await write('dir/deep/file', within(workspace, { hold, guard, before: at(moment, move) }))
      expect([moment, said]).toEqual([moment, 'Error: not there'])
      expect(readdirSync(join(root, 'secrets'))).toEqual(['file'])
    }
  })

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
