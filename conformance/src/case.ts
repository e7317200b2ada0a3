// Owns what a case is: data, checked against case.schema.json before anything runs.

export const LAYERS = ['L0', 'L1', 'L2', 'L3'] as const
export type Layer = (typeof LAYERS)[number]

/** How the model of a case is reached: played by the server itself, or over loopback HTTP in a vendor's format. */
export type Transport = 'scripted' | 'http'
export const transports: readonly Transport[] = ['scripted', 'http']

/** JSON, as it comes out of a file or over a wire. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

/** One step: its name, and its arguments. */
export interface Step {
  readonly name: string
  readonly args: Json
}

export interface Case {
  /** `area/name`, as its file is called; behind it `@http` where the model is reached that way. */
  readonly id: string
  readonly transport: Transport
  /** Why what it leaves differs from run to run, so that no traces are compared; null: they are. */
  readonly uncompared: string | null
  readonly title: string
  /** Ids of the rules of the contract that it pins. */
  readonly covers: readonly string[]
  readonly layer: Layer
  /** What `scripted/case` plays: the form of a script of the runtime's. */
  readonly model: Json
  /** Files of the workspace, by name. */
  readonly files: Readonly<Record<string, string>>
  /** Environment of the server, beside what every case has. */
  readonly env: Readonly<Record<string, string>>
  /** Options of the session that the first `create` without its own makes. */
  readonly session: JsonObject
  /** What the scripted peer answers by itself, and with what. */
  readonly peer: JsonObject
  readonly steps: readonly Step[]
  /** Matchers by the path of a value. */
  readonly expect: Readonly<Record<string, Json>>
  /** Paths whose values must be equal, each list for itself. */
  readonly same: readonly (readonly string[])[]
  /** More of `expect` for one driver, by its name. */
  readonly only: Readonly<Record<string, Readonly<Record<string, Json>>>>
}

export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)
