import { describe, expect, it } from 'vitest'
import { deferred } from './deferred.ts'
import { openLogger, type WriteEntry } from './logger.ts'

function recorder() {
  const entries: Parameters<WriteEntry>[] = []
  const write: WriteEntry = (...entry) => entries.push(entry)
  let loads = 0
  const gate = deferred()
  const load = async () => {
    loads += 1
    await gate.promise
    return write
  }
  return { entries, load, open: gate.resolve, loads: () => loads }
}

describe('the logger', () => {
  it('loads nothing while there is nothing to write', async () => {
    const { load, loads } = recorder()
    const logger = openLogger('warn', load)
    logger.log('info', 'not this')
    logger.log('debug', 'nor this')
    openLogger('silent', load).log('error', 'nor this')
    await logger.flush()
    expect(loads()).toBe(0)
  })

  it('loads once, and writes in order what came while it loaded', async () => {
    const { entries, load, open, loads } = recorder()
    const logger = openLogger('info', load)
    logger.log('info', 'one', { n: 1 })
    logger.log('error', 'two')
    open()
    await logger.flush()
    logger.log('warn', 'three')
    expect(loads()).toBe(1)
    expect(entries).toEqual([
      ['info', { n: 1 }, 'one'],
      ['error', {}, 'two'],
      ['warn', {}, 'three'],
    ])
  })

  it('FR-7: reports a fault with its stack, and nothing that hangs on it', async () => {
    const { entries, load, open } = recorder()
    const logger = openLogger('warn', load)
    const fault = Object.assign(new Error('refused', { cause: new Error('upstream') }), {
      code: 'E_MODEL',
      requestBodyValues: { prompt: 'private' },
      responseHeaders: { authorization: 'Bearer sk-123' },
    })
    open()
    logger.report('a request failed', fault)
    logger.report('another', 'just text')
    await logger.flush()
    expect(entries[0]).toEqual([
      'error',
      { error: 'refused', code: 'E_MODEL', cause: 'Error: upstream', stack: fault.stack },
      'a request failed',
    ])
    expect(entries[1]).toEqual(['error', { error: 'just text' }, 'another'])
    expect(JSON.stringify(entries)).not.toMatch(/sk-123|private/)
  })

  it('reports a refusal without a stack, and one that comes again and again once a minute, with how often it came', async () => {
    const { entries, load, open } = recorder()
    let now = 0
    const logger = openLogger('warn', load, () => now)
    open()
    const refusal = () => Object.assign(new Error('the disk is full'), { name: 'Refusal', code: 'storage_unavailable' })
    for (let second = 0; second < 130; second += 2) {
      now = second * 1000
      logger.report('leases could not be renewed', refusal())
    }
    logger.report('leases could not be renewed', new Error('another'))
    logger.report('something else', refusal())
    await logger.flush()
    const fields = { error: 'the disk is full', code: 'storage_unavailable' }
    expect(entries.slice(0, 3)).toEqual([
      ['error', fields, 'leases could not be renewed'],
      ['error', { ...fields, repeated: 29 }, 'leases could not be renewed'],
      ['error', { ...fields, repeated: 29 }, 'leases could not be renewed'],
    ])
    expect(entries.slice(3).map(([, { error }, what]) => `${what}: ${error}`)).toEqual([
      'leases could not be renewed: another',
      'something else: the disk is full',
    ])
  })

  it('keeps no more than a few hundred reports in mind', async () => {
    const { entries, load, open } = recorder()
    const logger = openLogger('warn', load, () => 0)
    open()
    for (let n = 0; n < 300; n += 1) logger.report(`what ${n}`, null)
    logger.report('what 0', null)
    logger.report('what 299', null)
    await logger.flush()
    expect(entries).toHaveLength(301)
  })
})
