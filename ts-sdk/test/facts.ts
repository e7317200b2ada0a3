// Owns facts for tests: the ones that a plain turn consists of, numbered from where the log stands.

export interface WireFact {
  seq: number
  type: string
  time: number
  data: Record<string, unknown>
}

const usage = { inputTokens: 10, outputTokens: 5 }

/** A log that is written as it goes: each call gives the facts that it adds. */
export class Log {
  seq: number

  constructor(seq = 0) {
    this.seq = seq
  }

  fact(type: string, data: Record<string, unknown>): WireFact {
    this.seq += 1
    return { seq: this.seq, type, time: 1_796_000_000_000 + this.seq, data }
  }

  receipt(messageId: unknown, delivery = 'followup', origin: Record<string, unknown> = { kind: 'user' }): WireFact {
    return this.fact('inbox/receipt', { message: { id: messageId, delivery, origin, content: [{ type: 'text', text: 'hello' }] } })
  }

  running(): WireFact {
    return this.fact('agent/status', { status: 'running', activityId: 'a-1' })
  }

  idle(waitingOn: object[] = []): WireFact {
    return this.fact('agent/status', { status: 'idle', activityId: 'a-1', waitingOn })
  }

  turnStart(messageId: unknown): WireFact[] {
    return [
      this.fact('turn/start', { turnId: 't-1', activityId: 'a-1', trigger: { kind: 'message', messageId } }),
      this.fact('inbox/admitted', { messageId, turnId: 't-1', stepId: 'st-1' }),
      this.fact('step/start', { turnId: 't-1', stepId: 'st-1', model: 'scripted/demo' }),
    ]
  }

  turnEnd(text: string): WireFact[] {
    const content = [{ type: 'text', text }]
    const step = { turnId: 't-1', stepId: 'st-1' }
    return [
      this.fact('assistant/message', { ...step, outputId: 'o-1', content, model: 'scripted/demo', finish: 'stop', usage }),
      this.fact('step/end', { ...step, usage }),
      this.fact('turn/end', { turnId: 't-1', reason: { kind: 'completed' }, usage }),
    ]
  }

  /** Everything from the receipt to the idle. */
  plain(messageId: unknown, text: string): WireFact[] {
    return [this.receipt(messageId), this.running(), ...this.turnStart(messageId), ...this.turnEnd(text), this.idle()]
  }
}
