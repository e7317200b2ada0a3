// Owns how a script suite speaks: one line per check, and `N passed, N failed` as the last. Knows nothing of what is checked.
import assert from 'node:assert/strict'

let passed = 0
let failed = 0

/** Runs one check, which throws where it fails. @returns what it gave, undefined where it failed */
export async function check(name, prove) {
  try {
    const given = await prove()
    passed += 1
    console.log(`ok      ${name}`)
    return given
  } catch (error) {
    failed += 1
    const why = error instanceof Error ? error.message : String(error)
    console.log(`FAILED  ${name}\n        ${why.replaceAll('\n', '\n        ')}`)
    return undefined
  }
}

/** Fails, and shows what there is, where a list of faults has any. */
export const expectNone = (faults) => assert.deepEqual(faults, [])

/** Takes over the counts of a suite that ran inside this one. */
export function add(counts) {
  passed += counts.passed
  failed += counts.failed
}

/** Runs a whole suite, and says how it ended: what it throws is one failure more. */
export async function suite(body) {
  try {
    await body()
  } catch (error) {
    failed += 1
    console.log(`FAILED  ${error instanceof Error ? error.stack : error}`)
  }
  console.log(`${passed} passed, ${failed} failed`)
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1
}
