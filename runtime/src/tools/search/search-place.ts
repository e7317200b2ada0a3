// Owns the memory that a search's thread shares with the one that started it: where it is, which can be read while it is stuck, and
// the answer to what it asks.

/** Of a path, so many bytes are noted. */
const MAX_PATH = 4_096
const LINE = 0
const LENGTH = 1
const ANSWER = 2
const NUMBERS = 3

const NONE = 0
const YES = 1
const NO = 2

export class SearchPlace {
  readonly memory: SharedArrayBuffer
  readonly #numbers: Int32Array
  readonly #path: Uint8Array
  readonly #encoder = new TextEncoder()

  constructor(memory = new SharedArrayBuffer(NUMBERS * Int32Array.BYTES_PER_ELEMENT + MAX_PATH)) {
    this.memory = memory
    this.#numbers = new Int32Array(memory, 0, NUMBERS)
    this.#path = new Uint8Array(memory, NUMBERS * Int32Array.BYTES_PER_ELEMENT)
  }

  enter(path: string): void {
    this.#numbers[LINE] = 0
    this.#numbers[LENGTH] = this.#encoder.encodeInto(path, this.#path).written
  }

  line(number: number): void {
    this.#numbers[LINE] = number
  }

  /** Blocks its thread until the other one has answered what `send` asked it. */
  ask(send: () => void): boolean {
    Atomics.store(this.#numbers, ANSWER, NONE)
    send()
    Atomics.wait(this.#numbers, ANSWER, NONE)
    return Atomics.load(this.#numbers, ANSWER) === YES
  }

  answer(yes: boolean): void {
    Atomics.store(this.#numbers, ANSWER, yes ? YES : NO)
    Atomics.notify(this.#numbers, ANSWER)
  }

  read(): { path: string; line: number } {
    const path = Buffer.from(this.#path.slice(0, this.#numbers[LENGTH])).toString()
    return { path, line: this.#numbers[LINE] ?? 0 }
  }
}
