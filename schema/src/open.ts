// Owns the open types: unions by tag and enums that keep what they don't know (FR-4).
// The only place with a check on a wire type.
import * as z from 'zod/mini'
import { idOf, named } from './registry.ts'

export interface OpenUnion {
  tag: string
  /** Known tag values, each with the name of its type. */
  members: ReadonlyMap<string, string>
}

/** What the generators need to know of each open union and open enum. */
export const openUnions = new Map<z.ZodMiniType, OpenUnion>()
export const openEnums = new Map<z.ZodMiniType, readonly string[]>()

type Tagged = z.ZodMiniObject<z.core.$ZodShape, z.core.$loose>

/**
 * A union that dispatches by `tag`: a known tag must fit its member (faults keep their path), an unknown one is kept
 * as it is. Every member, an unknown one too, has the `shared` fields. The inferred type names the known members only;
 * a reader gives unknown ones a default branch.
 */
export function openUnion<const M extends Record<string, Tagged>>(
  id: string,
  description: string,
  tag: string,
  members: M,
  shared: z.core.$ZodShape = {},
): z.ZodMiniType<z.output<M[keyof M]>> {
  const known = new Map(Object.entries(members))
  const base = z.looseObject({ ...shared, [tag]: z.string() }).check((ctx) => {
    if (ctx.issues.length > 0) return // a shared field is at fault: the member would say it again
    const value = ctx.value as Record<string, unknown>
    const member = known.get(value[tag] as string)
    if (member === undefined) return
    const verdict = member.safeParse(value, { reportInput: true })
    if (verdict.success) return
    for (const issue of verdict.error.issues) ctx.issues.push({ ...issue, continue: true } as z.core.$ZodRawIssue)
  })
  openUnions.set(base, { tag, members: new Map([...known].map(([kind, member]) => [kind, idOf(member)])) })
  return named(id, description, base as unknown as z.ZodMiniType<z.output<M[keyof M]>>)
}

/** A string with known values, which keeps the ones that it doesn't know. */
export function openEnum<const V extends readonly string[]>(id: string, description: string, values: V): z.ZodMiniType<V[number], string> {
  const schema = z.string()
  openEnums.set(schema, values)
  return named(id, description, schema as unknown as z.ZodMiniType<V[number], string>)
}
