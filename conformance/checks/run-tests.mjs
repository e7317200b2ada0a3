// Owns the run of every suite, one after another, and the count that ends it; knows nothing of what they test.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isMain, repository } from './files.mjs'
import { fromJunit, fromLastLine, fromVitest, settle } from './test-counts.mjs'

/** Suites that are scripts: each prints `N passed, N failed` as its last line. The command runs at the root of the repository. */
export const scriptSuites = [
  { name: 'examples', command: ['node', 'conformance/demo/examples.mjs'] },
  { name: 'shared store', command: ['node', 'conformance/shared-store/run.mjs'] },
  { name: 'crash', command: ['node', 'conformance/crash/crash.mjs'] },
  { name: 'node24', command: ['node', 'conformance/pack/node24.mjs'] },
  { name: 'pack', command: ['node', 'conformance/pack/pack.mjs'] },
]

/** A suite that is still running after this long has hung: it is killed, and counts as one failure. */
const longestRunMs = 15 * 60_000

function suites(scratch) {
  const vitestCounts = join(scratch, 'vitest.json')
  const junit = join(scratch, 'pytest.xml')
  return [
    {
      name: 'vitest',
      command: [
        'node',
        'node_modules/vitest/vitest.mjs',
        'run',
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${vitestCounts}`,
      ],
      count: () => existsSync(vitestCounts) && fromVitest(JSON.parse(readFileSync(vitestCounts, 'utf8'))),
    },
    {
      name: 'pytest',
      command: [join(repository, '.venv/bin/python'), '-m', 'pytest', `--junit-xml=${junit}`],
      cwd: join(repository, 'python-sdk'),
      count: () => existsSync(junit) && fromJunit(readFileSync(junit, 'utf8')),
    },
    ...scriptSuites.map((suite) => ({ ...suite, count: (lastLine) => fromLastLine(lastLine) })),
  ]
}

/** How long an interrupted suite may take to end what it started. */
const longestEndMs = 15_000

let running

function killGroup(child, signal) {
  try {
    process.kill(-child.pid, signal)
  } catch {
    // It ended in the meantime.
  }
}

/** Runs one suite in a process group of its own; its output is passed on line by line, its counts marked with its name. */
function execute({ name, command, cwd = repository }) {
  return new Promise((resolve) => {
    const [program, ...args] = command
    const child = spawn(program, args, { cwd, detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
    running = child
    let lastLine = ''
    let rest = ''
    let hung = false
    const pass = (line) => {
      if (line.trim() !== '') lastLine = line.trim()
      process.stdout.write(`${fromLastLine(line.trim()) ? `${name}: ` : ''}${line}\n`)
    }
    const watchdog = setTimeout(() => {
      hung = true
      killGroup(child, 'SIGKILL')
    }, longestRunMs)
    child.stdout.setEncoding('utf8')
    child.stdout.on('data', (chunk) => {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop()
      for (const line of lines) pass(line)
    })
    const end = (how) => {
      clearTimeout(watchdog)
      running = undefined
      if (rest !== '') pass(rest)
      rest = ''
      resolve({ lastLine, how: hung ? `hung for ${longestRunMs / 60_000} minutes` : how })
    }
    child.on('error', (error) => end(`could not start: ${error.message}`))
    child.on('close', (code, signal) => end(code === 0 ? undefined : (signal ?? `exit ${code}`)))
  })
}

function counted(suite, lastLine) {
  try {
    return suite.count(lastLine) || undefined
  } catch {
    return undefined
  }
}

async function main() {
  const scratch = mkdtempSync(join(tmpdir(), 'quiesce-tests-'))
  const results = []
  try {
    for (const suite of suites(scratch)) {
      console.log(`\n== ${suite.name}`)
      const { lastLine, how } = await execute(suite)
      results.push({ name: suite.name, ...settle(counted(suite, lastLine), how) })
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
  console.log('\n== counts')
  for (const { name, passed, failed, skipped, note } of results) {
    console.log(`${name}: ${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}${note ? ` (${note})` : ''}`)
  }
  const total = (key) => results.reduce((sum, result) => sum + result[key], 0)
  console.log(`\n${total('passed')} passed, ${total('failed')} failed`)
  process.exitCode = total('failed') === 0 ? 0 : 1
}

if (isMain(import.meta.url)) {
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.on(signal, () => {
      if (!running) process.exit(130)
      killGroup(running, 'SIGTERM') // a suite may have processes and files of its own to end
      running.once('exit', () => process.exit(130))
      setTimeout(() => killGroup(running, 'SIGKILL'), longestEndMs).unref()
    })
  }
  await main()
}
