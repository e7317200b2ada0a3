import { ModelOptions } from '@quiesce/schema'
import { describe, expect, it } from 'vitest'
import { modelOptionFaults, modelOptionNames } from './model-options.ts'

it('knows every option of the protocol', () => {
  expect([...modelOptionNames].sort()).toEqual(Object.keys(ModelOptions.shape).sort())
})

describe('model options', () => {
  it.each([
    [undefined],
    [{}],
    [{ temperature: 0, maxOutputTokens: 1, reasoningEffort: 'xhigh', stop: [], seed: -1, providerOptions: { anything: [1] } }],
    [{ temperature: 2, stop: ['\n', 'END'], seed: 0 }],
  ])('%j are taken', (options) => {
    expect(modelOptionFaults(options)).toEqual([])
  })

  it.each([
    [{ temperature: -0.1 }, 'modelOptions.temperature', 'expected a number from 0 to 2, got -0.1'],
    [{ temperature: 2.1 }, 'modelOptions.temperature', 'got 2.1'],
    [{ temperature: '1' }, 'modelOptions.temperature', 'got "1"'],
    [{ temperature: null }, 'modelOptions.temperature', 'got null'],
    [{ maxOutputTokens: 0 }, 'modelOptions.maxOutputTokens', 'expected a whole number from 1, got 0'],
    [{ maxOutputTokens: 1.5 }, 'modelOptions.maxOutputTokens', 'got 1.5'],
    [{ maxOutputTokens: 2 ** 53 }, 'modelOptions.maxOutputTokens', 'got 9007199254740992'],
    [{ reasoningEffort: ' ' }, 'modelOptions.reasoningEffort', 'expected a word, for example "low"'],
    [{ stop: 'END' }, 'modelOptions.stop', 'expected a list of texts'],
    [{ stop: ['END', ''] }, 'modelOptions.stop', 'none of them empty, got ["END",""]'],
    [{ seed: 0.5 }, 'modelOptions.seed', 'expected a whole number, got 0.5'],
    [{ providerOptions: [] }, 'modelOptions.providerOptions', 'expected an object, got []'],
    [{ top_p: 1 }, 'modelOptions.top_p', 'unknown option; known are temperature, maxOutputTokens,'],
    [{ constructor: 1 }, 'modelOptions.constructor', 'what one vendor alone knows goes into providerOptions'],
    [[], 'modelOptions', 'expected an object, got []'],
    [{ stop: ['x'.repeat(99), ''] }, 'modelOptions.stop', 'xxx...'],
  ])('%j are refused at %s: %s', (options, path, words) => {
    expect(modelOptionFaults(options)).toEqual([{ path, message: expect.stringContaining(words) }])
  })

  it('every fault is told, at its place', () => {
    expect(modelOptionFaults({ seed: 'x', temprature: 1 }, 'models.a.modelOptions').map(({ path }) => path)).toEqual([
      'models.a.modelOptions.seed',
      'models.a.modelOptions.temprature',
    ])
  })
})
