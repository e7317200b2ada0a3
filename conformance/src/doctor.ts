// Owns the check of a driver before any case: does it start, speak the driver's protocol, offer what there is, and end?
import { DriverProcess, type DriverSpec } from './driver-process.ts'
import { operations } from './driver-steps.ts'

/** Prints what it finds; 0 where every driver is one, else 1. */
export async function doctor(specs: readonly DriverSpec[]): Promise<number> {
  let good = true
  for (const spec of specs) {
    const faults = await examine(spec)
    good &&= faults.length === 0
    process.stdout.write(
      `${faults.length === 0 ? 'ok   ' : 'FAIL '} ${spec.name}: ${spec.command.join(' ')}\n${faults.map((fault) => `      ${fault}\n`).join('')}`,
    )
  }
  return good ? 0 : 1
}

async function examine(spec: DriverSpec): Promise<string[]> {
  const driver = new DriverProcess(spec)
  const faults: string[] = []
  try {
    const hello = await limited(driver.hello(), 'hello')
    const known: readonly string[] = operations
    const unknown = hello.operations.filter((name) => !known.includes(name))
    if (unknown.length > 0) faults.push(`it offers operations that no case knows: ${unknown.join(', ')}`)
    const missing = known.filter((name) => !hello.operations.includes(name))
    process.stdout.write(
      `      ${spec.name} ${hello.version}: ${hello.operations.length} operations${missing.length > 0 ? `; cases that need one of these are unsupported: ${missing.join(', ')}` : ''}\n`,
    )
    const refused = await limited(driver.ask('no such operation', {}), 'an operation that there is not')
    if (!('error' in refused) || typeof refused.error.class !== 'string')
      faults.push('an operation that it has not must be answered with {error: {class, message}}')
    await limited(driver.ask('reset', {}), 'reset')
    await limited(driver.end(), 'the end of its stdin')
  } catch (error) {
    faults.push(error instanceof Error ? error.message : String(error))
  } finally {
    driver.kill()
  }
  if (faults.length > 0 && driver.stderr !== '') faults.push(`its stderr: ${driver.stderr.slice(-1_000)}`)
  return faults
}

/** A driver that says nothing has to be told apart from one that thinks. */
async function limited<T>(work: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer to ${what} in 15 seconds`)), 15_000)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
