import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { repository } from '../checks/files.mjs'
import { examples, pasted } from './catalogue.mjs'
import { run } from './example-run.mjs'

const bash = (command, rest = {}) => run({ title: 'an example', command: ['bash', '-c', command], ...rest })

describe('a run of an example', () => {
  it('is good where the exit status, stdout, stderr and what is left are as they should be', async () => {
    const wanted = { status: 3, shows: /^one two\n$/, says: /^three$/m, env: { WORD: 'two' }, files: { 'word.txt': 'one' } }
    expect((await bash('echo "$(cat word.txt) $WORD"; echo three >&2; exit 3', wanted)).problem).toBeNull()
  })

  it.each([
    ['another exit status', 'exit 3', {}, /^ended with exit status 3, and not with exit status 0$/],
    ['a signal', 'kill -TERM $$', {}, /^ended with SIGTERM, and not with exit status 0$/],
    ['other words on stdout', 'echo no', { shows: /yes/ }, /^stdout does not match/],
    ['other words on stderr', 'echo yes', { says: /yes/ }, /^stderr does not match/],
    ['a file that is left', 'touch "$TMPDIR/mine"', {}, /^left files behind in TMPDIR: mine$/],
  ])('is bad with %s', async (_, command, wanted, problem) => {
    expect((await bash(command, wanted)).problem).toMatch(problem)
  })

  it('is bad where the program is missing', async () => {
    expect((await run({ title: 'an example', command: ['no-such-program'] })).problem).toMatch(/^could not start: .*ENOENT/)
  })

  it('keeps what an example said', async () => {
    expect((await bash('echo out; echo err >&2; exit 1')).output).toBe('out\nerr\n')
  })

  it.runIf(process.platform === 'linux')('is bad where a process is left, and ends it', async () => {
    const { problem } = await bash('sleep 600 >/dev/null 2>&1 &')
    const pid = /^left processes behind: (\d+) \(sleep 600\)$/.exec(problem)?.[1]
    expect(pid).toBeDefined()
    expect(isThere(pid)).toBe(false)
  })

  it('interrupts where it is told to', async () => {
    const trapped = { status: 7, shows: /^interrupted$/m }
    const { problem } = await run(
      {
        title: 'an example',
        command: ['bash', '-c', 'trap "echo interrupted; exit 7" INT; touch started; while :; do read -t 1 <> <(:); done'],
        ...trapped,
      },
      { interruptAt: 'started' },
    )
    expect(problem).toBeNull()
  })
})

describe('the catalogue', () => {
  const shown = examples.map(({ command }) => command.at(-1))

  it.each(['ts-sdk/examples', 'python-sdk/examples'])('holds every example in %s', (folder) => {
    const scripts = readdirSync(join(repository, folder)).filter((name) => /\.(mjs|py)$/.test(name) && !name.startsWith('scratch.'))
    const pair = /prompt.here.collect.there/
    const missing = scripts.filter((name) => !pair.test(name) && !shown.includes(join(repository, folder, name)))
    expect(missing).toEqual([])
  })

  it('takes from a README the scripts in both languages and the quiesce run', () => {
    expect(pasted(readFileSync(join(repository, 'README.md'), 'utf8')).map(({ title }) => title)).toEqual([
      'README: the script in TypeScript',
      'README: the script in Python',
      'README: quiesce run',
    ])
  })
})

/** A process that ended and is only waited for is not there. */
function isThere(pid) {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
