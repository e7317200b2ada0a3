// Owns the fold of a session's log into the conversation as the model sees it. Append-only (TU-9).
import type { AnyFact, ContentBlockOf, ContentOf, MessageOf } from '@quiesce/schema'
import type { EventLog } from './event-log.ts'

const PAGE = 500

interface OpenStep {
  callIds: string[]
  results: Map<string, ResultFact>
}

type ResultFact = Extract<AnyFact, { type: 'tool/result' }>

export class Transcript {
  /** The last fact folded. */
  seq = 0
  readonly messages: MessageOf[] = []
  readonly #contents = new Map<string, ContentOf>()
  #step: OpenStep | null = null

  apply(fact: AnyFact): void {
    this.seq = fact.seq
    switch (fact.type) {
      case 'inbox/receipt':
        this.#contents.set(fact.data.message.id, fact.data.message.content)
        return
      case 'inbox/cancelled':
        this.#contents.delete(fact.data.messageId)
        return
      case 'inbox/admitted': {
        this.#closeStep()
        const { messageId } = fact.data
        this.messages.push({ role: 'user', content: this.#contents.get(messageId) ?? [], messageId, seq: fact.seq })
        this.#contents.delete(messageId)
        return
      }
      case 'assistant/message': {
        const { content } = fact.data
        this.messages.push({ role: 'assistant', content, seq: fact.seq })
        const callIds = content.flatMap((block) => (block.type === 'tool_use' ? [block.callId] : []))
        this.#step = callIds.length > 0 ? { callIds, results: new Map() } : null
        return
      }
      case 'tool/result':
        this.#step?.results.set(fact.data.callId, fact)
        return
      case 'step/start':
      case 'turn/end':
        this.#closeStep()
    }
  }

  /** The results of a step enter together, in call order (TU-7). */
  #closeStep(): void {
    const step = this.#step
    if (step === null) return
    this.#step = null
    const results = step.callIds.flatMap((callId) => step.results.get(callId) ?? [])
    this.messages.push({ role: 'tool', content: results.map(resultBlock), seq: Math.max(0, ...results.map(({ seq }) => seq)) })
  }
}

function resultBlock({ data: { callId, content, images, isError } }: ResultFact): ContentBlockOf {
  return { type: 'tool_result', callId, content, ...(images !== undefined && { images }), isError }
}

/** Brings a transcript up to `through`. *Contract:* rejects as the store does. */
export async function catchUp(transcript: Transcript, log: EventLog, sessionId: string, through: number): Promise<void> {
  while (transcript.seq < through) {
    const facts = await log.read(sessionId, transcript.seq, PAGE)
    if (facts.length === 0) return
    for (const fact of facts) transcript.apply(fact)
  }
}
