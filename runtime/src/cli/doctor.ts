// Owns `quiesce doctor`: what is configured, where each value comes from, and whether it works. Shows no secret.
import type { ModelInfoOf } from '@quiesce/schema'
import { VERSION } from '../base/version.ts'
import { type Config, type ConfigPlace, loadConfig, type Sourced } from './config.ts'
import { lossVerdict } from './exit-status.ts'
import type { DoctorOptions } from './program.ts'
import type { Terminal } from './terminal.ts'

export interface DoctorPorts extends ConfigPlace {
  /** *Contract:* rejects with Refusal where the store can't be opened. */
  openStore(config: Config): Promise<{ stats(): Promise<{ driver: string }>; check(): Promise<readonly string[]>; close(): Promise<void> }>
  /** The version of the tables that an opened store has. */
  storeVersion: number
  openModels(config: Config): { list(): ModelInfoOf[] }
  terminal: Terminal
}

export interface Diagnosis {
  version: string
  node: string
  platform: string
  /** `problem`: why it does not open, or what else is wrong with it. */
  store: Sourced<string> & { opens: boolean; driver?: string; version?: number; problem?: string }
  model: Sourced<string | null>
  logLevel: Sourced<string>
  files: Config['files']
  /** Whether the variable is set; never what it holds. */
  keys: { variable: string; set: boolean }[]
  addresses: { variable: string; set: boolean }[]
  models: ModelInfoOf[]
  healthy: boolean
}

const keyVariables = ['OPENAI_COMPATIBLE_API_KEY', 'OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'DEEPSEEK_API_KEY']
const addressVariables = ['OPENAI_COMPATIBLE_BASE_URL', 'OPENAI_BASE_URL', 'ANTHROPIC_BASE_URL']

/** Runs to its exit status: 0 where a run would work, else 1; where what it says is lost, as a run's (CLI-4). *Contract:* rejects with ConfigError. */
export async function doctorCommand(options: DoctorOptions, ports: DoctorPorts): Promise<number> {
  const diagnosis = await diagnose(await loadConfig(options.config, ports), ports)
  ports.terminal.print(options.json ? `${JSON.stringify(diagnosis, null, 2)}\n` : table(diagnosis))
  const loss = await ports.terminal.flush()
  if (loss === null) return diagnosis.healthy ? 0 : 1
  const { status, why } = lossVerdict(loss)
  if (why !== null) ports.terminal.say(`quiesce: ${why}`)
  return status
}

async function diagnose(config: Config, ports: DoctorPorts): Promise<Diagnosis> {
  const store = await probe(config, ports)
  const models = ports.openModels(config).list()
  const isSet = (variable: string) => ({ variable, set: (ports.env[variable] ?? '').trim() !== '' })
  const named = Object.values(config.models).flatMap(({ value }) => value.apiKeyEnv ?? [])
  const chosen = models.find((model) => model.default === true)
  return {
    version: VERSION,
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    store: { ...config.store, ...store },
    model: config.model,
    logLevel: config.logLevel,
    files: config.files,
    keys: [...new Set([...keyVariables, ...named])].map(isSet),
    addresses: addressVariables.map(isSet),
    models,
    healthy: store.opens && store.problem === undefined && chosen?.available === true,
  }
}

type Probe = Pick<Diagnosis['store'], 'opens' | 'driver' | 'version' | 'problem'>

async function probe(config: Config, { openStore, storeVersion }: DoctorPorts): Promise<Probe> {
  try {
    const store = await openStore(config)
    const { driver } = await store.stats()
    const problems = await store.check().catch((error: Error) => [error.message])
    await store.close()
    return { opens: true, driver, version: storeVersion, ...(problems.length > 0 && { problem: problems.join('; ') }) }
  } catch (error) {
    return { opens: false, problem: error instanceof Error ? error.message : String(error) }
  }
}

function stateOf({ opens, driver, version, problem }: Probe): string {
  if (!opens) return `does not open: ${problem ?? ''}`
  return `opens (${driver}, version ${version})${problem === undefined ? '' : `, but ${problem}`}`
}

function table(diagnosis: Diagnosis): string {
  const { store, model, logLevel } = diagnosis
  const rows: [string, string, string][] = [
    ['quiesce', diagnosis.version, ''],
    ['node', diagnosis.node, diagnosis.platform],
    ['store', store.value, store.source],
    ['', stateOf(store), ''],
    ['model', model.value ?? 'none: --model, QUIESCE_MODEL, or model: in quiesce.yaml sets one', model.source],
    ['log level', logLevel.value, logLevel.source],
    ...diagnosis.files.map(({ path, found }, i): [string, string, string] => [
      i === 0 ? 'config files' : '',
      path,
      found ? 'found' : 'not there',
    ]),
    ...[...diagnosis.keys, ...diagnosis.addresses].map(({ variable, set }, i): [string, string, string] => [
      i === 0 ? 'environment' : '',
      variable,
      set ? 'set' : 'not set',
    ]),
    ...diagnosis.models.map(({ model: name, available, reason }, i): [string, string, string] => [
      i === 0 ? 'models' : '',
      name,
      available ? 'available' : `not available: ${reason ?? ''}`,
    ]),
  ]
  const widths = [0, 1].map((column) => Math.min(48, Math.max(...rows.map((row) => row[column]?.length ?? 0))))
  const lines = rows.map(([what, value, note]) => `${what.padEnd(widths[0] ?? 0)}  ${value.padEnd(widths[1] ?? 0)}  ${note}`.trimEnd())
  return `${lines.join('\n')}\n\n${diagnosis.healthy ? 'All good.' : 'Something is missing.'}\n`
}
