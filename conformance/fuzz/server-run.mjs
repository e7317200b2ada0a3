// Owns one case against one connection: sends its bytes, gathers what comes back, and says what of it breaks the contract.
import { linesOf, ServerOracle } from './server-oracle.mjs'
import { ServerReader } from './server-reader.mjs'

/** A connection that says nothing more for so long hangs. */
const watchdogMs = 30_000
const pingId = 'the-ping-behind-everything'
const farewell = (initialized) => [
  ...(initialized
    ? []
    : [request('the-late-greeting', 'initialize', { protocol: { min: 1, max: 1 }, client: { name: 'fuzz', version: '0' } })]),
  request(pingId, 'server/ping', {}),
]
const request = (id, method, params) => `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`

/** The stream of a case, with a greeting where it had none and a ping behind it, each at the beginning of a line. */
function whole(parts, limits) {
  const bytes = Buffer.concat([...parts, Buffer.from('\n')])
  const oracle = new ServerOracle(limits)
  for (const line of linesOf(bytes)) oracle.line(line)
  return Buffer.concat([bytes, Buffer.from(farewell(oracle.phase !== 'new' && oracle.phase !== 'maybe').join(''))])
}

/**
 * Drives one connection through a case.
 * @param {{ connect(take: (text: string) => void): { write(chunk: Buffer): void, end(): Promise<unknown>, ended: Promise<unknown> } }} place
 * @param {{ parts: Buffer[], cuts: { at: number, rounds: number }[] }} sent
 * @param {{ maxFrameBytes: number, maxInFlight: number }} limits
 * @param {import('./tally.mjs').Tally} tally
 * @returns {Promise<{ problems: string[], stopping: boolean }>}
 */
export async function runCase(place, { parts, cuts }, limits, tally) {
  const bytes = whole(parts, limits)
  const oracle = new ServerOracle(limits)
  const lines = linesOf(bytes)
  const owed = lines.map((line) => oracle.line(line))
  const reader = new ServerReader(owed, tally)
  tally.frames += lines.length
  tally.merge('sent', oracle.kinds)
  const connection = place.connect((text) => reader.take(text))
  let start = 0
  for (const { at, rounds } of cuts) {
    connection.write(bytes.subarray(start, at))
    start = at
    for (let left = rounds; left > 0; left -= 1) await new Promise((resolve) => setImmediate(resolve))
  }
  connection.write(bytes.subarray(start))
  const over = oracle.stopping ? connection.ended : reader.answered
  if (!(await within(watchdogMs, over))) reader.problems.push('hang')
  if (!(await within(watchdogMs, connection.end()))) reader.problems.push('hang: the connection does not end')
  reader.settle()
  return { problems: reader.problems, stopping: oracle.stopping }
}

/** Whether `work` settled before the watchdog barked. */
async function within(ms, work) {
  let timer
  const barked = new Promise((resolve) => {
    timer = setTimeout(() => resolve(false), ms)
  })
  const inTime = await Promise.race([work.then(() => true), barked])
  clearTimeout(timer)
  return inTime
}
