// Owns the way from stream parts to the content blocks of an answer. Refuses empty answers.
import type { ContentBlockOf, FinishOf } from '@quiesce/schema'
import type { ModelPart } from './model.ts'

type Call = Extract<ModelPart, { type: 'tool_call' }>
type Words = Extract<ModelPart, { type: 'text' | 'reasoning' }>

/** A piece without text and without signature says nothing, and makes no block; nor does a signature alone, but for reasoning. */
export class AnswerBuilder {
  readonly #blocks: ContentBlockOf[] = []
  readonly #newCallId: () => string
  /** The last block while further pieces may join it. */
  #open: { type: 'text' | 'reasoning'; pieces: string[]; signature?: string } | null = null

  constructor(newCallId: () => string) {
    this.#newCallId = newCallId
  }

  add(part: ModelPart): void {
    if (part.type === 'text' || part.type === 'reasoning') this.#addWords(part)
    else if (part.type === 'tool_call') this.#addCall(part)
  }

  /** What an interrupted answer is worth: text and reasoning alone (TU-8). */
  spoken(): ContentBlockOf[] {
    this.#close()
    return this.#blocks.filter((block) => block.type !== 'tool_use')
  }

  /**
   * The whole answer, or null where the model said nothing. Calls of an answer that ends with `length` or
   * `content_filter` may be cut: they are kept for the record, and never to be executed. `tool_calls` and `stop` are told
   * apart by the calls, since vendors are not of one mind about it.
   */
  finished(finish: FinishOf): { content: ContentBlockOf[]; finish: FinishOf } | null {
    this.#close()
    const content = this.#blocks
    if (finish === 'content_filter') return { content, finish }
    if (finish === 'length') return content.length === 0 ? null : { content, finish }
    // Reasoning that leads to no word is no answer.
    if (content.every((block) => block.type === 'reasoning')) return null
    return { content, finish: content.some((block) => block.type === 'tool_use') ? 'tool_calls' : 'stop' }
  }

  #addWords({ type, text, signature }: Words): void {
    const isSealed = signature !== undefined && (type === 'reasoning' || this.#open?.type === 'text')
    if (text === '' && !isSealed) return
    if (this.#open?.type !== type) this.#begin(type)
    if (this.#open === null) return
    if (text !== '') this.#open.pieces.push(text)
    if (signature === undefined) return
    this.#open.signature = signature
    this.#close() // a signature seals its block
  }

  #addCall(call: Call): void {
    this.#close()
    this.#blocks.push({
      type: 'tool_use',
      callId: this.#newCallId(),
      vendorCallId: call.vendorCallId,
      name: call.name,
      input: call.invalid ?? call.input,
      ...signed(call.signature),
    })
  }

  #begin(type: 'text' | 'reasoning'): void {
    this.#close()
    this.#open = { type, pieces: [] }
  }

  #close(): void {
    if (this.#open === null) return
    const { type, pieces, signature } = this.#open
    this.#open = null
    this.#blocks.push({ type, text: pieces.join(''), ...signed(signature) })
  }
}

function signed(signature: string | undefined): { signature?: string } {
  return signature === undefined ? {} : { signature }
}
