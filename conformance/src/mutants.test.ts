import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import type { Case } from './case.ts'
import { readDriver } from './driver-process.ts'
import { loadCases } from './load.ts'
import { type Mutant, readMutants, staleness } from './mutants.ts'
import { runMutants } from './mutants-command.ts'

const repository = fileURLToPath(new URL('../../', import.meta.url))
const place = mkdtempSync(join(tmpdir(), 'conformance-mutants-'))
afterAll(() => rmSync(place, { recursive: true }))

const cases = [{ id: 'a/b', covers: ['RUN-1'] }] as unknown as Case[]
const mutant = (more: Partial<Mutant> = {}): Mutant => ({
  id: 'm',
  breaks: 'RUN-1',
  killedBy: ['a/b'],
  says: /x/,
  how: { target: 'typescript', file: 'a.js', find: 'one', replace: 'two' },
  ...more,
})

describe('a mutant', () => {
  it('is read whole, with every fault of every file', async () => {
    const folder = mkdtempSync(join(place, 'read-'))
    const head = 'breaks: RUN-1\nkilledBy: [a/b]\nsays: x\n'
    const files = {
      'good.yaml': `id: good\n${head}target: python\npatch: { file: a.py, find: x, replace: "" }`,
      'server.mjs': "export default { id: 'server', breaks: 'RUN-1', killedBy: ['a/b'], says: 'x', toClient() {} }",
    }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    expect(await readMutants(folder)).toEqual([
      mutant({ id: 'good', says: /x/m, how: { target: 'python', file: 'a.py', find: 'x', replace: '' } }),
      mutant({ id: 'server', says: /x/m, how: { target: 'server', file: join(folder, 'server.mjs') } }),
    ])
    writeFileSync(join(folder, 'a.yaml'), `id: b\n${head}target: python\npatch: { file: a.py, find: x, replace: "" }`)
    writeFileSync(join(folder, 'b.yaml'), `id: b\n${head}target: cobol\npatch: {}`)
    writeFileSync(join(folder, 'c.yaml'), `id: c\n${head}target: python\npatch: { file: a.py, find: "", replace: "" }`)
    writeFileSync(join(folder, 'd.yaml'), `id: d\n${head}target: python\nkills: 1\npatch: { file: a.py, find: x, replace: "" }`)
    writeFileSync(join(folder, 'e.mjs'), 'export const id = 1')
    await expect(readMutants(folder)).rejects.toThrow(
      /a\.yaml: id: expected the file's name.*\n.*b\.yaml: target: expected one of.*\n.*c\.yaml: patch\.find.*\n.*d\.yaml: kills is unknown.*\n.*e\.mjs: expected a default export/,
    )
  })

  it('is stale where what it replaces is not there once, and no mutant without its rule, its case, or both in one', () => {
    const faultsOf = (text: string, more: Partial<Mutant> = {}) => {
      mkdirSync(join(place, 'ts-sdk/dist'), { recursive: true })
      writeFileSync(join(place, 'ts-sdk/dist/a.js'), text)
      return staleness(mutant(more), place, ['RUN-1', 'RUN-2'], cases)
    }
    expect(faultsOf('one, two')).toEqual([])
    expect(faultsOf('one, one')).toEqual([expect.stringMatching(/is stale: .* occurs 2 times/)])
    expect(faultsOf('nothing')).toEqual([expect.stringMatching(/occurs 0 times/)])
    expect(faultsOf('one', { breaks: 'RUN-9' })).toEqual(['RUN-9 is no rule of the contract', "a/b doesn't cover RUN-9"])
    expect(faultsOf('one', { breaks: 'RUN-2' })).toEqual(["a/b doesn't cover RUN-2"])
    expect(faultsOf('one', { killedBy: ['a/c'] })).toEqual(['there is no case a/c'])
    expect(faultsOf('one', { how: { target: 'typescript', file: 'b.js', find: 'one', replace: '' } })).toEqual([
      expect.stringMatching(/there is no .*b\.js/),
    ])
  })

  it('that survives, or dies of something else than what it breaks, fails the run', async () => {
    const said: string[] = []
    const driver = readDriver(join(repository, 'conformance/drivers/typescript/driver.yaml'))
    const find = 'throw new RefusedRequest(methodNotFound(method, methodNames));'
    const broken = find.replace('methodNotFound', '!methodNotFound')
    const of = (id: string, replace: string): Mutant =>
      mutant({
        id,
        breaks: 'FR-2',
        killedBy: ['frames/unknown-method'],
        says: /^refused/m,
        how: { target: 'runtime', file: 'server/connection.js', find, replace },
      })
    const failed = await runMutants({
      mutants: [of('unharmed', `${find} // as it was`), { ...of('otherwise', broken), says: /^another/m }, of('broken', broken)],
      cases: loadCases(),
      rules: ['FR-2'],
      repository,
      drivers: { typescript: driver, python: driver },
      schema: join(repository, 'schema/protocol.schema.json'),
      jobs: 1,
      out: (line) => said.push(line),
    })
    expect(failed).toBe(2)
    expect(said.join('\n')).toMatch(
      /FAIL {3}unharmed .*\n +frames\/unknown-method doesn't kill it: pass\nFAIL {3}otherwise .*\n +frames\/unknown-method kills it for another reason(?:.|\n)*killed broken .*\n1 passed, 2 failed$/,
    )
  }, 60_000)
})
