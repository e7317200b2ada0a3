// Owns the verdict on a call: the session's rules in order, then its mode (CB-5). Refuses nothing itself: the agent acts on it.
import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { PermissionsOf } from '@quiesce/schema'
import { allowsCommand, concernsCommand } from './command-rules.ts'
import { PathPattern, Way } from './path-rules.ts'
import { realRoots, resolveInside, textOf } from './paths.ts'
import type { PlannedCall, Policy, Tool, Verdict } from './tool.ts'
import { matchesWildcard } from './wildcard.ts'

export { LINE_END } from './command-rules.ts'

type Rule = Exclude<PermissionsOf, string>['rules'][number]
type Mode = Extract<PermissionsOf, string>

/** Whether a rule's pattern holds for a call. */
type Holds = (rule: Rule & { pattern: string }) => boolean

/**
 * Decides on a call whose input is valid; docs/permissions.md has the grammar. The first rule that holds for the call wins; where none does,
 * the mode decides. A rule names tools, and with a pattern what they are about: a file, a command, or else the call's summary.
 * One that allows is read narrowly and one that asks or denies widely, so that a doubt never lets a call through:
 *
 * - a file is compared by the path that the call gives and by the one that it leads to; to allow, both must match, to deny, one;
 * - in a command, a `*` that allows covers no operator of the shell. A `deny` of commands is a hint to the model and no fence: a
 *   command can be written in many ways. To fence, deny the tool.
 */
export const decide: Policy = (permissions, call) => {
  const { mode, rules } = typeof permissions === 'string' ? { mode: permissions, rules: [] } : permissions
  const { tool } = call
  const subject = tool.subject?.(call.input)
  const names = subject !== undefined && 'path' in subject && tool.access === 'read' ? [...new Set([tool.name, READING])] : [tool.name]
  const relevant = names.map((name) => ({ name, rules: rules.filter((rule) => matchesWildcard(rule.tool, name)) }))
  const judge = (holds: Holds) => strictest(relevant.map((of) => verdictOf(of.name, of.rules, mode, tool, holds)))
  if (subject === undefined) return judge(({ pattern }) => matchesWildcard(pattern, tool.summary(call.input)))
  if ('command' in subject) {
    const { command } = subject
    return judge(({ action, pattern }) => (action === 'allow' ? allowsCommand : concernsCommand)(pattern, command))
  }
  if (!relevant.some((of) => of.rules.some(({ pattern }) => pattern !== undefined))) return judge(() => false)
  return decideOnPath(subject.path, call, judge)
}

/** Whoever searches files reads them: what this tool may not, the others of its kind don't show. */
const READING = 'read_file'

async function decideOnPath(given: string, call: PlannedCall, judge: (holds: Holds) => Verdict): Promise<Verdict> {
  const { cwd, roots } = call
  const patterns = new Map<string, PathPattern>()
  const judgePath = (ways: readonly Way[]) =>
    judge(({ action, pattern }) => {
      const known = patterns.get(pattern) ?? new PathPattern(pattern)
      patterns.set(pattern, known)
      return action === 'allow' ? known.allows(ways) : known.concerns(ways)
    })
  const [real, realCwd, foundRoots] = await Promise.all([
    // What leads nowhere, or outside, is judged by its words alone: the tool itself refuses it.
    resolveInside(given, { cwd, roots }).catch(() => undefined),
    realpath(cwd).catch(() => cwd),
    realRoots({ roots }).then(
      (found) => found.map(textOf),
      () => [],
    ),
  ])
  const written = new Way(resolve(cwd, given), { cwd, roots })
  const led = (path: string) => new Way(path, { cwd: realCwd, roots: foundRoots })
  const verdict = judgePath([written, ...(real === undefined ? [] : [led(real)])])
  if (verdict.action === 'deny') return verdict
  // Between here and the act a path may come to lead elsewhere, and a search meets files that no call named.
  const guard = (path: string) => {
    const found = judgePath([led(path)])
    if (found.action === 'allow') return undefined
    const wasAsked = verdict.action === 'ask' && real !== undefined && (path === real || path.startsWith(`${real}/`))
    return found.action === 'ask' && wasAsked ? undefined : found.reason
  }
  return { ...verdict, guard }
}

function verdictOf(name: string, rules: readonly Rule[], mode: Mode, tool: Tool, holds: Holds): Verdict {
  const rule = rules.find(({ pattern, ...rest }) => pattern === undefined || holds({ ...rest, pattern }))
  return rule === undefined ? byMode(mode, tool) : byRule(rule, name)
}

function strictest(verdicts: readonly Verdict[]): Verdict {
  const [first] = verdicts
  const found = verdicts.find(({ action }) => action === 'deny') ?? verdicts.find(({ action }) => action === 'ask') ?? first
  if (found === undefined) throw new Error('a call without a tool')
  return found
}

function byRule(rule: Rule, name: string): Verdict {
  if (rule.action === 'allow') return { action: 'allow' }
  const words = `${rule.action} ${rule.tool}${rule.pattern === undefined ? '' : ` ${JSON.stringify(rule.pattern)}`}`
  return { action: rule.action, reason: `${name}: a rule of the session says: ${words}` }
}

function byMode(mode: Mode, tool: Tool): Verdict {
  if (mode === 'allow-all' || tool.access === 'read') return { action: 'allow' }
  if (mode === 'read-only') return { action: 'deny', reason: `${tool.name}: the session's permission mode is read-only` }
  if (tool.access === 'edit') return { action: 'allow' }
  return { action: 'ask', reason: `${tool.name}: in permission mode edit, every command is asked for` }
}
