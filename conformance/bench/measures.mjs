// Owns what is measured while processes are warm. Each measure gives rows: what, a figure with its unit, ratios, a sanity bound.
import { join } from 'node:path'
import { contest, median } from './statistics.mjs'

const MIB = 1024 * 1024

/** `ratios` name what the figure is a multiple of; `bound` is the most that one of them may be, by its name. */
const row = (what, value, unit, ratios = {}, bound) => ({ what, value, unit, ratios, ...(bound === undefined ? {} : { bound }) })

/** None for the floor itself. */
const inUnits = (of, value, floor, kind) => (kind === 'R' ? {} : { [of]: value / floor })

/** The units of everything else, and whole runs of every contestant. */
export async function warm({ place, rounds, quick }) {
  const count = quick ? 10 : 40
  const wire = await place.driver('wire')
  const contestants = {}
  for (const kind of ['R', 'R2', 'wire', 'typescript', 'python', 'python-sync']) {
    const driver = await place.driver(kind)
    contestants[kind] = () => driver.ask('warm', { count })
  }
  const { R, R2, P, F, M, ...ours } = await contest(rounds, {
    ...contestants,
    P: () => wire.ask('ping', { count: 100 }),
    F: () => wire.ask('sync', { path: join(place.directory, 'sync'), count: 50 }),
    M: () => wire.ask('model', { baseURL: place.baseURL, count: 50 }),
  })
  const names = { wire: 'plain JSON-RPC', typescript: 'TypeScript SDK', python: 'Python SDK', 'python-sync': 'Python SDK, sync' }
  const runs = Object.entries(ours).map(([kind, { value, rounds }]) => ({
    ...row(`warm run(), ${names[kind]}`, value, 'ms', { 'R₂': value / R2.value, R: value / R.value }, { of: 'R₂', most: 3 }),
    rounds,
  }))
  return [
    row('P: a ping of the runtime', P.value, 'ms'),
    row('F: an append of 200 bytes with fdatasync', F.value, 'ms'),
    row('M: a round trip to the model', M.value, 'ms'),
    { ...row('R: the floor', R.value, 'ms'), rounds: R.rounds },
    { ...row("R₂: the floor, by the vendor's package", R2.value, 'ms', { R: R2.value / R.value }), rounds: R2.rounds },
    ...runs,
  ]
}

export async function answer({ place, rounds, quick }) {
  const count = quick ? 10 : 40
  const [floor, wire] = [await place.driver('R'), await place.driver('wire')]
  const found = await contest(rounds, { floor: () => floor.ask('answer', { count }), wire: () => wire.ask('answer', { count }) })
  return [
    row('answer to a prompt, the floor', found.floor.value, 'ms'),
    row('answer to a prompt', found.wire.value, 'ms', { floor: found.wire.value / found.floor.value }),
  ]
}

export async function burst({ place, rounds, quick }) {
  const sessions = 16
  const contestants = {}
  for (const kind of ['R', 'R2', 'wire', 'typescript', 'python']) {
    const driver = await place.driver(kind)
    contestants[kind] = () => driver.ask('burst', { sessions, count: quick ? 2 : 5 })
  }
  const found = await contest(rounds, contestants)
  const perSecond = ({ value }) => (sessions * 1000) / value
  const names = { R: 'R', R2: 'R₂', wire: 'plain JSON-RPC', typescript: 'TypeScript SDK', python: 'Python SDK' }
  return Object.entries(found).map(([kind, figure]) =>
    row(
      `${sessions} sessions prompted at once, ${names[kind]}`,
      perSecond(figure),
      'runs/s',
      inUnits('R', perSecond(figure), perSecond(found.R), kind),
    ),
  )
}

export async function tool({ place, rounds, quick }) {
  const count = quick ? 5 : 15
  const wire = await place.driver('wire')
  const found = await contest(rounds, {
    spawn: () => wire.ask('spawn', { count }),
    plain: () => wire.ask('warm', { count }),
    tool: () => wire.ask('warm', { count, model: 'openai-compatible/instant-tool' }),
  })
  const more = found.tool.value - found.plain.value
  return [
    row("a shell's start and end", found.spawn.value, 'ms'),
    row('one tool call more (shell)', more, 'ms', { spawn: more / found.spawn.value }),
  ]
}

/** One long session each, then its whole history to one subscriber. */
export async function long({ place, rounds, quick }) {
  const count = quick ? 200 : 1000
  const store = place.newStore()
  const drivers = { R: await place.newDriver('R'), typescript: await place.newDriver('typescript', store) }
  const rows = []
  const sessions = {}
  const names = { R: 'the floor', typescript: 'TypeScript SDK' }
  for (const [kind, driver] of Object.entries(drivers)) {
    await driver.ask('warm', { count: 50 }) // or prompt 20 would be slow for want of warmth
    const { sessionId, old, young } = await driver.ask('long', { count, early: 20 })
    sessions[kind] = sessionId
    rows.push(row(`prompt ${count} against prompt 20, ${names[kind]}`, median(old), 'ms', { 'prompt 20': median(old) / median(young) }))
  }
  const readers = { wire: await place.newDriver('wire', store), python: await place.newDriver('python', store) }
  const perSecond = {}
  const history = (kind, driver) => async () => {
    const { events, ms } = await driver.ask('history', { sessionId: sessions[kind] ?? sessions.typescript })
    return [events / (ms / 1000)]
  }
  const all = { ...drivers, ...readers }
  for (const [kind, driver] of Object.entries(all)) perSecond[kind] = history(kind, driver)
  const found = await contest(rounds, perSecond)
  for (const driver of Object.values(all)) await driver.close()
  const readerNames = { R: 'the floor', wire: 'plain JSON-RPC', typescript: 'TypeScript SDK', python: 'Python SDK' }
  for (const [kind, { value }] of Object.entries(found))
    rows.push(row(`history to one subscriber, ${readerNames[kind]}`, value, 'facts/s', inUnits('floor', value, found.R.value, kind)))
  return rows
}

export async function frames({ place, rounds, quick }) {
  const wire = await place.newDriver('wire')
  const [typescript, python] = [await place.driver('typescript'), await place.driver('python')]
  const count = quick ? 1 : 2
  const sizes = { small: MIB, large: 16 * MIB }
  const contestants = {}
  for (const [size, bytes] of Object.entries(sizes)) {
    contestants[`ping ${size}`] = () => wire.ask('frame', { bytes, count })
    contestants[`message ${size}`] = () => wire.ask('message', { bytes, count })
    contestants[`typescript ${size}`] = () => typescript.ask('framing', { bytes, count: 3 })
    contestants[`python ${size}`] = () => python.ask('framing', { bytes, count: 3 })
  }
  const found = await contest(Math.min(rounds, 5), contestants)
  await wire.close()
  const names = {
    ping: 'a ping of 16 MiB to the runtime',
    message: 'a message of 16 MiB to the runtime, durable',
    typescript: 'a frame of 16 MiB in the TypeScript SDK',
    python: 'a frame of 16 MiB in the Python SDK',
  }
  return Object.entries(names).map(([kind, what]) => {
    const large = found[`${kind} large`].value
    return row(what, large, 'ms', { '1 MiB': large / found[`${kind} small`].value }, { of: '1 MiB', most: 20 })
  })
}
