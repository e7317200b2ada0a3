import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ModelMessage } from '../model.ts'
import { loadScripted } from './load.ts'
import { BadScript, parseScript } from './script.ts'

const user = (text: string): ModelMessage => ({ role: 'user', content: [{ type: 'text', text }] })
const said = (text: string): ModelMessage => ({ role: 'assistant', content: [{ type: 'text', text }] })
const called: ModelMessage = { role: 'assistant', content: [{ type: 'tool_use', callId: 'c', name: 'x', input: {} }] }
const result: ModelMessage = { role: 'tool', content: [{ type: 'tool_result', callId: 'c', content: 'ok' }] }

function placeFor(source: unknown, ...messages: ModelMessage[]): string {
  const found = parseScript('s', source).entryFor(messages, [])
  return 'missing' in found ? found.missing : found.place
}

describe('a sequence', () => {
  const steps = [{ text: 'a' }, { text: 'b' }]

  it('answers by the number of assistant messages, and so after a crash too', () => {
    for (const source of [steps, { steps }]) {
      expect(placeFor(source, user('x'))).toBe('steps-0')
      expect(placeFor(source, user('x'), said('a'), user('y'))).toBe('steps-1')
    }
  })

  it('that runs out says where', () => {
    expect(placeFor(steps, said('a'), said('b'))).toBe('has no entry 2: it ends after 2')
  })
})

describe('cases', () => {
  const source = {
    cases: [
      { when: 'fix', steps: [{ text: 'f0' }, { text: 'f1' }] },
      { when: '/^wait\\b/i', steps: [{ text: 'w0' }] },
      { steps: [{ text: 'any' }] },
    ],
  }

  it('are told by a part of the opener or by an expression, else by the case without `when`', () => {
    expect(placeFor(source, user('please fix it'))).toBe('cases-0-steps-0')
    expect(placeFor(source, user('Wait here'))).toBe('cases-1-steps-0')
    expect(placeFor(source, user('await'))).toBe('cases-2-steps-0')
  })

  it('count the steps since the opener, across steering', () => {
    expect(placeFor(source, user('hi'), said('any'), user('fix it'), called, result)).toBe('cases-0-steps-1')
    expect(placeFor(source, user('fix it'), called, result, user('and hurry'))).toBe('cases-0-steps-1')
    expect(placeFor(source, user('first this'), user('fix it'))).toBe('cases-0-steps-0')
  })

  it('start again with the next opener, also after a turn that was cut off', () => {
    expect(placeFor(source, user('fix it'), called, result, said('done'), user('thanks'))).toBe('cases-2-steps-0')
    expect(placeFor(source, user('fix it'), called, result, user('wait'))).toBe('cases-1-steps-0')
    expect(placeFor(source, user('fix it'), called, result, user('fix that'))).toBe('cases-0-steps-0')
  })

  it('that run out, or fit nothing, say where', () => {
    expect(placeFor(source, user('wait'), called, result)).toBe('has no entry cases[1].steps[1]: the case ends after 1')
    expect(placeFor({ cases: [{ when: 'x', steps: [{}] }] }, user('hello'))).toBe('has no case for "hello"')
  })
})

describe('a script of a bad shape', () => {
  it.each([
    [null, 's: expected a list of entries, {steps: [...]} or {cases: [...]}, got null'],
    ['text', 's: expected a list of entries'],
    [[], 's: too small'],
    [{ stepz: [] }, 's: '],
    [[{ txt: 'x' }], 's: [0]: '],
    [[{ text: 1 }], 's: [0].text: expected string, got 1'],
    [[{}, { chunks: [{ gate: 'a b' }] }], 's: [1].chunks[0].gate: must be 1 to 64 letters'],
    [[{ gate: '../x' }], 's: [0].gate: must be'],
    [[{ tool: {} }], 's: [0].tool.name: required: string'],
    [[{ finish: 'bored' }], 's: [0].finish: expected one of "stop", "length"'],
    [[{ error: { status: 200 } }], 's: [0].error.status: too small: at least 400'],
    [[{ disconnect: true }], 's: [0].disconnect: expected object, got true'],
    [{ cases: [{ when: 'x' }] }, 's: cases[0].steps: required'],
    [{ cases: [{ when: '/(/', steps: [{}] }] }, 's: cases[0].when: Invalid regular expression'],
  ])('%j', (source, message) => {
    expect(() => parseScript('s', source)).toThrow(BadScript)
    expect(() => parseScript('s', source)).toThrow(message)
  })

  it('names every fault', () => {
    expect(() => parseScript('s', [{ text: 1 }, { reasoning: 2 }])).toThrow(/\[0\]\.text.*\n.*\[1\]\.reasoning/)
  })
})

describe('a file', () => {
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'quiesce-script-'))
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  const load = (name: string) => loadScripted(`scripted/${name}`, name, directory, undefined)

  it('is found by its name, its path, and its name without the ending', async () => {
    const path = join(directory, 'one.yaml')
    writeFileSync(path, '- text: |\n    hi\n- tool: {name: glob}\n')
    for (const name of ['one', 'one.yaml', path]) expect((await load(name)).unconsumed()).toEqual(['steps-0', 'steps-1'])
  })

  it.each([
    ['bad.json', '[{]', 'bad.json: '],
    ['bad.yaml', 'a: [', 'bad.yaml: '],
    ['bad.yml', '- text: 1', 'bad.yml: [0].text: expected string, got 1'],
    ['empty.yaml', '', 'empty.yaml: expected a list'],
  ])('%s with %j is refused by its name', async (name, text, message) => {
    writeFileSync(join(directory, name), text)
    await expect(load(name)).rejects.toMatchObject({ code: 'unknown_model', message: expect.stringContaining(message) })
  })
})
