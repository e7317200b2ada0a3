// Owns the steps of every layer: gates, files, and the values that a step leaves.
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { bytesOf, objectOf, textOf } from './args.ts'
import { isObject, type Json } from './case.ts'
import { HarnessError } from './harness-error.ts'
import { mismatches } from './match.ts'
import { pipeSteps } from './pipes.ts'
import type { World } from './world.ts'

export type StepRun = (world: World, args: Json) => Promise<void>

export const commonSteps: Readonly<Record<string, StepRun>> = {
  /** `release: gate` */
  release: async (world, args) => world.model.release(textOf('release', args, "a gate's name")),
  /** `reached: gate` */
  reached: async (world, args) => world.model.reached(textOf('reached', args, "a gate's name")),
  /** `asked: {as}`: the bodies of what the model was asked so far; over HTTP alone. */
  asked: async (world, args) => {
    const asked = world.model.asked()
    if (asked === null) throw new HarnessError('step asked: only a model behind HTTP is asked where the suite can see it')
    world.values.set(textOf('asked', objectOf('asked', args).as ?? null), asked)
  },
  /** `write: {path, text}`, or any other form of bytes. */
  write: async (world, args) => {
    const { path = null } = objectOf('write', args)
    world.writeFile(textOf('write', path), bytesOf('write', args))
  },
  /** `remove: path`: the file, or the folder with all that is in it. */
  remove: async (world, args) => rmSync(join(world.cwd, textOf('remove', args, 'a path')), { recursive: true }),
  /** `read: {path, as}`: the file's text, or null where there is none. */
  read: async (world, args) => {
    const { path = null, as = null } = objectOf('read', args)
    world.values.set(textOf('read', as), textIn(join(world.cwd, textOf('read', path))))
  },
  /** `set: {name: value}` */
  set: async (world, args) => {
    for (const [name, value] of Object.entries(objectOf('set', args))) world.values.set(name, value)
  },
  /** `check: {path: matcher}`, now, and not at the end as `expect` does. */
  check: async (world, args) => expectNow(world, objectOf('check', args)),
  ...pipeSteps,
}

export class Unexpected extends Error {}

export function expectNow(world: World, expected: Readonly<Record<string, Json>>): void {
  const found = Object.entries(expected).flatMap(([path, matcher]) => mismatches(world.values.filled(matcher), world.values.at(path), path))
  if (found.length > 0) throw new Unexpected(found.map(({ path, why }) => `${path}: ${why}`).join('\n'))
}

function textIn(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

/** The name under which a step leaves its values, where it gives one. */
export const nameOf = (args: Json): string | null => (isObject(args) && typeof args.as === 'string' ? args.as : null)
