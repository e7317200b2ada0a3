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
  expect(toolEnvironment({ [name]: 'secret', PATH: '/bin' })).toEqual({ PATH: '/bin' })
  expect(toolEnvironment({ [name]: 'secret', PATH: '/bin' }, { [name]: 'given' })).toEqual({ PATH: '/bin', [name]: 'given' })
})

test('no variable passes by what its name looks like', () => {
  const name = fc.oneof(
    fc.string(),
    fc.stringMatching(/^[A-Z_]+_(KEY|TOKEN|SECRET|PASSWORD)$/),
    fc.constantFrom('__proto__', 'constructor'),
  )
  fc.assert(fc.property(name, (secret) => Object.keys(toolEnvironment(Object.fromEntries([[`${secret}_`, 'x']]))).join() === 'PATH'))
})

test('names and values that no process can have are faults, and the value is not repeated', () => {
  const faults = environmentFaults({ FINE: 'a=b', 'A=B': 'x', '': 'y', KEY: 'sec\0ret' })
  expect(faults.map((fault) => fault.path)).toEqual(['env.A=B', 'env.', 'env.KEY'])
  expect(JSON.stringify(faults)).not.toContain('sec')
})

test('variables that no process could start with are faults', () => {
  const faults = environmentFaults({ LONG: 'x'.repeat(131_072 - 5), FITS: 'x'.repeat(131_071 - 5), HALF: 'a\uD800', 'H\uDC00': '' })
  expect(faults.map(({ path, message }) => [path, message.slice(0, 40)])).toEqual([
    ['env.LONG', "too long: a variable's name and value ha"],
    ['env.HALF', 'a variable has half of a surrogate pair '],
    ['env.H\uDC00', 'a variable has half of a surrogate pair '],
  ])
  const many = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`V${index}`, 'x'.repeat(120_000)]))
  expect(environmentFaults(many)).toEqual([{ path: 'env', message: 'too large: at most 1048576 bytes of names and values, got 1080036' }])
})

test('a name that means something to objects is a name like any other', () => {
  const env = JSON.parse('{"__proto__": "a", "constructor": "b"}')
  expect(Object.entries(toolEnvironment({ PATH: '/bin' }, env))).toEqual([
    ['PATH', '/bin'],
    ['__proto__', 'a'],
    ['constructor', 'b'],
  ])
})

test.each([
  ['/usr/bin:/bin', '/usr/bin:/bin'],
  ['.:/usr/bin', '/usr/bin'],
  [':/usr/bin::bin:./node_modules/.bin:', '/usr/bin'],
  ['', '/usr/local/bin:/usr/bin:/bin'],
  ['.', '/usr/local/bin:/usr/bin:/bin'],
  [undefined, '/usr/local/bin:/usr/bin:/bin'],
])('programs are looked for in absolute places alone: PATH %j is %s', (own, expected) => {
  expect(toolEnvironment(own === undefined ? {} : { PATH: own })).toEqual({ PATH: expected })
  expect(toolEnvironment({ PATH: '/bin' }, { PATH: '.' })).toEqual({ PATH: '.' })
})
