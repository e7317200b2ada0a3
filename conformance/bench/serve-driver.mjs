// Owns a driver's side of its line protocol: one JSON line in, `{op, ...params}`, one out, `{value}` or `{error}`.
import { onLine } from './processes.mjs'

/** Serves until stdin ends; then `operations.close` is called, and the process exits. */
export function serveDriver(operations) {
  onLine(process.stdin, async (line) => {
    const { op, ...params } = JSON.parse(line)
    const reply = await outcome(() => operations[op](params))
    process.stdout.write(`${JSON.stringify(reply)}\n`)
  })
  process.stdin.on('end', async () => {
    await operations.close()
    process.exit(0)
  })
}

async function outcome(work) {
  try {
    return { value: (await work()) ?? null }
  } catch (error) {
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

/** How long each of `count` calls takes, one after another, in milliseconds. */
export async function repeat(count, work) {
  const samples = []
  for (let index = 0; index < count; index += 1) {
    const begun = performance.now()
    await work(index)
    samples.push(performance.now() - begun)
  }
  return samples
}

/**
 * Runs of an old session, around its prompt `count`, and of a young one, around its prompt `early`: by turns, so that the load of
 * the machine is the same for both.
 */
export async function oldAndYoung(count, early, old, young) {
  await repeat(count - 10, old)
  await repeat(early - 10, young)
  const samples = { old: [], young: [] }
  for (let turn = 0; turn < 20; turn += 1) {
    samples.old.push(...(await repeat(1, old)))
    samples.young.push(...(await repeat(1, young)))
  }
  return samples
}
