// Owns the way from `scripted/<name or file>` to a scripted model: the built-in demo, or a file in YAML or JSON.
import { existsSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Refusal } from '../../log/refusal.ts'
import type { Gates } from './gates.ts'
import { BadScript, parseScript, type Script } from './script.ts'
import { ScriptedModel } from './scripted-model.ts'

const endings = ['', '.yaml', '.yml', '.json']

/** The script's file, or null for the built-in demo. *Contract:* throws Refusal `unknown_model` naming the files that it looked for. */
export function findScript(name: string, directory: string): string | null {
  if (name === 'demo') return null
  const looked = endings.map((ending) => resolve(directory, `${name}${ending}`))
  const found = looked.find((path) => existsSync(path) && statSync(path).isFile())
  if (found !== undefined) return found
  throw new Refusal('unknown_model', `no script "${name}": looked for ${looked.join(', ')}; scripted/demo is built in`, {
    model: `scripted/${name}`,
  })
}

/** *Contract:* rejects with Refusal `unknown_model` where there is no such script, or where its file, named with the fault, is no script. */
export async function loadScripted(model: string, name: string, directory: string, gates: Gates | undefined): Promise<ScriptedModel> {
  const path = findScript(name, directory)
  if (path === null) return new ScriptedModel(model, (await import('./demo.ts')).demo, gates)
  try {
    return new ScriptedModel(model, await readScript(path), gates)
  } catch (error) {
    if (error instanceof BadScript) throw new Refusal('unknown_model', error.message, { model })
    throw error
  }
}

async function readScript(path: string): Promise<Script> {
  const text = await readFile(path, 'utf8')
  let source: unknown
  try {
    source = path.endsWith('.json') ? JSON.parse(text) : (await import('yaml')).default.parse(text)
  } catch (error) {
    throw new BadScript(`${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
  return parseScript(path, source)
}
