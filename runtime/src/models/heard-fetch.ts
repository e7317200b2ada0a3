// Owns the ear on a vendor's answer: bytes that no part shows, and what kind of answer it was. Follows no redirect, so that a key
// goes nowhere else; sends no header whose key is missing.

/** Of one request. */
export interface Heard {
  /** The answer's own status, whatever an error of the SDK says. */
  status?: number
  contentType?: string
  /** How an answer that is no event stream begins. */
  head?: string
}

const headLimit = 4096

export class Ears {
  readonly #unsent: readonly string[]
  /** fetch gets the request's own signal. */
  readonly #requests = new WeakMap<AbortSignal, { heard: Heard; onBytes: () => void }>()

  /** `unsent` are the headers that the SDK would send empty. */
  constructor(unsent: readonly string[] = []) {
    this.#unsent = unsent
  }

  /** Before the request is made; what it returns fills up with the answer. */
  listen(signal: AbortSignal, onBytes: () => void = () => undefined): Heard {
    const heard: Heard = {}
    this.#requests.set(signal, { heard, onBytes })
    return heard
  }

  /** Node's own, which shares connections. */
  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    const headers = new Headers(init?.headers)
    for (const name of this.#unsent) headers.delete(name)
    const response = await globalThis.fetch(input, { ...init, headers, redirect: 'manual' })
    const request = init?.signal ? this.#requests.get(init.signal) : undefined
    if (request === undefined) return response
    request.heard.status = response.status
    request.heard.contentType = response.headers.get('content-type') ?? 'no content type'
    if (response.body === null || !response.ok) return response
    return new Response(response.body.pipeThrough(ear(request.heard, request.onBytes)), response)
  }
}

function ear(heard: Heard, onBytes: () => void): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder()
  let head = heard.contentType?.startsWith('text/event-stream') === true ? undefined : ''
  return new TransformStream({
    transform(chunk, controller) {
      onBytes()
      if (head !== undefined && head.length < headLimit) {
        head = (head + decoder.decode(chunk, { stream: true })).slice(0, headLimit)
        heard.head = head
      }
      controller.enqueue(chunk)
    },
  })
}
