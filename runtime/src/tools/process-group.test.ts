import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { groupCount, groupIds, killAllGroups, killGroupsOf, markGroups, onGroupsChanged, reapGroups, startGroup } from './process-group.ts'
import { temporaryWorkspace, type Workspace } from './temporary-workspace.ts'

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  killAllGroups()
})

const start = ({ root, context }: Workspace, script: string, onOutput: (chunk: Buffer) => void = () => undefined) =>
  startGroup({ sessionId: context.sessionId, file: '/bin/sh', args: ['-c', script], cwd: root, env: context.env, onOutput })

/** A workspace with a fifo `hold`: who reads it waits. */
async function holding(): Promise<Workspace> {
  const workspace = await temporaryWorkspace()
  execFileSync('mkfifo', [join(workspace.root, 'hold')])
  return workspace
}

const ofSession = (workspace: Workspace, sessionId: string): Workspace => ({ ...workspace, context: { ...workspace.context, sessionId } })

test('killing all groups ends those that run and those left in the background (RE-5, FR-5)', async () => {
  await using workspace = await holding()
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
    await using workspace = await holding()
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
  await using workspace = await holding()
  markGroups('run_dead')
  const left = await start(workspace, 'read x <hold')
  markGroups('run_dead2')
  const other = await start(workspace, 'read x <hold')
  reapGroups('run_dead')
  expect(await left.exited).toEqual({ code: null, signal: 'SIGKILL' })
  other.signalGroup('SIGTERM')
  expect(await other.exited).toEqual({ code: null, signal: 'SIGTERM' })
})

test.runIf(process.platform === 'linux')('of a runtime that only lost a session, the tools of that session are ended by name', async () => {
  await using workspace = await holding()
  markGroups('run_stalled')
  const lost = await start(ofSession(workspace, 'a.b'), '(setsid sh -c "read x <hold" &) ; read x <hold')
  const kept = await start(ofSession(workspace, 'a'), 'read x <hold')
  const kin = await start(ofSession(workspace, 'a.b.c'), 'read x <hold')
  reapGroups('run_stalled', 'a.b')
  expect(await lost.exited).toEqual({ code: null, signal: 'SIGKILL' })
  await lost.gone
  for (const group of [kept, kin]) {
    group.signalGroup('SIGTERM')
    expect(await group.exited).toEqual({ code: null, signal: 'SIGTERM' })
  }
})

test.runIf(process.platform === 'linux')('what a runtime that is itself run by a tool had started ends with the outer group', async () => {
  await using workspace = await holding()
  markGroups('run_inner')
  vi.stubEnv('QUIESCE_GROUP', 'run_outer.s.1.')
  const inner = await start(workspace, 'read x <hold')
  reapGroups('run_outer', 's')
  expect(await inner.exited).toEqual({ code: null, signal: 'SIGKILL' })
})

test('the groups of one session are killed at once, and those of others go on (RE-5)', async () => {
  await using workspace = await holding()
  const [mine, other] = [ofSession(workspace, 'mine'), ofSession(workspace, 'other')]
  const running = await start(mine, 'read x <hold')
  const left = await start(mine, '(read x <hold) & exit 0')
  await left.exited
  left.leave()
  const spared = await start(other, 'read x <hold')
  expect(groupIds('mine').sort()).toEqual([running.id, left.id].sort())
  expect(groupIds('nobody')).toEqual([])
  killGroupsOf('mine')
  expect(await running.exited).toEqual({ code: null, signal: 'SIGKILL' })
  await Promise.all([running.gone, left.gone])
  expect(groupIds('other')).toEqual([spared.id])
  spared.signalGroup('SIGTERM')
  expect(await spared.exited).toEqual({ code: null, signal: 'SIGTERM' })
})

test('a command that was on its way when its session was ended does not start', async () => {
  await using workspace = await holding()
  const script = 'echo ran >ran; read x <hold'
  const mine = start(ofSession(workspace, 'early'), script)
  const other = start(ofSession(workspace, 'other'), 'read x <hold')
  killGroupsOf('early')
  await expect(mine).rejects.toThrow('the tools of its session were ended')
  const { id } = await other
  expect(groupIds('early')).toEqual([])
  expect(groupIds('other')).toContain(id)
  const late = start(ofSession(workspace, 'early'), script)
  killAllGroups()
  await expect(late).rejects.toThrow('the tools of its session were ended')
  expect(readdirSync(workspace.root)).toEqual(['hold'])
  await (await start(ofSession(workspace, 'early'), 'true')).gone
})

test('who watches the groups hears of each before its start is answered, and of its end', async () => {
  await using workspace = await holding()
  const heard: (readonly number[])[] = []
  const leave = onGroupsChanged((ids) => heard.push(ids))
  const starting = start(workspace, 'read x <hold')
  const seen = starting.then(() => heard.length)
  const first = await starting
  expect(await seen).toBeGreaterThan(0)
  const second = await start(workspace, 'true')
  await second.exited
  await second.gone
  groupIds()
  // Groups of other tests may still be there: whom nobody waited for, the system takes away when it likes.
  const ours = heard.map((ids) => ids.filter((id) => id === first.id || id === second.id))
  expect(ours.filter((ids, index) => ids.join() !== ours[index - 1]?.join())).toEqual([[first.id], [first.id, second.id], [first.id]])
  leave()
  const count = heard.length
  first.signalGroup('SIGKILL')
  await first.gone
  expect(groupIds()).not.toContain(first.id)
  expect(heard).toHaveLength(count)
})

test("what is left in the background doesn't keep the runtime alive", async () => {
  await using workspace = await holding()
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
  await using workspace = await holding()
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
      sessionId: workspace.context.sessionId,
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
