// Owns where an engine lives, seen from the store: one text to it, one back. This one is the calling thread.
import type { Engine } from './engine.ts'
import type { Upkeep } from './upkeep.ts'

export interface Home {
  /** Absent where no other process can have this store. */
  readonly upkeep?: Upkeep
  /** Passes one Call to the engine; answers come in the order of the calls. *Contract:* rejects with StoreFault where the home is gone. */
  call(text: string): Promise<string>
  /** Closes the engine once what was called is answered. *Contract:* never rejects. */
  close(): Promise<void>
}

export function inlineHome(engine: Engine): Home {
  return {
    call: async (text) => engine.call(text),
    close: async () => engine.close(),
  }
}
