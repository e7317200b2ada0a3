// Owns the models behind Anthropic's Messages API. Loads the SDK for them.
import { type AnthropicLanguageModelOptions, createAnthropic } from '@ai-sdk/anthropic'
import { thinkingOf } from './anthropic-thinking.ts'
import { Ears } from './heard-fetch.ts'
import type { Model } from './model.ts'
import { type VendorRules, vendorModel } from './vendor-model.ts'
import { checkedOptions, givenOptions, type KnownOptions } from './vendor-options.ts'
import type { VendorSettings } from './vendor-settings.ts'

const ofTheVendor = 'tools that the vendor runs would leave no trace in the log'
const known: KnownOptions<AnthropicLanguageModelOptions> = {
  sendReasoning: true,
  structuredOutputMode: true,
  thinking: true,
  disableParallelToolUse: true,
  cacheControl: true,
  metadata: true,
  mcpServers: ofTheVendor,
  container: ofTheVendor,
  toolStreaming: true,
  effort: true,
  taskBudget: true,
  speed: true,
  inferenceGeo: true,
  fallbacks: true,
  anthropicBeta: true,
  safeguards: true,
  contextManagement: true,
}

/** Where the SDK knows no limit of the model. What others serve in this format has limits of its own, and 4,096 ends many a file. */
const otherMaxTokens = 8192

const eventKinds = /^(message_(start|delta|stop)|content_block_(start|delta|stop)|ping|error)$/

export function anthropic(settings: VendorSettings): Model {
  const { name, modelId, baseURL, apiKey = '' } = settings
  const isTheirs = modelId.includes('claude')
  const rules: VendorRules = {
    prompt: {
      vendor: 'anthropic',
      plainReasoning: false,
      callIds: /^[\w-]{1,64}$/,
      objectInputs: true,
      noBlankText: true,
      resultImages: 'inside',
    },
    stream: {
      // What others serve in this format comes unsigned, and some want it back.
      ...(isTheirs ? {} : { unsigned: { signature: '' } }),
      // A pause is of a turn with tools of the vendor's, which are not asked for.
      isEnd: (reason) => reason !== 'pause_turn',
      isNews: (event) => {
        const { type, error } = Object(event)
        return typeof type === 'string' && error === undefined && !eventKinds.test(type)
      },
    },
    untaken: ['seed'],
    settings({ options: { reasoningEffort, maxOutputTokens, providerOptions } }, prompt) {
      const { options, sampling } = checkedOptions(name, known, providerOptions)
      const { cacheControl = { type: 'ephemeral' }, ...given } = options
      const defaults = { ...(isTheirs ? {} : { toolStreaming: false }), ...thinkingOf(name, modelId, reasoningEffort, prompt) }
      return {
        ...sampling,
        ...(isTheirs || maxOutputTokens !== undefined ? {} : { maxOutputTokens: otherMaxTokens }),
        options: { ...givenOptions(defaults), ...given },
        cacheMark: { cacheControl },
      }
    },
  }
  const ears = new Ears(apiKey === '' ? ['x-api-key'] : [])
  const sdk = createAnthropic({ baseURL, apiKey, headers: { 'User-Agent': 'quiesce' }, fetch: ears.fetch })(modelId)
  return vendorModel(settings, sdk, ears, rules)
}
