import { execFileSync } from 'node:child_process'
import { lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { temporaryWorkspace } from '../temporary-workspace.ts'
import { nothingPassedOver } from './search-job.ts'
import { type Walk, walk } from './walk.ts'

function put(root: string, ...paths: string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), '')
  }
}

function optionsFor(root: string, options: Partial<Walk> = {}): Walk {
  const all = { hidden: false, maxDepth: Number.POSITIVE_INFINITY, links: true, deadline: Number.POSITIVE_INFINITY }
  return { start: root, roots: [root], ...all, passedOver: nothingPassedOver(), ...options }
}

test('files come in the order of their paths, whatever the tree', async () => {
  const name = fc.stringMatching(/^[-a!.~]{1,2}$/).filter((text) => !text.startsWith('.'))
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))
  await fc.assert(
    fc.asyncProperty(fc.array(path, { maxLength: 20 }), async (paths) => {
      await using workspace = await temporaryWorkspace()
      const written = paths.filter((candidate) => {
        try {
          put(workspace.root, candidate)
          return true
        } catch {
          return false
        }
      })
      expect([...walk(optionsFor(workspace.root))]).toEqual([...new Set(written)].sort())
    }),
    { numRuns: 60 },
  )
})

test('what begins with a dot is seen where it is wanted, and no deeper than wanted', async () => {
  await using workspace = await temporaryWorkspace()
  put(workspace.root, '.a/b', '.c', 'd/.e', 'd/f', 'd/g/h')
  expect([...walk(optionsFor(workspace.root))]).toEqual(['d/f', 'd/g/h'])
  expect([...walk(optionsFor(workspace.root, { hidden: true, maxDepth: 1 }))]).toEqual(['.a/b', '.c', 'd/.e', 'd/f'])
  expect([...walk(optionsFor(workspace.root, { maxDepth: 0 }))]).toEqual([])
})

test('links: to files inside a root, and to nothing else', async () => {
  await using workspace = await temporaryWorkspace()
  const { root, outside } = workspace
  put(root, 'd/file')
  put(outside, 'secret', 'd/secret')
  symlinkSync('d/file', join(root, 'to-file'))
  symlinkSync('to-file', join(root, 'to-link'))
  symlinkSync('d', join(root, 'to-directory'))
  symlinkSync('.', join(root, 'd/circle'))
  symlinkSync('gone', join(root, 'to-nothing'))
  symlinkSync(join(outside, 'secret'), join(root, 'to-outside'))
  symlinkSync(join(outside, 'd'), join(root, 'to-outside-directory'))
  symlinkSync('/dev/null', join(root, 'to-device'))
  execFileSync('mkfifo', [join(root, 'fifo')])
  expect([...walk(optionsFor(root))]).toEqual(['d/file', 'to-file', 'to-link'])
  expect([...walk(optionsFor(root, { links: false }))]).toEqual(['d/file'])
  expect([...walk(optionsFor(root, { roots: [root, outside] }))]).toEqual(['d/file', 'to-file', 'to-link', 'to-outside'])
})

test('a directory that can not be read is passed over and told; a start that can not is an error', async () => {
  await using workspace = await temporaryWorkspace()
  const { root } = workspace
  put(root, 'a', 'z')
  // A path longer than the system takes, made from within: not even root can open it.
  const deep = `const d = 'd'.repeat(240); for (let i = 0; i < 20; i++) { fs.mkdirSync(d); process.chdir(d) }`
  execFileSync(process.execPath, ['-e', deep], { cwd: root })
  // Node's own way can't remove it either.
  await using _removed = { [Symbol.asyncDispose]: async () => void execFileSync('rm', ['-rf', root]) }
  const options = optionsFor(root)
  expect([...walk(options)]).toEqual(['a', 'z'])
  expect(options.passedOver.unreadable.count).toBe(1)
  expect(options.passedOver.unreadable.first[0]).toMatch(/^(d{240}\/)+$/)
  expect(() => [...walk(optionsFor(root, { start: join(root, 'gone') }))]).toThrow('ENOENT')
})

test('of a directory with too many entries some are seen, and it is told', async () => {
  await using workspace = await temporaryWorkspace()
  put(workspace.root, 'a/1', 'a/2', 'a/3', 'b/1', 'b/2')
  const options = optionsFor(workspace.root, { maxEntries: 2 })
  expect([...walk(options)]).toHaveLength(4)
  expect(options.passedOver.crowded).toEqual(['a/'])
})

test('a directory that is large for its file system is read in pieces, and is the same', async () => {
  await using workspace = await temporaryWorkspace()
  const { root } = workspace
  const script = 'i=0; while [ $i -lt 6000 ]; do : >$1$i; i=$((i+1)); done'
  execFileSync('sh', ['-c', script, 'sh', 'x'.repeat(240)], { cwd: root })
  expect(lstatSync(root).size).toBeGreaterThan(1024 * 1024)
  expect([...walk(optionsFor(root))]).toHaveLength(6_000)
  const options = optionsFor(root, { maxEntries: 5_000 })
  expect([...walk(options)]).toHaveLength(5_000)
  expect(options.passedOver.crowded).toEqual([''])
})

test('it ends at its deadline, and says so', async () => {
  await using workspace = await temporaryWorkspace()
  put(workspace.root, 'a')
  const options = optionsFor(workspace.root, { deadline: 0 })
  expect([...walk(options)]).toEqual([])
  expect(options.passedOver.stopped).toBe('time')
})

test('a name that is no text is passed over and told, one that looks like it is not', async () => {
  await using workspace = await temporaryWorkspace()
  const { root } = workspace
  writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0x61, 0xff])]), '')
  put(root, 'b\uFFFD')
  const options = optionsFor(root)
  expect([...walk(options)]).toEqual(['b\uFFFD'])
  expect(options.passedOver.unnameable).toBe(1)
})

test('what the system shows of itself is not walked from the top', () => {
  const options = optionsFor('/', { maxDepth: 1, links: false, hidden: true })
  const tops = new Set([...walk(options)].map((path) => path.split('/')[0]))
  expect(readFileSync('/proc/self/comm', 'utf8')).not.toBe('')
  for (const name of ['proc', 'sys', 'dev']) expect(tops).not.toContain(name)
})
