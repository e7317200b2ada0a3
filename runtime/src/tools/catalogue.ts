// Owns the document that lists the tools: each one's name, description and parameters, and nothing else (AG-7).
import { specOf } from './registry.ts'
import type { Tool } from './tool.ts'

/** Markdown, the same for the same tools. */
export function catalogueMarkdown(tools: readonly Tool[]): string {
  return ['# Tools', ...tools.map(sectionOf)].join('\n\n').concat('\n')
}

function sectionOf(tool: Tool): string {
  const { name, description, parameters } = specOf(tool)
  return `## \`${name}\`\n\n${description}\n\n${parameterTable(parameters)}`
}

function parameterTable(parameters: Readonly<Record<string, unknown>>): string {
  const properties = Object.entries(record(parameters.properties))
  if (properties.length === 0) return 'No parameters.'
  const required = new Set(Array.isArray(parameters.required) ? parameters.required : [])
  const rows = properties.map(([name, schema]) => {
    const { description, ...shape } = record(schema)
    const cells = [`\`${name}\``, typeText(shape), required.has(name) ? 'yes' : 'no', typeof description === 'string' ? description : '']
    return `| ${cells.map(cellText).join(' | ')} |`
  })
  return ['| parameter | type | required | what it is |', '| --- | --- | --- | --- |', ...rows].join('\n')
}

/** A plain type with its bounds in words; any other shape as the JSON Schema that it is. */
function typeText({ type, minimum, maximum, minLength, maxLength, ...rest }: Readonly<Record<string, unknown>>): string {
  if (typeof type !== 'string' || Object.keys(rest).length > 0)
    return `\`${JSON.stringify({ type, minimum, maximum, minLength, maxLength, ...rest })}\``
  const bounds = [
    ...(minimum === undefined ? [] : [`from ${minimum}`]),
    ...(maximum === undefined ? [] : [`to ${maximum}`]),
    ...(minLength === undefined ? [] : [minLength === 1 ? 'not empty' : `at least ${minLength} characters`]),
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
  ]
  return bounds.length === 0 ? type : `${type}, ${bounds.join(minLength === undefined ? ' ' : ', ')}`
}

function cellText(text: string): string {
  return text.replaceAll('|', '\\|').replace(/\s*\n\s*/g, ' ')
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {}
}
