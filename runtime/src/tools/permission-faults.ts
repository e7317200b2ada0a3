// Owns what is wrong with a session's permission rules, in words for who wrote them. Decides on no call.
import type { PermissionsOf } from '@quiesce/schema'
import type { Fault } from '@quiesce/schema/faults'
import type { Tool } from './tool.ts'
import { matchesWildcard } from './wildcard.ts'

/** So many rules are looked at for each call, and each pattern is compared in time that grows with its length. */
const MAX_RULES = 1_000
const MAX_PATTERN = 4_096

type NamedTool = Pick<Tool, 'name' | 'access' | 'subject'>

/** Each with the path of its place: rules that fit no tool, and patterns that no call could match. */
export function permissionFaults(permissions: PermissionsOf | undefined, tools: readonly NamedTool[]): Fault[] {
  if (permissions === undefined || typeof permissions === 'string') return []
  const { rules } = permissions
  if (rules.length > MAX_RULES) return [{ path: 'permissions.rules', message: `too many: at most ${MAX_RULES} rules, got ${rules.length}` }]
  return rules.flatMap(({ tool, pattern }, index): Fault[] => {
    const at = `permissions.rules[${index}]`
    const fitting = tools.filter(({ name }) => matchesWildcard(tool, name))
    if (tool.length > MAX_PATTERN) return [{ path: `${at}.tool`, message: longText(tool) }]
    if (fitting.length === 0)
      return [
        { path: `${at}.tool`, message: `${JSON.stringify(tool)} fits no tool; there are ${tools.map(({ name }) => name).join(', ')}` },
      ]
    const message = pattern === undefined ? undefined : patternFault(pattern, fitting)
    return message === undefined ? [] : [{ path: `${at}.pattern`, message }]
  })
}

const longText = (text: string) => `too long: at most ${MAX_PATTERN} characters, got ${text.length}`

function patternFault(pattern: string, tools: readonly NamedTool[]): string | undefined {
  if (pattern.trim() === '') return 'is empty and would match no call: leave it out, and the rule holds for every call of its tools'
  if (pattern.length > MAX_PATTERN) return longText(pattern)
  if (pattern.includes('\0')) return 'has a NUL character in it, which no path and no command can have'
  const files = tools.filter(takesPath).map(({ name }) => name)
  if (files.length > 0 && /^~(\/|$)/.test(pattern))
    return `${JSON.stringify(pattern)}: "~" has no meaning in a path here (${files.join(', ')}): write the absolute path, or one relative to the working directory`
  return undefined
}

/** Whether the tool is about a file: those that read and edit are. */
const takesPath = ({ access, subject }: NamedTool) => subject !== undefined && access !== 'execute'
