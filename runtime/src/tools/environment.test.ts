import fc from 'fast-check'
import { expect, test } from 'vitest'
import { environmentFaults, toolEnvironment } from './environment.ts'

test('what is on the list passes, and the session wins over it', () => {
  const own = { PATH: '/bin', HOME: '/home/a', LC_TIME: 'C', TERM: undefined, EDITOR: 'vi' }
  expect(toolEnvironment(own, { HOME: '/tmp', MINE: '1' })).toEqual({ PATH: '/bin', HOME: '/tmp', LC_TIME: 'C', MINE: '1' })
})

test.each([
  'OPENAI_API_KEY',
  'ANTHROPIC_API_KEY',
  'AWS_SECRET_ACCESS_KEY',
  'GITHUB_TOKEN',
  'NPM_TOKEN',
  'QUIESCE_TOKEN',
  'DATABASE_URL',
  'HTTPS_PROXY',
  'SSH_AUTH_SOCK',
  'LC_API_KEY',
  'BASH_ENV',
  'NODE_OPTIONS',
  'path',
])('%s passes only where the session names it (FR-7)', (name) => {
  expect(toolEnvironment({ [name]: 'secret' })).toEqual({})
  expect(toolEnvironment({ [name]: 'secret' }, { [name]: 'given' })).toEqual({ [name]: 'given' })
})

test('no variable passes by what its name looks like', () => {
  const name = fc.oneof(
    fc.string(),
    fc.stringMatching(/^[A-Z_]+_(KEY|TOKEN|SECRET|PASSWORD)$/),
    fc.constantFrom('__proto__', 'constructor'),
  )
  fc.assert(fc.property(name, (secret) => Object.keys(toolEnvironment(Object.fromEntries([[`${secret}_`, 'x']]))).length === 0))
})

test('names and values that no process can have are faults, and the value is not repeated', () => {
  const faults = environmentFaults({ FINE: 'a=b', 'A=B': 'x', '': 'y', KEY: 'sec\0ret' })
  expect(faults.map((fault) => fault.path)).toEqual(['env.A=B', 'env.', 'env.KEY'])
  expect(JSON.stringify(faults)).not.toContain('sec')
})
