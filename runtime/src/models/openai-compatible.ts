// Owns the models behind any server of the chat-completions wire format. Loads the SDK for them.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { Ears } from './heard-fetch.ts'
import type { Model } from './model.ts'
import { type VendorRules, vendorModel } from './vendor-model.ts'
import { givenOptions } from './vendor-options.ts'
import type { VendorSettings } from './vendor-settings.ts'

/** The key under which the SDK takes what goes into the body as it is. */
const passedThrough = 'openaiCompatible'

const rules: VendorRules = {
  prompt: {
    vendor: passedThrough,
    // The signatures of Gemini's thoughts, on its calls: the only thing that the SDK hands out under that key.
    sealKey: 'google',
    plainReasoning: true,
    callIds: /./s,
    objectInputs: false,
    noBlankText: false,
    resultImages: 'behind',
  },
  stream: {},
  untaken: [],
  settings({ options: { reasoningEffort, providerOptions } }) {
    const given = givenOptions(providerOptions)
    return { options: reasoningEffort === undefined ? given : { ...given, reasoningEffort } }
  },
}

export function openAICompatible(settings: VendorSettings): Model {
  const { modelId, baseURL, apiKey } = settings
  const ears = new Ears()
  // Once: it builds the schemas with which each answer is checked, and they are slow to build.
  const sdk = createOpenAICompatible({
    name: passedThrough,
    baseURL,
    includeUsage: true,
    headers: { 'User-Agent': 'quiesce' },
    fetch: ears.fetch,
    ...(apiKey === undefined ? {} : { apiKey }),
  }).chatModel(modelId)
  return vendorModel(settings, sdk, ears, rules)
}
