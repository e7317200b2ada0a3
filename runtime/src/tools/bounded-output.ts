// Owns what is kept of an output of any length: its head and its tail, in fixed memory.

/** Collects bytes; keeps the first `head` and the last `tail` of them. */
export class BoundedOutput {
  readonly #head: Buffer
  /** A ring: the byte at position p of what follows the head is at p modulo its length. */
  readonly #tail: Buffer
  #total = 0

  constructor(limits: { head: number; tail: number }) {
    this.#head = Buffer.alloc(limits.head)
    this.#tail = Buffer.alloc(limits.tail)
  }

  get total(): number {
    return this.#total
  }

  push(chunk: Buffer): void {
    const forHead = chunk.subarray(0, Math.max(0, this.#head.length - this.#total))
    forHead.copy(this.#head, this.#total)
    this.#total += forHead.length
    const rest = chunk.subarray(forHead.length)
    const kept = rest.subarray(Math.max(0, rest.length - this.#tail.length))
    this.#total += rest.length - kept.length
    const start = (this.#total - this.#head.length) % this.#tail.length
    const copied = kept.length === 0 ? 0 : kept.copy(this.#tail, start)
    kept.copy(this.#tail, 0, copied)
    this.#total += kept.length
  }

  /** A copy of all, in order, while nothing was cut. */
  bytes(): Buffer {
    const after = Math.max(0, this.#total - this.#head.length)
    if (after > this.#tail.length) throw new Error('bytes of the output are cut')
    return Buffer.concat([this.#head.subarray(0, this.#total), this.#tail.subarray(0, after)])
  }

  /** As text: bytes that are no UTF-8, and NUL, become U+FFFD; where bytes were cut, a line says how many. */
  text(): string {
    const after = this.#total - this.#head.length
    if (after <= 0) return decode(this.#head.subarray(0, this.#total))
    const tail = this.#tail.length
    if (after <= tail) return decode(Buffer.concat([this.#head, this.#tail.subarray(0, after)]))
    const split = after % tail
    const last = Buffer.concat([this.#tail.subarray(split), this.#tail.subarray(0, split)])
    const headEnd = lastStart(this.#head)
    const tailStart = firstStart(last)
    const cut = after - tail + (this.#head.length - headEnd) + tailStart
    return `${decode(this.#head.subarray(0, headEnd))}\n[${cut} bytes of the output are cut here]\n${decode(last.subarray(tailStart))}`
  }
}

function decode(bytes: Buffer): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes).replaceAll('\0', '\uFFFD')
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80

/** The length of `bytes` without a UTF-8 character that may be cut off at the end. */
export function lastStart(bytes: Buffer): number {
  let at = bytes.length
  while (at > 0 && at > bytes.length - 4 && isContinuation(bytes[at - 1])) at--
  const lead = bytes[at - 1] ?? 0
  const needed = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1
  return bytes.length - at + 1 < needed ? at - 1 : bytes.length
}

/** Where the first whole UTF-8 character of `bytes` begins. */
function firstStart(bytes: Buffer): number {
  let at = 0
  while (at < 3 && isContinuation(bytes[at])) at++
  return at
}
