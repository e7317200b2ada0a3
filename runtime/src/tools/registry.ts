// Owns the set of tools of a runtime: which are on, how they look to a model, and whether an input fits. Runs none.
import { type Fault, faultsOf } from '@quiesce/schema/faults'
import * as z from 'zod/mini'
import type { ToolSpec } from '../models/model.ts'
import type { Tool } from './tool.ts'
import { matchesWildcard } from './wildcard.ts'

export class ToolRegistry {
  readonly #tools: ReadonlyMap<string, Tool>
  readonly #specs: ReadonlyMap<string, ToolSpec>

  /** The order given is the order of every answer. Throws where two have one name. */
  constructor(tools: readonly Tool[]) {
    const byName = new Map<string, Tool>()
    for (const tool of tools) {
      if (byName.has(tool.name)) throw new Error(`two tools have the name ${tool.name}`)
      byName.set(tool.name, tool)
    }
    this.#tools = byName
    this.#specs = new Map(tools.map((tool) => [tool.name, specOf(tool)]))
  }

  get(name: string): Tool | undefined {
    return this.#tools.get(name)
  }

  /** The tools that `patterns` (names, and patterns with `*`) turn on, each once; all without them. An entry that fits none adds none. */
  enabled(patterns?: readonly string[]): Tool[] {
    const all = [...this.#tools.values()]
    return patterns === undefined ? all : all.filter((tool) => patterns.some((pattern) => matchesWildcard(pattern, tool.name)))
  }

  /** What models are told of the enabled tools: the same in every call (TU-9). */
  specs(patterns?: readonly string[]): ToolSpec[] {
    return this.enabled(patterns).flatMap((tool) => this.#specs.get(tool.name) ?? [])
  }

  /** The faults of a session's `tools`: entries that fit no tool, with the tools that there are. */
  faults(patterns: readonly string[]): Fault[] {
    const names = [...this.#tools.keys()]
    return patterns.flatMap((pattern, index) => {
      if (names.some((name) => matchesWildcard(pattern, name))) return []
      return [{ path: `tools[${index}]`, message: `${JSON.stringify(pattern)} fits no tool; there are ${names.join(', ')}` }]
    })
  }
}

/** A tool as a model sees it; `parameters` is plain JSON Schema. */
export function specOf(tool: Tool): ToolSpec {
  const { $schema: _, ...parameters } = z.toJSONSchema(tool.input, {
    io: 'input',
    override: ({ jsonSchema }) => {
      // The bounds that zod gives every integer say nothing to a model.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
    },
  })
  return { name: tool.name, description: tool.description, parameters }
}

export type InputVerdict = { ok: true; value: unknown } | { ok: false; message: string }

/** Checks what a model gave a tool (TU-6): the value for `execute`, or every fault with its path, in words for the model. */
export function validateInput(tool: Tool, input: unknown): InputVerdict {
  const verdict = tool.input.safeParse(input, { reportInput: true })
  if (verdict.success) return { ok: true, value: verdict.data }
  const known = verdict.error.issues.filter((issue) => issue.code !== 'unrecognized_keys')
  const faults = [...faultsOf(known), ...verdict.error.issues.flatMap((issue) => unknownKeys(tool, issue))]
  const lines = faults.map(({ path, message }) => `- ${path === '' ? 'the input' : path}: ${message}`)
  return { ok: false, message: `The input of ${tool.name} doesn't fit its parameters, and it was not run:\n${lines.join('\n')}` }
}

function unknownKeys(tool: Tool, issue: z.core.$ZodIssue): Fault[] {
  if (issue.code !== 'unrecognized_keys') return []
  const { properties } = specOf(tool).parameters
  const names = typeof properties === 'object' && properties !== null && issue.path.length === 0 ? Object.keys(properties) : []
  const right = names.length === 0 ? '' : `; the parameters are ${names.join(', ')}`
  return issue.keys.map((key) => ({ path: [...issue.path.map(String), key].join('.'), message: `unknown${right}` }))
}
