import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { groupCount, killAllGroups, markGroups, reapGroups, startGroup } from './process-group.ts'
import { temporaryWorkspace, type Workspace } from './temporary-workspace.ts'

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  killAllGroups()
})

const start = ({ root, context }: Workspace, script: string, onOutput: (chunk: Buffer) => void = () => undefined) =>
  startGroup({ file: '/bin/sh', args: ['-c', script], cwd: root, env: context.env, onOutput })

test('killing all groups ends those that run and those left in the background (RE-5, FR-5)', async () => {
  await using workspace = await temporaryWorkspace()
  execFileSync('mkfifo', [join(workspace.root, 'hold')])
  const running = await start(workspace, 'read x <hold')
  const left = await start(workspace, '(read x <hold) & exit 0')
  expect(await left.exited).toEqual({ code: 0, signal: null })
  left.leave()
  expect(groupCount()).toBe(2)
  killAllGroups()
  expect(await running.exited).toEqual({ code: null, signal: 'SIGKILL' })
  await Promise.all([running.gone, left.gone])
})

test.runIf(process.platform === 'linux')(
  'what left its group, in a session of its own or as a daemon, is killed with it (FR-5, CLI-5)',
  async () => {
    await using workspace = await temporaryWorkspace()
    execFileSync('mkfifo', [join(workspace.root, 'hold')])
    const waiting = await start(workspace, 'setsid -w sh -c "read x <hold"')
    const daemon = await start(workspace, '(setsid sh -c "read x <hold" &) ; exit 0')
    const other = await start(workspace, 'read x <hold')
    await daemon.exited
    waiting.signal('SIGKILL')
    await waiting.gone
    daemon.signal('SIGKILL')
    await daemon.gone
    other.signalGroup('SIGTERM')
    expect(await other.exited).toEqual({ code: null, signal: 'SIGTERM' })

    const last = await start(workspace, '(setsid sh -c "read x <hold" &) ; exit 0')
    await last.exited
    killAllGroups()
    await last.gone
  },
)

test.runIf(process.platform === 'linux')('what a killed runtime left running is ended by name, and nothing of another one', async () => {
  await using workspace = await temporaryWorkspace()
  execFileSync('mkfifo', [join(workspace.root, 'hold')])
  markGroups('run_dead')
  const left = await start(workspace, 'read x <hold')
  markGroups('run_dead2')
  const other = await start(workspace, 'read x <hold')
  reapGroups('run_dead')
  expect(await left.exited).toEqual({ code: null, signal: 'SIGKILL' })
  other.signalGroup('SIGTERM')
  expect(await other.exited).toEqual({ code: null, signal: 'SIGTERM' })
})

test("what is left in the background doesn't keep the runtime alive", async () => {
  await using workspace = await temporaryWorkspace()
  execFileSync('mkfifo', [join(workspace.root, 'hold')])
  const group = await start(workspace, '(read x <hold) & exit 0')
  await group.exited
  const pipes = () => process.getActiveResourcesInfo().filter((name) => name === 'PipeWrap').length
  const before = pipes()
  group.leave()
  expect(before - pipes()).toBe(2)
  await writeFile(join(workspace.root, 'hold'), '\n')
  await group.gone
})

test('a group whose id went to a stranger is left alone', async () => {
  await using workspace = await temporaryWorkspace()
  execFileSync('mkfifo', [join(workspace.root, 'hold')])
  const group = await start(workspace, '(read x <hold) & exit 0')
  await group.exited
  // As if another process had the leader's id now: the system gives it away only after the group is gone.
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true)
  group.signalGroup('SIGKILL')
  expect(kill.mock.calls).toEqual([[group.id, 0]])
  expect(groupCount()).toBe(0)
  kill.mockRestore()
  await writeFile(join(workspace.root, 'hold'), '\n')
  await group.gone
})

test("no descriptor and no file is left, whether a command runs or can't", async () => {
  await using workspace = await temporaryWorkspace()
  const descriptors = () => readdirSync('/proc/self/fd').length
  const once = async (file: string) => {
    const group = await startGroup({
      file,
      args: ['-c', 'echo'],
      cwd: workspace.root,
      env: workspace.context.env,
      onOutput: () => undefined,
    })
    await group.gone
    group.leave()
  }
  vi.stubEnv('TMPDIR', workspace.root)
  await once('/bin/sh')
  const before = descriptors()
  for (let count = 0; count < 20; count++) await once('/bin/sh')
  for (let count = 0; count < 20; count++) await expect(once('/no/such/shell')).rejects.toThrow('ENOENT')
  // The system closes those of the last one a turn of the loop later.
  await once('/bin/sh')
  expect(descriptors()).toBeLessThanOrEqual(before)
  expect(readdirSync(workspace.root)).toEqual([])
  expect(groupCount()).toBe(0)
})

test("two commands at once don't hold each other's output", async () => {
  await using workspace = await temporaryWorkspace()
  const hold = join(workspace.root, 'hold')
  execFileSync('mkfifo', [hold])
  const long = await start(workspace, 'read x <hold')
  let said = ''
  const short = await start(workspace, 'echo done', (chunk) => {
    said += chunk.toString()
  })
  await short.gone
  expect(said).toBe('done\n')
  await writeFile(hold, '\n')
  await long.gone
})

test('a command is the leader of a session of its own, without a terminal', async () => {
  await using workspace = await temporaryWorkspace()
  const group = await start(workspace, 'cat /proc/self/stat >stat')
  await group.gone
  const fields = (await readFile(join(workspace.root, 'stat'), 'utf8')).split(' ')
  expect(fields.slice(4, 7).map(Number)).toEqual([group.id, group.id, 0])
  expect(readFileSync('/proc/self/stat', 'utf8').split(' ')[4]).not.toBe(String(group.id))
})
