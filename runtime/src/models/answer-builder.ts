// Owns the way from stream parts to the content blocks of an answer. Refuses empty answers.
import type { ContentBlockOf, FinishOf } from '@quiesce/schema'
import type { ModelPart } from './model.ts'

type Call = Extract<ModelPart, { type: 'tool_call' }>
type Reasoning = Extract<ModelPart, { type: 'reasoning' }>

/** A piece without text and without signature says nothing, and makes no block. */
export class AnswerBuilder {
  readonly #blocks: ContentBlockOf[] = []
  readonly #newCallId: () => string
  /** The last block while further pieces may join it. */
  #open: { type: 'text' | 'reasoning'; pieces: string[]; signature?: string } | null = null

  constructor(newCallId: () => string) {
    this.#newCallId = newCallId
  }

  add(part: ModelPart): void {
    if (part.type === 'text') this.#addText(part.text)
    else if (part.type === 'reasoning') this.#addReasoning(part)
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

  #addText(text: string): void {
    if (text === '') return
    if (this.#open?.type !== 'text') this.#begin('text')
    this.#open?.pieces.push(text)
  }

  #addReasoning({ text, signature }: Reasoning): void {
    if (text === '' && signature === undefined) return
    if (this.#open?.type !== 'reasoning') this.#begin('reasoning')
    if (text !== '') this.#open?.pieces.push(text)
    if (signature === undefined || this.#open === null) return
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
    const text = pieces.join('')
    if (type === 'text') this.#blocks.push({ type, text })
    else this.#blocks.push({ type, text, ...(signature === undefined ? {} : { signature }) })
  }
}
