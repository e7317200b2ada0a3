// Owns the models behind OpenAI's two APIs, Responses and chat completions. Loads the SDK for them.
import { createOpenAI, type OpenAILanguageModelChatOptions, type OpenAILanguageModelResponsesOptions } from '@ai-sdk/openai'
import { Ears } from './heard-fetch.ts'
import type { Model } from './model.ts'
import type { PromptRules } from './prompt.ts'
import { type VendorRules, vendorModel } from './vendor-model.ts'
import { checkedOptions, type KnownOptions } from './vendor-options.ts'
import type { OpenAISettings } from './vendor-settings.ts'

const inTheLog = "a session's conversation is in its log, and sent whole"
const responsesKnown: KnownOptions<OpenAILanguageModelResponsesOptions> = {
  conversation: inTheLog,
  previousResponseId: inTheLog,
  store: inTheLog,
  include: true,
  instructions: true,
  logprobs: true,
  maxToolCalls: true,
  metadata: true,
  parallelToolCalls: true,
  promptCacheKey: true,
  promptCacheOptions: true,
  promptCacheRetention: true,
  reasoningEffort: true,
  reasoningEffortUpdate: true,
  reasoningMode: true,
  reasoningContext: true,
  reasoningSummary: true,
  safetyIdentifier: true,
  serviceTier: true,
  passThroughUnsupportedFiles: true,
  strictJsonSchema: true,
  textVerbosity: true,
  truncation: true,
  user: true,
  systemMessageMode: true,
  forceReasoning: true,
  allowedTools: true,
}
const chatKnown: KnownOptions<OpenAILanguageModelChatOptions> = {
  logitBias: true,
  logprobs: true,
  parallelToolCalls: true,
  user: true,
  reasoningEffort: true,
  maxCompletionTokens: true,
  store: true,
  metadata: true,
  prediction: true,
  serviceTier: true,
  strictJsonSchema: true,
  textVerbosity: true,
  promptCacheKey: true,
  promptCacheOptions: true,
  promptCacheRetention: true,
  safetyIdentifier: true,
  systemMessageMode: true,
  forceReasoning: true,
}

const prompt: Omit<PromptRules, 'model' | 'callIds' | 'resultImages'> = {
  vendor: 'openai',
  plainReasoning: false,
  objectInputs: true,
  noBlankText: false,
}
const incomplete = new Set(['max_output_tokens', 'content_filter'])

const responses: Omit<VendorRules, 'settings'> = {
  prompt: { ...prompt, callIds: /^[\w-]{1,64}$/, resultImages: 'inside' },
  stream: {
    endings: new Set(['response.completed', 'response.incomplete', 'response.failed']),
    isEnd: (reason, ending) => ending === (reason === undefined ? 'response.completed' : 'response.incomplete') && isKnown(reason),
  },
  untaken: ['seed', 'stop'],
}
const chat: Omit<VendorRules, 'settings'> = {
  prompt: { ...prompt, callIds: /^[\w-]{1,40}$/, resultImages: 'behind' },
  stream: {},
  untaken: [],
}

function isKnown(reason: string | undefined): boolean {
  return reason === undefined || incomplete.has(reason)
}

export function openAI(settings: OpenAISettings): Model {
  const { name, modelId, baseURL, apiKey = '', api } = settings
  const isChat = api === 'chat'
  const rules: VendorRules = {
    ...(isChat ? chat : responses),
    settings({ options: { reasoningEffort, providerOptions }, sessionId }) {
      const { options, sampling } = checkedOptions(name, isChat ? chatKnown : responsesKnown, providerOptions)
      return {
        ...sampling,
        includeRawChunks: !isChat,
        options: {
          // Nothing is kept there: reasoning comes back encrypted, and is kept in the log.
          ...(isChat ? {} : { store: false }),
          ...(sessionId === undefined ? {} : { promptCacheKey: sessionId.slice(0, 64) }),
          ...(reasoningEffort === undefined ? {} : { reasoningEffort }),
          ...options,
        },
      }
    },
  }
  const ears = new Ears(apiKey === '' ? ['authorization'] : [])
  const provider = createOpenAI({ baseURL, apiKey, headers: { 'User-Agent': 'quiesce' }, fetch: ears.fetch })
  return vendorModel(settings, isChat ? provider.chat(modelId) : provider.responses(modelId), ears, rules)
}
