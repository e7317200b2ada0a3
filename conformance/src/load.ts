// Owns the reading of cases: files under `cases`, each checked whole before anything runs.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { LineCounter, parseDocument } from 'yaml'
import { type Case, isObject, type Json, type JsonObject, type Step, type Transport, transports } from './case.ts'
import { HarnessError } from './harness-error.ts'
import { unsayable, withUsage } from './script.ts'
import { caseOfVector, isVector } from './vectors.ts'
import { caseOfWire, isWire } from './wire-vectors.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
export const casesFolder = join(root, 'cases')

/** Every case below a folder, in the order of their ids. *Contract:* throws HarnessError with every fault of every file. */
export function loadCases(folder: string = casesFolder): Case[] {
  const validate = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(
    JSON.parse(readFileSync(join(root, 'case.schema.json'), 'utf8')),
  )
  const faults: string[] = []
  const cases: Case[] = []
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.(yaml|json)$/.test(entry.name)) continue
    const path = join(entry.parentPath, entry.name)
    const where = relative(folder, path)
    const lines = new LineCounter()
    const text = readFileSync(path, 'utf8')
    const list = listIn(path, text)
    if (list !== null) {
      cases.push(caseOfWire(where.replace(/\.json$/, ''), list))
      continue
    }
    const document = parseDocument(text, { lineCounter: lines })
    const [broken] = document.errors
    if (broken !== undefined) {
      faults.push(`${where}:${lines.linePos(broken.pos[0]).line}: ${broken.message.split('\n')[0]}`)
      continue
    }
    const data: unknown = document.toJS()
    if (isVector(data)) {
      cases.push(caseOfVector(data))
      continue
    }
    if (!validate(data) || !isObject(data)) {
      for (const error of validate.errors ?? [])
        faults.push(`${where}: ${error.instancePath || 'the case'} ${error.message} ${JSON.stringify(error.params)}`)
      continue
    }
    if (`${data.id}` !== where.replace(/\.(yaml|json)$/, '')) faults.push(`${where}: its id is ${String(data.id)}, and must be its place`)
    for (const fault of transportFaults(data)) faults.push(`${where}: ${fault}`)
    cases.push(...casesOf(data))
  }
  if (faults.length > 0) throw new HarnessError(`these cases can't be read:\n${faults.join('\n')}`)
  return cases.sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** A list of wire vectors: as JSON, for YAML would read a name like `__proto__` in its own way. */
function listIn(path: string, text: string): JsonObject[] | null {
  if (!path.endsWith('.json') || !text.trimStart().startsWith('[')) return null
  try {
    const data: unknown = JSON.parse(text)
    return isWire(data) ? data : null
  } catch {
    // Read as YAML, it has a fault with a place.
    return null
  }
}

/** Where the model is reached in several ways, there are so many cases of one file. */
function casesOf(data: JsonObject): Case[] {
  const [first = 'scripted', ...more] = transports.filter((transport) => list(data.transports).includes(transport))
  return [first, ...more].map((transport) => caseOf(data, transport))
}

function transportFaults({ transports: given, layer, model }: JsonObject): string[] {
  if (given === undefined) return []
  if (layer !== 'L3') return ['transports are for layer L3: only there a real server asks a model of the case']
  return list(given).includes('http') ? unsayable(model ?? null).map((what) => `chat completions can't say ${what}`) : []
}

/** A file that the schema found good. */
function caseOf(data: JsonObject, transport: Transport): Case {
  const model = data.model ?? { cases: [{ steps: [{ text: 'ok' }] }] }
  const object = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})
  return {
    id: transport === 'scripted' ? String(data.id) : `${String(data.id)}@${transport}`,
    transport,
    uncompared: typeof data.uncompared === 'string' ? data.uncompared : null,
    title: String(data.title),
    covers: list(data.covers).map(String),
    layer: data.layer as Case['layer'],
    model: list(data.transports).includes('http') ? withUsage(model) : model,
    files: object(data.files) as Record<string, string>,
    env: object(data.env) as Record<string, string>,
    session: { permissions: 'allow-all', ...object(data.session) },
    peer: object(data.peer),
    steps: list(data.steps).map(stepOf),
    expect: object(data.expect),
    same: list(data.same).map((paths) => list(paths).map(String)),
    only: object(data.only) as Case['only'],
  }
}

function stepOf(step: Json): Step {
  const [entry] = Object.entries(isObject(step) ? step : {})
  return { name: entry?.[0] ?? '', args: entry?.[1] ?? null }
}

const list = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])
