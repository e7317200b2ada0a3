// Owns the registry of every wire type: its name, its description, and what the generators must know of it.
// Refuses a type without a description, and a name that is taken.
import * as z from 'zod/mini'

export interface Meta {
  /** Name of the type in `$defs`; absent on a field that is only described. */
  id?: string
  description: string
}

export const registry = z.registry<Meta>()

const types = new Map<string, z.ZodMiniType>()
/** Every registered type by its name. */
export const wireTypes: ReadonlyMap<string, z.ZodMiniType> = types

/** Registers `schema` as the wire type `id`. */
export function named<S extends z.ZodMiniType>(id: string, description: string, schema: S): S {
  if (description === '') throw new Error(`wire type ${id} has no description`)
  if (types.has(id)) throw new Error(`wire type ${id} is registered twice`)
  types.set(id, schema)
  registry.add(schema, { id, description })
  return schema
}

/** Describes one field; the type that it has keeps its own name and description. */
export function field<S extends z.ZodMiniType>(description: string, schema: S): S {
  const own = schema.clone()
  registry.add(own, { description })
  return own
}

/** The name under which a type is registered. */
export function idOf(schema: z.ZodMiniType): string {
  const id = registry.get(schema)?.id
  if (id === undefined) throw new Error('a member of an open union must be a named type')
  return id
}
