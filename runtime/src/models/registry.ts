// Owns the names of models: which provider a name means, what it needs, and the model behind it. Refuses what isn't configured.
import type { ModelInfoOf, ModelOptionsOf } from '@quiesce/schema'
import type { Clock } from '../base/clock.ts'
import { noUsage } from '../log/facts.ts'
import { Refusal } from '../log/refusal.ts'
import type { Model, ModelRequest, Outcome } from './model.ts'
import { type ProviderReport, reportProviders } from './provider-report.ts'
import { definitionOf, type ModelSettings, type ModelsConfig, type NamedModel, partsOf, settingsFor } from './providers.ts'
import { type AnswerHooks, requestAnswer } from './request.ts'
import { defaultRetry, type RetryPolicy } from './retry.ts'
import { DirectoryGates, type Gates } from './scripted/gates.ts'
import { findScript, loadScripted } from './scripted/load.ts'

export interface ModelRegistryParts {
  clock: Clock
  /** From 0 to below 1; for the jitter of retries. */
  random(): number
  /** Of every provider that has none of its own; default: defaultRetry. */
  retry?: RetryPolicy
  /** Of scripted models; default: the directory QUIESCE_GATES, where it is set. */
  gates?: Gates
}

export class ModelRegistry {
  readonly #config: ModelsConfig
  readonly #parts: ModelRegistryParts
  /** One model per name, so that a scripted one keeps its counts. A failed load is tried again. */
  readonly #models = new Map<string, Promise<Model>>()
  #gates: Gates | undefined

  constructor(config: ModelsConfig, parts: ModelRegistryParts) {
    this.#config = config
    this.#parts = parts
    this.#gates = parts.gates
  }

  /** The configured default, `provider/model`, or null. It isn't checked. */
  defaultModel(): string | null {
    return this.#config.default ?? null
  }

  /** The name to use: the given one, else the default. *Contract:* throws Refusal `unknown_model` where there is neither, and as `check`. */
  choose(name: string | undefined): string {
    const chosen = name ?? this.#config.default
    if (chosen === undefined)
      throw new Refusal(
        'unknown_model',
        'no model was named and none is configured: give the option `model` (--model), set QUIESCE_MODEL, or write `model:` in quiesce.yaml; for example openai-compatible/deepseek-chat, or scripted/demo, which needs no network',
      )
    this.check(chosen)
    return chosen
  }

  /** *Contract:* throws Refusal `unknown_model` or `model_auth`. Loads no provider. */
  check(name: string): void {
    const settings = settingsFor(this.#config, name)
    if (settings.provider === 'scripted') findScript(settings.script, this.#scriptsDir)
  }

  /** *Contract:* rejects with Refusal as `check` does, and where a script has a bad shape. The provider's code is loaded at its first use. */
  resolve(name: string): Promise<Model> {
    const known = this.#models.get(name)
    if (known !== undefined) return known
    const loading = this.#load(name)
    this.#models.set(name, loading)
    loading.catch(() => this.#models.delete(name))
    return loading
  }

  /** Loads what a request to a server will need, once the event loop has a turn for it, and in vain where the name is wrong. Never fails. */
  prepare(name: string): void {
    setImmediate(async () => {
      try {
        if (settingsFor(this.#config, name).provider === 'scripted') return
        await this.resolve(name)
        // Node loads its fetch when it is first touched, which takes longer than the provider.
        void globalThis.Headers
      } catch {
        // The one who asks for an answer is told.
      }
    }).unref()
  }

  /**
   * One step's request to the named model, retries and time limits included. What the request's options leave open, its provider's
   * decide. *Contract:* never rejects: a refusal is a failure too.
   */
  async answer(name: string, request: ModelRequest, hooks: AnswerHooks, limits: Partial<RetryPolicy> = {}): Promise<Outcome> {
    const { clock, random, retry: general = defaultRetry } = this.#parts
    const { modelOptions, retry: own } = this.#definition(name) ?? {}
    const retry = { ...general, ...own, ...limits }
    try {
      const asked = { ...request, options: optionsOver(modelOptions, request.options) }
      return await requestAnswer(await this.resolve(name), asked, { clock, retry, random, ...boundHooks(hooks) })
    } catch (error) {
      const code = error instanceof Refusal && error.code === 'model_auth' ? 'model_auth' : 'model_request'
      const message = error instanceof Error ? error.message : String(error)
      return { kind: 'failure', error: { code, message, retryable: false }, usage: noUsage }
    }
  }

  /** The models that can be listed without asking anybody: the default, each named one with a `model`, the demo. */
  list(provider?: string): ModelInfoOf[] {
    const { named } = this.#config
    const byDefault = this.#default()
    const configured = Object.entries(named).flatMap(([name, { model }]) => (model === undefined ? [] : [`${name}/${model}`]))
    const names = new Set([...(byDefault === undefined ? [] : [byDefault]), ...configured, 'scripted/demo'])
    const all = [...names].map((name) => this.#describe(name))
    return provider === undefined ? all : all.filter((info) => info.provider === provider)
  }

  /** Every provider that a name may begin with, and what it lacks. */
  providers(): ProviderReport[] {
    return reportProviders(this.#config)
  }

  /** The default by its whole name, where a bare provider stands for it. */
  #default(): string | undefined {
    const { default: given } = this.#config
    if (given === undefined) return undefined
    const { provider, model } = partsOf(this.#config, given)
    return model === undefined ? given : `${provider}/${model}`
  }

  /** What the named model's provider is made of. */
  #definition(name: string): NamedModel | undefined {
    return definitionOf(this.#config, partsOf(this.#config, name).provider)
  }

  #describe(model: string): ModelInfoOf {
    const provider = model.split('/')[0] ?? model
    const contextWindow = this.#definition(model)?.contextWindow
    const info: ModelInfoOf = { model, provider, available: true }
    if (contextWindow !== undefined) info.contextWindow = contextWindow
    if (model === this.#default()) info.default = true
    try {
      this.check(model)
    } catch (error) {
      info.available = false
      info.reason = error instanceof Error ? error.message : String(error)
    }
    return info
  }

  async #load(name: string): Promise<Model> {
    const settings = settingsFor(this.#config, name)
    if (settings.provider === 'scripted') return loadScripted(settings.name, settings.script, this.#scriptsDir, this.#scriptGates())
    return loadVendor(settings, () => this.#parts.clock.now())
  }

  get #scriptsDir(): string {
    return this.#config.scriptsDir ?? process.cwd()
  }

  #scriptGates(): Gates | undefined {
    const directory = this.#config.env.QUIESCE_GATES
    if (this.#gates === undefined && directory) this.#gates = new DirectoryGates(directory)
    return this.#gates
  }
}

/** Each vendor's code is loaded at its first use. */
async function loadVendor(settings: Exclude<ModelSettings, { provider: 'scripted' }>, now: () => number): Promise<Model> {
  const server = { ...settings.server, now }
  if (settings.provider === 'anthropic') return (await import('./anthropic.ts')).anthropic(server)
  if (settings.provider === 'openai') return (await import('./openai.ts')).openAI({ ...server, api: settings.api })
  return (await import('./openai-compatible.ts')).openAICompatible(server)
}

/** Option by option, and name by name within `providerOptions`: what the session sets comes before what its provider does. */
export function optionsOver(defaults: ModelOptionsOf | undefined, own: ModelOptionsOf): ModelOptionsOf {
  if (defaults === undefined) return own
  const merged = { ...defaults, ...own }
  if (defaults.providerOptions === undefined || own.providerOptions === undefined) return merged
  return { ...merged, providerOptions: { ...defaults.providerOptions, ...own.providerOptions } }
}

/** The hooks as an object of their own: a caller may hand in one with methods that need their `this`. */
function boundHooks(hooks: AnswerHooks): AnswerHooks {
  return {
    newCallId: () => hooks.newCallId(),
    onPart: (part) => hooks.onPart(part),
    onRetry: (retry) => hooks.onRetry(retry),
  }
}
