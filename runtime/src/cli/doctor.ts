// Owns `quiesce doctor`: what is configured, where each value comes from, and whether it works. Holds no secret.
import type { ModelInfoOf } from '@quiesce/schema'
import { VERSION } from '../base/version.ts'
import type { ModelRequest } from '../models/model.ts'
import type { ProviderReport } from '../models/provider-report.ts'
import type { ModelRegistry } from '../models/registry.ts'
import { type Config, type ConfigPlace, readConfig, type Sourced } from './config.ts'
import { diagnosisText } from './doctor-text.ts'
import { lossVerdict } from './exit-status.ts'
import type { DoctorOptions } from './program.ts'
import type { Terminal } from './terminal.ts'

export interface DoctorPorts extends ConfigPlace {
  /** *Contract:* rejects with Refusal where the store can't be opened. */
  openStore(config: Config): Promise<{ stats(): Promise<{ driver: string }>; check(): Promise<readonly string[]>; close(): Promise<void> }>
  /** The version of the tables that an opened store has. */
  storeVersion: number
  openModels(config: Config): Pick<ModelRegistry, 'list' | 'providers' | 'answer'>
  /** Milliseconds, for how long something took. */
  monotonic(): number
  terminal: Terminal
}

/** What one request to the default model came to. */
export type Probe =
  | { model: string; ok: true; latencyMs: number }
  /** `code` is that of a failed step, or null where nothing could be asked. */
  | { model: string | null; ok: false; code: string | null; message: string }

export interface Diagnosis {
  version: string
  node: string
  platform: string
  /** `problem`: why it doesn't open, or what else is wrong with it. */
  store: Sourced<string> & { opens: boolean; driver?: string; version?: number; problem?: string }
  model: Sourced<string | null>
  logLevel: Sourced<string>
  retry: Config['retry']
  files: Config['files']
  workspace: Config['workspace']
  /** `source` is `built in`, or the file that defines it. */
  providers: (ProviderReport & { source: string })[]
  /** Providers that a file defines in vain, and what to do about it. */
  refusedProviders: Readonly<Record<string, string>>
  /** Models that can be named without asking anybody. */
  models: ModelInfoOf[]
  /** Where it was asked for. */
  probe?: Probe
  /** What stands in the way of a run. */
  problems: string[]
  healthy: boolean
}

/** Runs to its exit status: 0 where a run would work, else 1; where what it says is lost, as a run's (CLI-4). *Contract:* rejects with ConfigError. */
export async function doctorCommand(options: DoctorOptions, ports: DoctorPorts): Promise<number> {
  const diagnosis = await diagnose(options, await readConfig(options.config, ports), ports)
  ports.terminal.print(options.json ? `${JSON.stringify(diagnosis, null, 2)}\n` : diagnosisText(diagnosis))
  const loss = await ports.terminal.flush()
  if (loss === null) return diagnosis.healthy ? 0 : 1
  const { status, why } = lossVerdict(loss)
  if (why !== null) ports.terminal.say(`quiesce: ${why}`)
  return status
}

async function diagnose(options: DoctorOptions, config: Config, ports: DoctorPorts): Promise<Diagnosis> {
  const store = await openedStore(config, ports)
  const registry = ports.openModels(config)
  const models = registry.list()
  const chosen = models.find((model) => model.default === true)
  const probe = options.probe === true ? await probed(chosen, registry, ports) : undefined
  const problems = [
    ...config.problems.map(({ message }) => message),
    ...(store.problem === undefined ? [] : [store.opens ? store.problem : `the store does not open: ${store.problem}`]),
    ...(chosen === undefined && !config.problems.some(({ key }) => key === 'model') ? [noModel] : []),
    ...(chosen?.available === false ? [chosen.reason ?? `${chosen.model} is not available`] : []),
    ...(probe?.ok === false && chosen?.available === true ? [`the model does not answer: ${probe.message}`] : []),
  ]
  return {
    version: VERSION,
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    store: { ...config.store, ...store },
    model: config.model,
    logLevel: config.logLevel,
    retry: config.retry,
    files: config.files,
    workspace: config.workspace,
    providers: registry.providers().map((report) => ({ ...report, source: config.models[report.name]?.source ?? 'built in' })),
    refusedProviders: config.refusedModels,
    models,
    ...(probe !== undefined && { probe }),
    problems,
    healthy: problems.length === 0,
  }
}

const noModel = 'no model is set: give --model, set QUIESCE_MODEL, or write model: provider/model into quiesce.yaml or config.yaml'

type OpenedStore = Pick<Diagnosis['store'], 'opens' | 'driver' | 'version' | 'problem'>

async function openedStore(config: Config, { openStore, storeVersion }: DoctorPorts): Promise<OpenedStore> {
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

/** Nobody waits for a doctor as long as for an answer. */
const patience = { attempts: 1, firstByteMs: 30_000, betweenBytesMs: 30_000 }
const wholeMs = 60_000

/** One request, with few words and no second try. */
async function probed(chosen: ModelInfoOf | undefined, registry: Pick<ModelRegistry, 'answer'>, ports: DoctorPorts): Promise<Probe> {
  if (chosen === undefined) return { model: null, ok: false, code: null, message: 'there is no model to be asked' }
  const { model, available, reason = '' } = chosen
  if (!available) return { model, ok: false, code: null, message: reason }
  const request: ModelRequest = {
    system: '',
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Answer with the word ok.' }] }],
    tools: [],
    options: { maxOutputTokens: 64 },
    signal: AbortSignal.timeout(wholeMs),
  }
  const hooks = { newCallId: () => 'call', onPart: () => undefined, onRetry: async () => undefined }
  const begun = ports.monotonic()
  const outcome = await registry.answer(model, request, hooks, patience)
  // A model that thinks may need more tokens than it was given here: it answered.
  if (outcome.kind === 'answer' || (outcome.kind === 'failure' && outcome.error.code === 'model_empty'))
    return { model, ok: true, latencyMs: Math.round(ports.monotonic() - begun) }
  if (outcome.kind === 'aborted') return { model, ok: false, code: 'model_stalled', message: `no whole answer in ${wholeMs} ms` }
  const { code, message } = outcome.error
  return { model, ok: false, code, message: explained(code, message) }
}

/** The vendor's words, after what they mean for the configuration. */
function explained(code: string, message: string): string {
  const meaning = code === 'model_request' && /\b404\b/.test(message) ? notFound : meanings[code]
  return meaning === undefined ? message : `${meaning} (${message})`
}

const notFound = 'the server knows no such model, or the base URL is not its own'
const meanings: Readonly<Record<string, string | undefined>> = {
  model_auth: 'the key is refused',
  model_network: 'the server is not reached',
  model_rate_limit: 'the server is reached and takes no more requests for now',
  model_overloaded: 'the server is reached and has no room for now',
  model_stalled: 'the server is reached and says nothing',
}
