// Owns what each vendor's model is made from. Each vendor's file has one function of these settings, and loads its own SDK alone.

export interface VendorSettings {
  /** `provider/model`, as the session names it. */
  name: string
  /** What the server calls the model. */
  modelId: string
  /** Up to and without the path of the API, for example `https://api.openai.com/v1`. */
  baseURL: string
  /** Sent as the vendor wants it; never part of a message. */
  apiKey?: string
  contextWindow?: number
  /** Unix milliseconds, for a `Retry-After` that is a date. */
  now(): number
}

/** Of OpenAI's two APIs, the one to be spoken. */
export interface OpenAISettings extends VendorSettings {
  api: 'responses' | 'chat'
}
