// Owns the model that plays a script instead of asking a vendor. Keeps count of what was played; knows no clock.
import type { Model, ModelPart, ModelRequest } from '../model.ts'
import type { Gates } from './gates.ts'
import { play } from './play.ts'
import type { Placed, Script } from './script.ts'

export class ScriptedModel implements Model {
  readonly name: string
  readonly contextWindow = 200_000
  readonly #script: Script
  readonly #gates: Gates | undefined
  readonly #played = new Set<string>()
  /** Failed plays in a row, by entry and history: what `times` counts. Lost with the process. */
  readonly #failed = new Map<string, number>()

  constructor(name: string, script: Script, gates?: Gates) {
    this.name = name
    this.#script = script
    this.#gates = gates
  }

  async *stream(request: ModelRequest): AsyncGenerator<ModelPart> {
    const found = this.#script.entryFor(
      request.messages,
      request.tools.map(({ name }) => name),
    )
    if ('missing' in found) {
      yield { type: 'failure', error: { code: 'model_request', message: `${this.name} ${found.missing}`, retryable: false } }
      return
    }
    this.#played.add(found.place)
    this.#gates?.played(found.place)
    const key = keyOf(found, request)
    const failedBefore = this.#failed.get(key) ?? 0
    const { error, disconnect, stall } = found.entry
    if ((error ?? disconnect ?? stall) !== undefined) this.#failed.set(key, failedBefore + 1)
    for await (const part of play({ script: this.name, entry: found.entry, request, gates: this.#gates, failedBefore })) {
      if (part.type === 'finish') this.#failed.delete(key)
      yield part
    }
  }

  /** The places of the entries that were never begun. */
  unconsumed(): string[] {
    return this.#script.places.filter((place) => !this.#played.has(place))
  }
}

/** By the length of the history and its last message: cheap, however long it is. */
function keyOf({ place }: Placed, { messages }: ModelRequest): string {
  return `${place} ${messages.length} ${JSON.stringify(messages.at(-1))}`
}
