// Proves that no suite passes by proving nothing.
import { expect, test } from 'vitest'
import { fromJunit, fromLastLine, fromVitest, settle } from './test-counts.mjs'

test('vitest: a file that broke before its first test is a failure', () => {
  const report = {
    numPassedTests: 3,
    numFailedTests: 1,
    numPendingTests: 1,
    numTodoTests: 0,
    testResults: [
      { status: 'passed', assertionResults: [{ status: 'passed' }] },
      { status: 'failed', assertionResults: [{ status: 'failed' }] },
      { status: 'failed', assertionResults: [] },
    ],
  }
  expect(fromVitest(report)).toEqual({ passed: 3, failed: 2, skipped: 1 })
})

test('pytest: errors are failures, and skips are no passes', () => {
  const xml = '<?xml version="1.0"?><testsuites><testsuite name="pytest" errors="1" failures="2" skipped="3" tests="10" time="0.1">'
  expect(fromJunit(xml)).toEqual({ passed: 4, failed: 3, skipped: 3 })
  expect(fromJunit('')).toBeUndefined()
})

test('script: only the exact last line counts', () => {
  expect(fromLastLine('12 passed, 1 failed')).toEqual({ passed: 12, failed: 1, skipped: 0 })
  expect(fromLastLine('12 passed, 0 failed, 3 skipped')).toEqual({ passed: 12, failed: 0, skipped: 3 })
  expect(fromLastLine('12 passed, 0 failed, and 3 skipped')).toBeUndefined()
  expect(fromLastLine('all 12 passed, 1 failed')).toBeUndefined()
  expect(fromLastLine('')).toBeUndefined()
})

test.each([
  ['gives no count', undefined, undefined, 'gave no count'],
  ['crashes before it counts', undefined, 'SIGSEGV', 'SIGSEGV'],
  ['crashes after it passed', { passed: 5, failed: 0, skipped: 0 }, 'exit 1', 'exit 1'],
  ['runs no test', { passed: 0, failed: 0, skipped: 4 }, undefined, 'ran no test'],
])('a suite that %s has failed', (_, counts, how, note) => {
  expect(settle(counts, how)).toMatchObject({ failed: 1, note })
})

test('a suite that passed has passed', () => {
  const counts = { passed: 5, failed: 0, skipped: 1 }
  expect(settle(counts, undefined)).toEqual(counts)
})
