// Owns what every subscription of a connection must keep, whatever a case is about: opened before anything of it comes, each fact
// once and in order, nothing behind its end (SUB-1, SUB-3, SUB-4, SUB-5, ST-6, TU-4). Knows no session's rules.
import { isObject, type Json, type JsonObject } from './case.ts'

interface Subscription {
  sessionId: string
  /** The seq that must come next; null where the cursor doesn't tell. */
  next: number | null
  deltas: boolean
  /** Of the agent/status facts that came, those that no session.status has mirrored. */
  unmirrored: { seq: number; status: Json }[]
  /** Turns' steps whose message has come: no delta of them may follow. */
  answered: Set<Json>
}

export class SubscriptionCheck {
  readonly #open = new Map<string, Subscription>()
  readonly #over = new Set<string>()

  /** An answer to a request that the connection made. */
  answered(method: string, params: JsonObject, result: Json): void {
    if (method === 'session/unsubscribe') this.#close(String(params.subscriptionId))
    if (method !== 'session/subscribe' || !isObject(result) || typeof result.subscriptionId !== 'string') return
    const { subscriptionId } = result
    // The same id again answers the first (SUB-4).
    if (this.#open.has(subscriptionId)) return
    this.#over.delete(subscriptionId)
    this.#open.set(subscriptionId, {
      sessionId: String(params.sessionId),
      next: nextOf(params, Number(result.seq)),
      deltas: params.deltas === true,
      unmirrored: [],
      answered: new Set(),
    })
  }

  /** What is wrong with a notification, or null. */
  told(method: string, params: JsonObject): string | null {
    const id = String(params.subscriptionId)
    const subscription = this.#open.get(id)
    if (subscription === undefined)
      return this.#over.has(id)
        ? `${method} of the subscription ${id}, which is over (SUB-3, SUB-5)`
        : `${method} of the subscription ${id}, which is not open (SUB-3)`
    if (params.sessionId !== subscription.sessionId)
      return `${method} of session ${String(params.sessionId)}, which ${id} is not about (SUB-3)`
    switch (method) {
      case 'session.event':
        return isObject(params.event) ? event(subscription, id, params.event) : null
      case 'session.status':
        return mirrored(subscription, params)
      case 'session.delta':
        return delta(subscription, id, params)
      default:
        this.#close(id)
        return null
    }
  }

  #close(id: string): void {
    if (this.#open.delete(id)) this.#over.add(id)
  }
}

function nextOf({ after, from, sessionId }: JsonObject, seq: number): number | null {
  if (from !== undefined) return null
  const cursor = isObject(after) ? after[String(sessionId)] : after
  return (typeof cursor === 'number' ? cursor : seq) + 1
}

function event(subscription: Subscription, id: string, { seq, type, data }: JsonObject): string | null {
  const { next } = subscription
  subscription.next = Number(seq) + 1
  if (next !== null && seq !== next) return `subscription ${id} gets seq ${String(seq)}, and ${next} is due (SUB-1, SUB-4)`
  if (!isObject(data)) return null
  if (type === 'agent/status') subscription.unmirrored.push({ seq: Number(seq), status: data.status ?? null })
  if (type === 'assistant/message') subscription.answered.add(data.stepId ?? null)
  return null
}

function mirrored(subscription: Subscription, { seq, status }: JsonObject): string | null {
  const fact = subscription.unmirrored.shift()
  if (fact?.seq === seq && fact?.status === status) return null
  return `session.status says ${String(status)} at ${String(seq)}, and the fact to mirror is ${fact === undefined ? 'none' : `${String(fact.status)} at ${fact.seq}`} (ST-6)`
}

function delta({ deltas, answered }: Subscription, id: string, { stepId }: JsonObject): string | null {
  if (!deltas) return `a delta for the subscription ${id}, which asked for none (TU-4)`
  return answered.has(stepId ?? null) ? `a delta of step ${String(stepId)} behind its message (TU-4)` : null
}
