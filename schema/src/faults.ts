// Owns the words for bad params: the path of each fault and what would be right (FR-2).
import type * as z from 'zod/mini'

export interface Fault {
  path: string
  message: string
}

const longestKey = 200

/** `['content', 0, 'text']` as `content[0].text`; a very long key is cut short. */
export function pathText(path: readonly PropertyKey[]): string {
  let text = ''
  for (const part of path) text += typeof part === 'number' ? `[${part}]` : text === '' ? keyText(part) : `.${keyText(part)}`
  return text
}

function keyText(key: PropertyKey): string {
  const text = String(key)
  return text.length > longestKey ? `${text.slice(0, longestKey)}...` : text
}

/** However many there are: a spread of them all would not fit on the stack. */
const depth = (issues: readonly z.core.$ZodIssue[]): number => issues.reduce((most, issue) => Math.max(most, issue.path.length), 0)

/** Checks a value at a boundary: the value as parsed, or every fault with its path. */
export function check<S extends z.ZodMiniType>(
  schema: S,
  value: unknown,
): { ok: true; value: z.output<S> } | { ok: false; faults: Fault[] } {
  const verdict = schema.safeParse(value, { reportInput: true })
  return verdict.success ? { ok: true, value: verdict.data } : { ok: false, faults: faultsOf(verdict.error.issues) }
}

/** Flattens a parse error; of a union that fits nowhere, the branch that got furthest speaks. */
export function faultsOf(issues: readonly z.core.$ZodIssue[], prefix: readonly PropertyKey[] = []): Fault[] {
  return issues.flatMap((issue): Fault[] => {
    const path = [...prefix, ...issue.path]
    if (issue.code === 'invalid_union' && issue.errors.length > 0) {
      const best = [...issue.errors].sort((a, b) => depth(b) - depth(a))[0] ?? []
      if (depth(best) > 0) return faultsOf(best, path)
      const wanted = [...new Set(issue.errors.flat().map(wantedOf))]
      return [{ path: pathText(path), message: `expected ${wanted.join(' or ')}${gotText(issue.input)}` }]
    }
    return [{ path: pathText(path), message: messageOf(issue) }]
  })
}

function gotText(input: unknown): string {
  if (input === undefined) return ''
  const text = JSON.stringify(input) ?? typeof input
  return `, got ${text.length > 60 ? `${text.slice(0, 57)}...` : text}`
}

function wantedOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') return issue.expected
  if (issue.code === 'invalid_value') return issue.values.map((value) => JSON.stringify(value)).join(', ')
  return messageOf(issue)
}

function messageOf(issue: z.core.$ZodIssue): string {
  const { input } = issue
  if (input === undefined && (issue.code === 'invalid_type' || issue.code === 'invalid_value')) return `required: ${wantedOf(issue)}`
  if (issue.code === 'invalid_type') return `expected ${issue.expected}${gotText(input)}`
  if (issue.code === 'invalid_value') return `expected one of ${wantedOf(issue)}${gotText(input)}`
  if (issue.code === 'too_small') return `too small: at least ${issue.minimum}${gotText(input)}`
  if (issue.code === 'too_big') return `too big: at most ${issue.maximum}${gotText(input)}`
  return `${issue.message === '' || issue.message === 'Invalid input' ? `invalid (${issue.code})` : issue.message}${gotText(input)}`
}
