// Owns what a suite's report says in numbers, and that a suite which proves nothing counts as a failure.

/** Vitest's JSON report. A file that broke before its first test is one failure. */
export function fromVitest(report) {
  const broken = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  )
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length,
    skipped: report.numPendingTests + report.numTodoTests,
  }
}

/** Pytest's JUnit report. */
export function fromJunit(xml) {
  const suite = /<testsuite\b[^>]*>/.exec(xml)?.[0]
  if (suite === undefined) return undefined
  const number = (name) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(suite)?.[1] ?? 0)
  const failed = number('failures') + number('errors')
  const skipped = number('skipped')
  return { passed: Math.max(0, number('tests') - failed - skipped), failed, skipped }
}

/** A script's last line. */
export function fromLastLine(line) {
  const match = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/.exec(line)
  return match ? { passed: Number(match[1]), failed: Number(match[2]), skipped: Number(match[3] ?? 0) } : undefined
}

/** A suite's verdict: `how` says how it ended when it did not end well. */
export function settle(counts, how) {
  if (counts === undefined) return { passed: 0, failed: 1, skipped: 0, note: how ?? 'gave no count' }
  if (counts.failed > 0) return counts
  if (how !== undefined) return { ...counts, failed: 1, note: how }
  if (counts.passed === 0) return { ...counts, failed: 1, note: 'ran no test' }
  return counts
}
