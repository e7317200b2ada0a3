// Owns `make bench`: what is measured, in which order, and how it is told. Fails only where something doesn't work, never on times.
import { writeFileSync } from 'node:fs'
import { availableParallelism, constants, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { isMain } from '../checks/files.mjs'
import { answer, burst, frames, long, tool, warm } from './measures.mjs'
import { Place } from './place.mjs'
import { cold, memory, syncs } from './process-measures.mjs'
import { endAll, killAll, stop } from './processes.mjs'
import { tableOf } from './table.mjs'

const measures = { warm, answer, burst, tool, cold, memory, long, frames, syncs }
const stopGraceMs = 3000
const names = Object.keys(measures).join(', ')

const help = `usage: node conformance/bench/bench.mjs [options]

  --only NAME      measure this alone; may be given again: ${names}
  --rounds N       rounds of each contest (default 5; with --quick 3)
  --quick          fewer rounds and shorter ones
  --json FILE      write every figure there
  --runtime FILE   measure this runtime (default: the repository's)
`

export function optionsFrom(args) {
  const text = { type: 'string' }
  const options = { only: { ...text, multiple: true }, rounds: text, quick: { type: 'boolean' }, json: text, runtime: text }
  const { values } = parseArgs({ args, options: { ...options, help: { type: 'boolean', short: 'h' } } })
  const only = values.only ?? Object.keys(measures)
  for (const name of only) if (!Object.hasOwn(measures, name)) throw new Error(`--only ${name}: expected one of ${names}`)
  const rounds = Number(values.rounds ?? (values.quick ? 3 : 5))
  if (!Number.isSafeInteger(rounds) || rounds < 1) throw new Error(`--rounds ${values.rounds}: expected a whole number from 1`)
  return { ...values, only, rounds, quick: values.quick ?? false }
}

async function run({ only, rounds, quick, json, runtime }) {
  const place = new Place(runtime)
  const stopped = stopOnSignals(place)
  const loads = [loadavg()[0]]
  const begun = performance.now()
  const rows = []
  let broken = 0
  try {
    place.check()
    await place.startModel()
    for (const name of only) {
      if (stopped()) break
      process.stderr.write(`${name} … `)
      const since = performance.now()
      const found = await measures[name]({ place, rounds, quick }).catch((error) => {
        broken += 1
        if (!stopped()) process.stderr.write(`failed: ${error.message}\n`)
        return [{ what: name, error: error.message }]
      })
      rows.push(...found.map((row) => ({ measure: name, ...row })))
      process.stderr.write(`${((performance.now() - since) / 1000).toFixed(0)} s\n`)
    }
  } finally {
    await endAll()
    place.remove()
  }
  if (stopped()) return process.exitCode
  loads.push(loadavg()[0])
  const seconds = (performance.now() - begun) / 1000
  const circumstances = { node: process.version, cores: availableParallelism(), fileSystem: place.fileSystem, loads, rounds, seconds }
  process.stdout.write(`\n${tableOf(rows, circumstances)}\n`)
  if (json !== undefined) writeFileSync(json, `${JSON.stringify({ time: Date.now(), ...circumstances, rows }, null, 2)}\n`)
  return broken === 0 ? 0 : 1
}

/** Nothing is left behind when it is stopped in the middle; at the second signal it doesn't wait. Gives whether it was stopped. */
function stopOnSignals(place) {
  let signals = 0
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, async () => {
      signals += 1
      process.exitCode = 128 + constants.signals[signal]
      if (signals === 1) await stop(stopGraceMs)
      killAll()
      place.remove()
      process.exit()
    })
  }
  return () => signals > 0
}

async function main(args) {
  try {
    if (args.includes('--help') || args.includes('-h')) {
      process.stdout.write(help)
      return 0
    }
    return await run(optionsFrom(args))
  } catch (error) {
    process.stderr.write(`bench: ${error.message}\n`)
    return error.code?.startsWith('ERR_PARSE_ARGS') || error.message.startsWith('--') ? 2 : 1
  }
}

if (isMain(import.meta.url)) process.exitCode = await main(process.argv.slice(2))
