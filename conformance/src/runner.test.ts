import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'

const bin = fileURLToPath(new URL('../bin/conformance.mjs', import.meta.url))
const driver = fileURLToPath(new URL('../fixtures/odd-driver.mjs', import.meta.url))
const python = fileURLToPath(new URL('../../.venv/bin/python', import.meta.url))
const home = mkdtempSync(join(tmpdir(), 'conformance-runner-'))
afterAll(() => rmSync(home, { recursive: true }))

/** Where a test works; the runner's own temporary files are in `tmp`. */
let place = ''
let running: ChildProcess | undefined
beforeEach(() => {
  place = mkdtempSync(join(home, 'test-'))
  for (const folder of ['tmp', 'cases/area']) mkdirSync(join(place, folder), { recursive: true })
  aCase('one')
})
afterEach(() => running?.kill('SIGKILL'))

function aCase(name: string, more = 'steps: [{ models: { as: a } }]\nexpect: { a.result: { models: [] } }', layer = 'L2'): void {
  const text = `id: area/${name}\ntitle: What the models are, asked of nobody.\ncovers: [RUN-1]\nlayer: ${layer}\n${more}\n`
  writeFileSync(join(place, `cases/area/${name}.yaml`), text)
}

function driverFile(how: string, expected = ''): string {
  const command = JSON.stringify(['node', driver, how, join(place, 'asked')])
  writeFileSync(join(place, 'driver.yaml'), `name: odd\ncommand: ${command}\n`)
  if (expected !== '') writeFileSync(join(place, 'expected-failures.yaml'), expected)
  return join(place, 'driver.yaml')
}

interface Ended {
  status: number | null
  out: string
  err: string
}

function start(args: readonly string[]): { child: ChildProcess; ended: Promise<Ended> } {
  const given = ['--cases', join(place, 'cases'), '--keep', join(place, 'kept'), '--jobs', '1']
  const child = spawn(process.execPath, [bin, ...args, ...given], { cwd: place, env: { ...process.env, TMPDIR: join(place, 'tmp') } })
  running = child
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  return { child, ended: new Promise((resolve) => child.once('close', (status) => resolve({ status, out, err }))) }
}

const run = (how: string, ...more: string[]): Promise<Ended> => start(['run', '--driver', driverFile(how), ...more]).ended
const lastLine = ({ out }: Ended) => out.trimEnd().split('\n').at(-1)

describe('the verdict', () => {
  it.each([
    ['right', 'ok     area/one', '1 passed, 0 failed', 0],
    ['refuses', 'FAIL   area/one', '0 passed, 1 failed', 1],
    ['hangs', 'HANG   area/one', '0 passed, 1 failed', 1],
    ['never-resets', 'HANG   area/one', '0 passed, 1 failed', 1],
    ['crashes', 'CRASH  area/one', '0 passed, 1 failed', 1],
    ['offers-nothing', '–      area/one', '0 passed, 0 failed, 1 skipped', 0],
  ])('of a driver that is, or does: %s', async (how, line, count, status) => {
    // A driver that is right has time; one that hangs needs none.
    const watchdog = how === 'hangs' || how === 'never-resets' ? '700' : '30000'
    const ended = await run(how, '--watchdog', watchdog)
    expect(ended).toMatchObject({ out: expect.stringContaining(line), status })
    expect(lastLine(ended)).toBe(count)
    expect(readdirSync(join(place, 'tmp'))).toEqual([])
  })

  it.each(['says-nothing', 'says-nonsense', 'of-tomorrow'])('of no driver: one that %s is the end of the run, with a word', async (how) => {
    const { status, err } = await run(how, '--watchdog', '700')
    expect({ status, err }).toEqual({ status: 2, err: expect.stringMatching(/driver odd gave no right answer to hello/) })
  })

  it('of a case that is none: an error of the suite, with the place', async () => {
    aCase('bad', 'steps: [{ models: {} }]\nexpct: {}')
    const { status, err } = await run('right')
    expect({ status, err }).toEqual({ status: 2, err: expect.stringMatching(/area\/bad.yaml.*must NOT have additional properties.*expct/) })
  })

  it('of a case with a step that nobody knows: an error of the suite, and the others go on', async () => {
    aCase('another', 'steps: [{ fly: {} }]')
    const ended = await run('right')
    expect(ended.out).toMatch(/ERROR {2}area\/another[^\n]*\n.*L2 has no step fly; there are /)
    expect([ended.status, lastLine(ended)]).toEqual([2, '1 passed, 1 failed'])
  })
})

describe('a driver', () => {
  it.each([
    ['right', 0, /odd 1: 5 operations; cases that need one of these are unsupported: close, .*\nok {4}odd: node/],
    ['does-anything', 1, /FAIL {2}odd: .*\n.*an operation that it has not must be answered with \{error/],
    ['of-tomorrow', 1, /FAIL {2}odd: .*\n.*hello must answer \{protocol: 1, /],
  ])('is looked at by the doctor: one that is, or does: %s', async (how, status, said) => {
    const ended = await start(['doctor', '--driver', driverFile(how)]).ended
    expect(ended).toMatchObject({ status, out: expect.stringMatching(said) })
  })

  it('that cannot run here is skipped, and the reason is said', async () => {
    const file = driverFile('right')
    writeFileSync(file, `${readFileSync(file, 'utf8')}needs: [node, -e, "throw 'no such thing here'"]\n`)
    const alone = await start(['run', '--driver', file]).ended
    expect(alone.out).toMatch(/^SKIP {3}every case of driver odd, which can't run here: node -e throw 'no such thing here' fails/)
    expect(alone).toMatchObject({ status: 2, err: expect.stringMatching(/nothing ran/) })
    expect(await start(['doctor', '--driver', file]).ended).toMatchObject({
      status: 1,
      out: expect.stringMatching(/^FAIL {2}odd: it can't run here/),
    })
  })
})

describe('an expected failure', () => {
  const entry = (verdict: string, of = 'area/one') => `- { case: ${of}, verdict: ${verdict}, reason: it is known for long }\n`

  it.each([
    ['that came so is none', 'refuses', entry('fail'), 0, /expected: it is known for long|0 passed, 0 failed, 1 skipped/],
    ['that passes is a fault', 'right', entry('fail'), 1, /FAULT {2}odd: area\/one is expected to fail, and came as pass/],
    ['that comes otherwise is a fault', 'crashes', entry('fail'), 1, /FAULT {2}odd: area\/one is expected to fail, and came as crash/],
    ['of no case is a fault', 'right', entry('fail', 'area/none'), 1, /FAULT {2}odd: an expected failure names area\/none/],
    ['without a reason is an error', 'right', '- { case: area/one }', 2, /needs a `case` and a `reason`/],
    ['of no verdict is an error', 'right', entry('explode'), 2, /verdict "explode".*fail, hang, crash/],
  ])('%s', async (_, how, expected, status, said) => {
    const ended = await start(['run', '--driver', driverFile(how, expected)]).ended
    expect(ended.out + ended.err).toMatch(said)
    expect(ended.status).toBe(status)
  })
})

describe('what a run says', () => {
  it('goes to files: XML that can be parsed, JSON, a table, and the transcript of a failure', async () => {
    aCase('two')
    const [junit, json, table] = ['j.xml', 'j.json', 't.md'].map((name) => join(place, 'files', name))
    const { out } = await run('refuses', '--junit', junit!, '--json', json!, '--markdown', table!)
    const script =
      'import sys, xml.etree.ElementTree as t; s = t.parse(sys.argv[1]).getroot()[0]; print(s.get("tests"), s.get("failures"), len(s.findall("testcase/failure")))'
    expect(execFileSync(python, ['-c', script, junit!], { encoding: 'utf8' }).trim()).toBe('2 2 2')
    expect(JSON.parse(readFileSync(json!, 'utf8'))).toMatchObject([
      { caseId: 'area/one', verdict: 'fail', subject: 'odd' },
      { caseId: 'area/two' },
    ])
    expect(readFileSync(table!, 'utf8')).toContain('| RUN-1 | FAIL |')
    expect(readFileSync(join(place, 'kept/area-one-odd.txt'), 'utf8')).toMatch(/== transcript\n(.*\n)*.*models/)
    expect(out).toContain(`again: conformance run --only area/one --driver ${join(place, 'driver.yaml')}`)
  })

  it('is in an order that the seed fixes', async () => {
    for (const name of ['two', 'three', 'four', 'five', 'six', 'seven']) aCase(name)
    const orderOf = async (seed: string) => {
      const { out } = await run('offers-nothing', '--shuffle', seed)
      return [...out.matchAll(/^– +(\S+)/gm)].map(([, id]) => id)
    }
    const [first, again, other] = await Promise.all([orderOf('7'), orderOf('7'), orderOf('8')])
    expect(first).toHaveLength(7)
    expect(again).toEqual(first)
    expect(other).not.toEqual(first)
    expect([...other].sort()).toEqual([...first].sort())
  })

  it('is as often and of as many as it was asked for', async () => {
    aCase('two')
    aCase('raw', 'steps: [{ fence: }]', 'L1')
    expect(lastLine(await run('right', '--only', 'area/two', '--repeat', '3'))).toBe('3 passed, 0 failed')
    expect(lastLine(await run('right', '--layer', 'L2'))).toBe('2 passed, 0 failed')
    const { out } = await start(['list', '--layer', 'L1']).ended
    expect(out).toMatch(/^L1 area\/raw \(RUN-1\)\n.*\n1 cases\n$/)
  })

  it.each([
    [['run', '--only', 'area/none'], /--only area\/none: no case is called so/],
    [['run', '--layer', 'L9'], /--layer L9: there are L0/],
    [['run', '--repeat', '0'], /--repeat 0: expected a whole number, at least 1/],
    [['run', '--driver', './none.yaml'], /--driver .\/none.yaml: there is no/],
    [['run', '--fast'], /fast/],
    [['walk'], /walk is no command; there are run, list, doctor, mutants/],
  ])('is an error of usage where it is called wrongly: %j', async (args, said) => {
    const { status, err } = await start(args).ended
    expect({ status, err }).toEqual({ status: 2, err: expect.stringMatching(said) })
  })

  it.runIf(existsSync('/usr/bin/script'))('is one line on a terminal, and what did not pass', async () => {
    for (const name of ['two', 'three']) aCase(name)
    aCase('four', 'steps: [{ run: {} }]')
    const command = [process.execPath, bin, 'run', '--driver', driverFile('right'), '--cases', join(place, 'cases'), '--jobs', '1'].join(
      ' ',
    )
    const out = execFileSync('/usr/bin/script', ['-qec', command, '/dev/null'], {
      encoding: 'utf8',
      cwd: place,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    expect(out).toContain('\r\x1B[K4/4 area/two')
    expect(out).not.toContain('ok     area/two')
    expect(out).toContain('–      area/four')
    expect(out.trimEnd().split(/\r?\n/).at(-1)).toBe('3 passed, 0 failed, 1 skipped')
  })
})

describe('a run that is interrupted', () => {
  /** Once a file is there: its text. */
  async function written(path: string): Promise<string> {
    const watcher = watch(place)
    try {
      const text = () => (existsSync(path) ? readFileSync(path, 'utf8').trim() : '')
      while (text() === '') await new Promise((resolve) => watcher.once('change', resolve))
      return text()
    } finally {
      watcher.close()
    }
  }
  const isAlive = (pid: string): boolean => {
    try {
      return process.kill(Number(pid), 0)
    } catch {
      return false
    }
  }
  /** The system may need a moment to take a killed process away; a process that lives on never goes. */
  const gone = async (pid: string) => {
    while (isAlive(pid)) await new Promise((resolve) => setImmediate(resolve))
  }

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('by %s leaves no process of a driver and no file', async (signal, status) => {
    const { child, ended } = start(['run', '--driver', driverFile('hangs')])
    const pid = await written(join(place, 'asked'))
    child.kill(signal)
    expect((await ended).status).toBe(status)
    await gone(pid)
    expect(readdirSync(join(place, 'tmp'))).toEqual([])
  })

  it('leaves no server', async () => {
    aCase('raw', 'steps: [{ fence: }]', 'L1')
    const { child, ended } = start([
      'run',
      '--only',
      'area/raw',
      '--driver',
      driverFile('right'),
      '--server',
      `sh -c 'echo $$ > ${place}/asked; exec sleep 1000'`,
    ])
    const pid = await written(join(place, 'asked'))
    child.kill('SIGINT')
    expect((await ended).status).toBe(130)
    await gone(pid)
    expect(readdirSync(join(place, 'tmp'))).toEqual([])
  })
})
