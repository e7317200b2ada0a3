// Owns the log of a case's first session, as the SDK gives it: followed from its first fact by whichever runtimes the case launches, each
// fact once.
import { isObject, type Json } from './case.ts'
import { Items } from './items.ts'

/** One runtime's following of the session. */
interface Source {
  /** The handle of the session there. */
  readonly handle: string
  readonly runtime: string
  readonly ended: Promise<void>
  isOver: boolean
}

/** Begins `events` on a handle behind a fact, and says when it has ended. */
export type Follow = (handle: string, after: number, onItem: (item: Json) => void) => Promise<void>

export class FollowedLog {
  readonly items = new Items()
  readonly #sources: Source[] = []
  readonly #follow: Follow
  #sessionId: string | null = null

  constructor(follow: Follow) {
    this.#follow = follow
  }

  /** A handle was made: of the first session, it is followed, unless its runtime's following goes on. */
  handle(handle: string, runtime: string, sessionId: string): void {
    this.#sessionId ??= sessionId
    if (sessionId !== this.#sessionId || this.#sources.some((source) => source.runtime === runtime && !source.isOver)) return
    const ended = this.#follow(handle, this.#last, (item) => this.#add(item))
    const source: Source = { handle, runtime, ended, isOver: false }
    this.#sources.push(source)
    const over = () => {
      source.isOver = true
      if (this.#sources.every(({ isOver }) => isOver))
        this.items.end(new Error('nobody follows the session any more, and the case waited for a fact of it'))
    }
    // Where the driver itself is gone, whoever asks it next is told.
    void ended.then(over, over)
  }

  /** Waits for what there is: `seqOf` asks a handle how far the log goes, null where it can't say; a runtime may be behind another. */
  async settle(seqOf: (handle: string) => Promise<number | null>): Promise<readonly Json[]> {
    const known = await Promise.all(
      this.#sources.map(async ({ handle, ended }) => {
        const seq = await seqOf(handle)
        if (seq === null) await ended
        return seq ?? 0
      }),
    )
    const seq = Math.max(0, ...known)
    if (seq > this.#last) await this.items.wait({ seq })
    return this.items.all
  }

  /** Several runtimes tell the same facts. */
  #add(item: Json): void {
    if (!isObject(item) || typeof item.seq !== 'number' || item.seq > this.#last) this.items.add(item)
  }

  get #last(): number {
    const last = this.items.all.at(-1)
    return isObject(last) ? Number(last.seq) : 0
  }
}
