// Owns what is wrong with the options of a model's requests: unknown names, values out of range. Knows no vendor.
import type { Fault } from '@quiesce/schema'

interface Rule {
  wanted: string
  fits(value: unknown): boolean
}

const rules: Readonly<Record<string, Rule>> = {
  temperature: { wanted: 'a number from 0 to 2', fits: (value) => typeof value === 'number' && value >= 0 && value <= 2 },
  maxOutputTokens: { wanted: 'a whole number from 1', fits: (value) => Number.isSafeInteger(value) && Number(value) >= 1 },
  reasoningEffort: { wanted: 'a word, for example "low", "medium" or "high"', fits: isWord },
  stop: {
    wanted: 'a list of texts, none of them empty',
    fits: (value) => Array.isArray(value) && value.every((text) => typeof text === 'string' && text !== ''),
  },
  seed: { wanted: 'a whole number', fits: (value) => Number.isSafeInteger(value) },
  providerOptions: { wanted: 'an object', fits: isRecord },
}

export const modelOptionNames: readonly string[] = Object.keys(rules)

/** What is wrong with `options`, which are at `path`; nothing where they are absent. */
export function modelOptionFaults(options: unknown, path = 'modelOptions'): Fault[] {
  if (options === undefined) return []
  if (!isRecord(options)) return [{ path, message: `expected an object, got ${shown(options)}` }]
  return Object.entries(options).flatMap(([name, value]) => {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
    if (rule === undefined) return [{ path: `${path}.${name}`, message: unknownName }]
    if (value === undefined || rule.fits(value)) return []
    return [{ path: `${path}.${name}`, message: `expected ${rule.wanted}, got ${shown(value)}` }]
  })
}

const unknownName = `unknown option; known are ${modelOptionNames.join(', ')}, and what one vendor alone knows goes into providerOptions`

function isWord(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== ''
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}
