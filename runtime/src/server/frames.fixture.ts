// Owns the frames that came, for tests: kept in order, and waited for without a look at the clock.
export interface Frame {
  id?: unknown
  result?: Record<string, unknown>
  error?: { code: number; message: string; data?: Record<string, unknown> }
  method?: string
  params?: Record<string, unknown>
}

export class Frames {
  readonly all: Frame[] = []
  #waiting: { matches: (frame: Frame) => boolean; resolve: (frame: Frame) => void }[] = []

  /** One frame, or several with line feeds. */
  push(text: string): void {
    for (const line of text.split('\n').filter((each) => each !== '')) {
      const frame: Frame = JSON.parse(line)
      this.all.push(frame)
      for (const waiter of this.#waiting.filter(({ matches }) => matches(frame))) waiter.resolve(frame)
      this.#waiting = this.#waiting.filter(({ matches }) => !matches(frame))
    }
  }

  /** The first frame that matches, as soon as it is there. */
  until(matches: (frame: Frame) => boolean): Promise<Frame> {
    const there = this.all.find(matches)
    if (there !== undefined) return Promise.resolve(there)
    return new Promise((resolve) => {
      this.#waiting.push({ matches, resolve })
    })
  }

  answer(id: number): Promise<Frame> {
    return this.until((frame) => frame.id === id)
  }
}

/** The protocol's code of an error answer, or JSON-RPC's. */
export const codeOf = ({ error }: Frame): unknown => error?.data?.code ?? error?.code
