// Owns the registry of every wire type: its name, its description, and what the generators must know of it.
// Refuses a type without a description.
import * as z from 'zod/mini'

export interface Meta {
  /** Name of the type in `$defs`; absent on a field that is only described. */
  id?: string
  description: string
}

export const registry = z.registry<Meta>()

/** Registers `schema` as the wire type `id`. */
export function named<S extends z.ZodMiniType>(id: string, description: string, schema: S): S {
  if (description === '') throw new Error(`wire type ${id} has no description`)
  registry.add(schema, { id, description })
  return schema
}

/** Describes one field; give it a schema instance of its own. */
export function field<S extends z.ZodMiniType>(description: string, schema: S): S {
  registry.add(schema, { description })
  return schema
}

/** The name under which a type is registered. */
export function idOf(schema: z.ZodMiniType): string {
  const id = registry.get(schema)?.id
  if (id === undefined) throw new Error('a member of an open union must be a named type')
  return id
}
