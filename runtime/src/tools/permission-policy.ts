// Owns the verdict on a call: the session's rules in order, then its mode (CB-5). Refuses nothing itself: the agent acts on it.
import type { PermissionsOf } from '@quiesce/schema'
import type { Policy, Tool, Verdict } from './tool.ts'
import { matchesWildcard } from './wildcard.ts'

/** Stands for the end of a line where a summary shows several lines as one. */
export const LINE_END = '⏎'

type Rule = Exclude<PermissionsOf, string>['rules'][number]
type Mode = Extract<PermissionsOf, string>

/** What makes one shell command two, or sends it elsewhere. */
const shellOperator = new RegExp(`[;&|<>\`$()\\n\\r${LINE_END}]`)

/**
 * Decides on a call whose input is valid. Grammar of a rule: `tool` is a tool's name or a pattern, `pattern` a pattern for the
 * call's whole summary (a file's path as the call gives it, normalised; a shell's command), and absent it matches every call. In
 * both, `*` stands for any run of characters, and everything else for itself. The first rule that matches wins; where none
 * does, the mode decides.
 *
 * A rule that allows commands is read narrowly: its `*` doesn't reach over a shell's operators, so that `npm *` allows `npm
 * test` and not `npm test; rm -r .`. A `deny` of commands is a hint to the model and no fence: a command can be written in many
 * ways. To fence, deny the tool.
 */
export const decide: Policy = (permissions, { tool, input }) => {
  const mode = typeof permissions === 'string' ? permissions : permissions.mode
  const rules = typeof permissions === 'string' ? [] : permissions.rules
  const rule = rules.find((candidate) => applies(candidate, tool, input))
  return rule === undefined ? byMode(mode, tool) : byRule(rule, tool)
}

function applies(rule: Rule, tool: Tool, input: unknown): boolean {
  if (!matchesWildcard(rule.tool, tool.name)) return false
  if (rule.pattern === undefined) return true
  const narrow = rule.action === 'allow' && tool.access === 'execute'
  return matchesWildcard(rule.pattern, tool.summary(input), narrow ? shellOperator : undefined)
}

function byRule(rule: Rule, tool: Tool): Verdict {
  if (rule.action === 'allow') return { action: 'allow' }
  const words = `${rule.action} ${rule.tool}${rule.pattern === undefined ? '' : ` ${JSON.stringify(rule.pattern)}`}`
  return { action: rule.action, reason: `${tool.name}: a rule of the session says: ${words}` }
}

function byMode(mode: Mode, tool: Tool): Verdict {
  if (mode === 'allow-all' || tool.access === 'read') return { action: 'allow' }
  if (mode === 'read-only') return { action: 'deny', reason: `${tool.name}: the session's permission mode is read-only` }
  if (tool.access === 'edit') return { action: 'allow' }
  return { action: 'ask', reason: `${tool.name}: in permission mode edit, every command is asked for` }
}
