// Owns what is measured of whole processes: cold starts, memory, the syncs of a prompt.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { end, start, timed } from './processes.mjs'
import { contest, median } from './statistics.mjs'

const MB = 1e6
const row = (what, value, unit, ratios = {}, bound) => ({ what, value, unit, ratios, ...(bound === undefined ? {} : { bound }) })

export async function cold({ place, rounds }) {
  const node = process.execPath
  const store = () => ({ QUIESCE_RUNTIME: place.runtime, QUIESCE_STORE: place.newStore() })
  const commands = {
    node: { command: [node, '-e', '0'], silent: true },
    python: { command: [place.python, '-c', '0'], silent: true },
    floor: { command: [node, place.script('cold-floor.mjs'), ...place.floor('http').slice(1)] },
    run: { command: [place.runtime, 'run', '--model', 'scripted/demo', 'hello'], env: store() },
    typescript: { command: [node, place.script('cold-sdk.mjs')], env: store() },
    'python-sdk': { command: [place.python, place.script('cold_sdk.py')], env: store() },
  }
  const contestants = {}
  for (const [name, { command, env, silent }] of Object.entries(commands)) {
    const once = async () => {
      const { ms, stdout } = await timed(command, { env: place.env(env), cwd: place.workspace })
      if (!silent && stdout.trim() === '') throw new Error(`${command.join(' ')} printed no answer`)
      return ms
    }
    await once() // makes its store, and fills the caches
    contestants[name] = async () => [await once()]
  }
  const found = await contest(rounds, contestants)
  const N0 = found.node.value
  const inN0 = (what, { value, rounds }, most) => ({
    ...row(what, value, 'ms', { N0: value / N0 }, most === undefined ? undefined : { of: 'N0', most }),
    rounds,
  })
  return [
    { ...row('N0: node -e 0', N0, 'ms'), rounds: found.node.rounds },
    inN0('python -c 0', found.python),
    inN0('cold, one prompt, the floor', found.floor),
    inN0('cold, quiesce run with scripted/demo', found.run, 4),
    inN0('cold, a script with the TypeScript SDK', found.typescript),
    inN0('cold, a script with the Python SDK', found['python-sdk']),
  ]
}

export async function memory({ place, quick }) {
  if (process.platform !== 'linux') return [{ what: 'memory', note: 'not measured: it needs /proc' }]
  const count = quick ? 200 : 1000
  const found = {}
  for (const kind of ['R', 'wire']) {
    const driver = await place.newDriver(kind)
    await driver.ask('sessions', { count: 1 })
    const one = await driver.ask('memory')
    await driver.ask('sessions', { count })
    const many = await driver.ask('memory')
    await driver.close()
    found[kind] = { one, each: (many - one) / count }
  }
  const { R, wire } = found
  return [
    row('memory with one session, the floor', R.one / MB, 'MB'),
    row('memory with one session', wire.one / MB, 'MB', { floor: wire.one / R.one }),
    row(`one session more (of ${count}), the floor`, R.each / MB, 'MB'),
    row(`one session more (of ${count})`, wire.each / MB, 'MB', { floor: wire.each / R.each }),
  ]
}

/** Counts with strace, where there is one, what the runtime and its threads sync between a prompt and its idle. */
export async function syncs({ place, quick }) {
  const what = 'syncs of a plain prompt, checkpoints apart'
  if (!(await hasStrace(place))) return [{ what, note: 'not counted: strace is not installed here (apt-get install strace)' }]
  const trace = join(place.directory, 'syncs.txt')
  const { command, env } = place.serve()
  const traced = ['strace', '-f', '-y', '-o', trace, '-e', 'trace=fsync,fdatasync,sync_file_range,msync', ...command]
  const driver = await place.driveServer('the runtime under strace', { command: traced, env })
  const counts = []
  await driver.ask('once')
  for (let index = 0; index < (quick ? 5 : 15); index += 1) {
    const before = syncsIn(trace)
    await driver.ask('once')
    const after = syncsIn(trace)
    counts.push({ log: after.log - before.log, other: after.other - before.other })
  }
  await driver.close()
  const log = median(counts.map(({ log }) => log))
  const checkpoints = counts.filter(({ other }) => other > 0).length
  return [{ ...row(what, log, '', {}, { most: 2 }), note: `${checkpoints} of ${counts.length} prompts met a checkpoint`, rounds: counts }]
}

async function hasStrace(place) {
  const probe = start(['strace', '-o', '/dev/null', 'true'], { env: place.env(), stdio: 'ignore' })
  const code = await new Promise((resolve) => {
    probe.once('error', () => resolve(null))
    probe.once('close', resolve)
  })
  await end(probe)
  return code === 0
}

/** Those of the write-ahead log are commits; those of the file itself belong to a checkpoint. A call counts where it begins. */
function syncsIn(trace) {
  const lines = readFileSync(trace, 'utf8').split('\n')
  const begun = lines.filter((line) => /\b(fsync|fdatasync|sync_file_range|msync)\(/.test(line))
  const log = begun.filter((line) => line.includes('-wal>')).length
  return { log, other: begun.length - log }
}
