// Owns the frames that came, and those who wait for one: each frame is taken once.
import type { Json, JsonObject } from './case.ts'
import { type Deferred, deferred } from './deferred.ts'
import { mismatches } from './match.ts'

interface Wanted {
  fits(frame: JsonObject): boolean
  found: Deferred<JsonObject>
}

export class Inbox {
  readonly #left: JsonObject[] = []
  readonly #wanted: Wanted[] = []
  #over: Error | null = null

  add(frame: JsonObject): void {
    const wanted = this.#wanted.findIndex(({ fits }) => fits(frame))
    if (wanted < 0) this.#left.push(frame)
    else this.#wanted.splice(wanted, 1)[0]?.found.resolve(frame)
  }

  /** Nothing more comes: whoever waits is told why. */
  end(error: Error): void {
    this.#over = error
    for (const { found } of this.#wanted.splice(0)) found.reject(error)
  }

  /** The answer with this id, the first that no other wait took. */
  answer(id: Json): Promise<JsonObject> {
    return this.wait((frame) => frame.method === undefined && JSON.stringify(frame.id) === JSON.stringify(id))
  }

  notification(method: string, where: Json | undefined): Promise<JsonObject> {
    return this.wait((frame) => frame.method === method && (where === undefined || mismatches(where, frame.params).length === 0))
  }

  /** The first frame that fits, of those that came already and those that come. *Contract:* rejects where nothing more comes. */
  wait(fits: (frame: JsonObject) => boolean): Promise<JsonObject> {
    const there = this.#left.findIndex(fits)
    if (there >= 0) return Promise.resolve(this.#left.splice(there, 1)[0] ?? {})
    const found = deferred<JsonObject>()
    if (this.#over === null) this.#wanted.push({ fits, found })
    else found.reject(this.#over)
    return found.promise
  }
}
