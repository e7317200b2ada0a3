// Owns the form of a script: its schema, its faults by file and path, and which entry answers a request.
import { FactErrorCode } from '@quiesce/schema/errors'
import { check } from '@quiesce/schema/faults'
import * as z from 'zod/mini'
import type { ModelMessage } from '../model.ts'
import { gateName } from './gates.ts'
import { assistantCount, exchangeOf } from './history.ts'

const Gate = z.string().check(z.regex(gateName, 'must be 1 to 64 letters, digits, "_" or "-"'))
const Count = z.int().check(z.minimum(0))
const Times = z.int().check(z.minimum(1))
const Tool = z.strictObject({ name: z.string(), input: z.optional(z.unknown()) })
/** `{}`: every time. */
const Failing = z.strictObject({ times: z.optional(Times) })
/** Refuses the request, before any word: as an HTTP `status` would, or with a `code`. Without `times`, every time. */
const Refusing = z.strictObject({
  status: z.optional(z.int().check(z.minimum(400), z.maximum(599))),
  code: z.optional(FactErrorCode),
  /** Default: as the status says; false where there is only a code. */
  retryable: z.optional(z.boolean()),
  message: z.optional(z.string()),
  retryAfterMs: z.optional(Count),
  times: z.optional(Times),
})

const Entry = z.strictObject({
  /** Holds the model before its first word. */
  gate: z.optional(Gate),
  reasoning: z.optional(z.string()),
  text: z.optional(z.string()),
  /** The text in pieces, with gates between them. */
  chunks: z.optional(z.array(z.union([z.string(), z.strictObject({ gate: Gate })]))),
  tool: z.optional(Tool),
  tools: z.optional(z.array(Tool)),
  finish: z.optional(z.enum(['stop', 'length', 'tool_calls', 'content_filter'])),
  usage: z.optional(
    z.strictObject({ inputTokens: Count, outputTokens: Count, cachedInputTokens: z.optional(Count), reasoningTokens: z.optional(Count) }),
  ),
  error: z.optional(Refusing),
  /** Breaks off after what there is to say, without a finish. */
  disconnect: z.optional(Failing),
  /** Falls silent after what there is to say, until the request is aborted. */
  stall: z.optional(Failing),
})
const Case = z.strictObject({ when: z.optional(z.string()), steps: z.array(Entry).check(z.minLength(1)) })
const Sequence = z.array(Entry).check(z.minLength(1))
const Steps = z.strictObject({ steps: Sequence })
const Cases = z.strictObject({ cases: z.array(Case).check(z.minLength(1)) })

export type Entry = z.output<typeof Entry>
export type ToolCall = z.output<typeof Tool>

/** An entry with its place in the script, for example `steps-2` or `cases-0-steps-1`. */
export interface Placed {
  place: string
  entry: Entry
}

export interface Script {
  /** The entry that answers the history, or why there is none; `tools` are the names of those on offer. */
  entryFor(messages: readonly ModelMessage[], tools: readonly string[]): Placed | { missing: string }
  /** Every entry's place. */
  readonly places: readonly string[]
}

/** A script that can't be played: the message names its file and each fault's path. */
export class BadScript extends Error {}

/** Reads a script: a list of entries, `{steps: […]}` or `{cases: [{when?, steps}]}`. *Contract:* throws BadScript. */
export function parseScript(name: string, source: unknown): Script {
  if (Array.isArray(source)) return sequence(checked(name, Sequence, source))
  if (typeof source !== 'object' || source === null)
    throw new BadScript(`${name}: expected a list of entries, {steps: [...]} or {cases: [...]}, got ${JSON.stringify(source) ?? 'nothing'}`)
  return 'cases' in source ? cases(name, checked(name, Cases, source).cases) : sequence(checked(name, Steps, source).steps)
}

function checked<S extends z.ZodMiniType>(name: string, schema: S, source: unknown): z.output<S> {
  const verdict = check(schema, source)
  if (verdict.ok) return verdict.value
  throw new BadScript(verdict.faults.map(({ path, message }) => `${name}: ${path === '' ? '' : `${path}: `}${message}`).join('\n'))
}

/** The entry's index is the number of assistant messages in the history: no state, so a script survives a crash. */
function sequence(entries: readonly Entry[]): Script {
  const place = (index: number) => `steps-${index}`
  return {
    places: entries.map((_, index) => place(index)),
    entryFor(messages) {
      const index = assistantCount(messages)
      const entry = entries[index]
      return entry === undefined ? { missing: `has no entry ${index}: it ends after ${entries.length}` } : { place: place(index), entry }
    },
  }
}

/** The first case that fits the opener plays its steps, one per assistant message since then. A case without `when` fits all. */
function cases(name: string, list: readonly z.output<typeof Case>[]): Script {
  const tests = list.map(({ when }, index) => matcher(name, when, index))
  return {
    places: list.flatMap(({ steps }, index) => steps.map((_, step) => `cases-${index}-steps-${step}`)),
    entryFor(messages) {
      const named = (text: string) => list.some(({ when }, index) => when !== undefined && tests[index]?.(text))
      const { opener, step } = exchangeOf(messages, named)
      const index = tests.findIndex((test) => test(opener))
      const steps = list[index]?.steps
      if (steps === undefined) return { missing: `has no case for ${JSON.stringify(opener)}` }
      const entry = steps[step]
      if (entry === undefined) return { missing: `has no entry cases[${index}].steps[${step}]: the case ends after ${steps.length}` }
      return { place: `cases-${index}-steps-${step}`, entry }
    },
  }
}

/** `/pattern/flags` is a regular expression, anything else a part of the text. */
function matcher(name: string, when: string | undefined, index: number): (text: string) => boolean {
  if (when === undefined) return () => true
  const [, pattern, flags] = /^\/(.+)\/([imsu]*)$/s.exec(when) ?? []
  if (pattern === undefined) return (text) => text.includes(when)
  try {
    const expression = new RegExp(pattern, flags)
    return (text) => expression.test(text)
  } catch (error) {
    throw new BadScript(`${name}: cases[${index}].when: ${error instanceof Error ? error.message : String(error)}`)
  }
}
