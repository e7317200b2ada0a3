// Owns the wildcards of tool names and permission rules: `*`, and in paths `**`. All else stands for itself; nothing escapes it.

/** One piece of a pattern. */
type Piece =
  /** This character. */
  | { kind: 'one'; char: string }
  /** Any run of characters, also none, without one that `barred` (a RegExp for one character, without flags) matches. */
  | { kind: 'run'; barred: RegExp | undefined }
  /** Any number of whole directories, also none: text that is empty or ends in a slash. */
  | { kind: 'directories' }
  /** Nothing, or a slash and anything. Only at the end. */
  | { kind: 'below' }

/** Whether the whole of `text` matches `pattern`, of whose `*` none covers a character that `barred` matches. */
export function matchesWildcard(pattern: string, text: string, barred?: RegExp): boolean {
  return new Wildcard(pattern, barred).matches(text)
}

/** A pattern, ready to be compared. A comparison costs at most pattern × text, whatever they hold. */
export class Wildcard {
  readonly #pieces: Pieces

  constructor(pattern: string, barred?: RegExp) {
    const pieces = [...pattern.matchAll(/\*+|[^*]/gs)]
    this.#pieces = prepared(pieces.map(([text]) => (text.startsWith('*') ? { kind: 'run', barred } : { kind: 'one', char: text })))
  }

  matches(text: string): boolean {
    return run(this.#pieces, text, false)
  }
}

/** A pattern for paths, in the spelling that `normalize` of node:path gives. */
export class PathWildcard {
  readonly #pieces: Pieces
  readonly #reading: 'narrow' | 'wide'

  /**
   * In both readings `**` stands for any run of characters, a `**` with a slash behind it in the place of a directory for any
   * number of directories, and a slash and `**` at the end also for the directory itself.
   * `narrow`: a `*` stays within one name. `wide`: it reaches over slashes; a pattern without a slash is looked for in every directory; and
   * what matches a directory matches all that is below it.
   */
  constructor(pattern: string, reading: 'narrow' | 'wide') {
    const everywhere = reading === 'wide' && !pattern.includes('/')
    const pieces = [...pattern.matchAll(/(?<=^|\/)(?:\*\*+\/)+|\/\*\*+$|\*+|[^*]/gs)].map(([text]): Piece => {
      if (text.length > 1 && text.endsWith('/')) return { kind: 'directories' }
      if (text.length > 1 && text.startsWith('/')) return { kind: 'below' }
      if (!text.startsWith('*')) return { kind: 'one', char: text }
      return { kind: 'run', barred: text === '*' && reading === 'narrow' ? /\// : undefined }
    })
    this.#pieces = prepared(everywhere ? [{ kind: 'directories' }, ...pieces] : pieces)
    this.#reading = reading
  }

  matches(path: string): boolean {
    return run(this.#pieces, path, this.#reading === 'wide')
  }
}

interface Pieces {
  pieces: readonly Piece[]
  /** The texts that stand for themselves, each as long as it is: whatever matches has them all. */
  literals: readonly string[]
}

function prepared(pieces: readonly Piece[]): Pieces {
  const text = pieces.map((piece) => (piece.kind === 'one' ? piece.char : '*')).join('')
  return { pieces, literals: text.split('*').filter((literal) => literal !== '') }
}

/** Goes through the text once, with all places in the pattern that are possible so far. `directoryDoes`: a match that a slash follows will do. */
function run({ pieces, literals }: Pieces, text: string, directoryDoes: boolean): boolean {
  if (!literals.every((literal) => text.includes(literal))) return false
  const end = pieces.length
  let [now, next] = [new Places(pieces), new Places(pieces)]
  now.reach(0)
  for (const char of text.split('')) {
    if (directoryDoes && char === '/' && now.has(end)) return true
    next.clear()
    for (const [place, piece] of pieces.entries()) {
      if (now.has(place)) {
        if (piece.kind === 'one' && piece.char === char) next.reach(place + 1)
        else if (piece.kind === 'run' && piece.barred?.test(char) !== true) next.reach(place)
        else if (piece.kind === 'directories' || (piece.kind === 'below' && char === '/')) next.enter(place, char)
      }
      if (now.isInside(place)) next.enter(place, char)
    }
    if (next.isEmpty) return false
    ;[now, next] = [next, now]
  }
  return now.has(end)
}

/** The places in a pattern at which a comparison may be: before a piece, or inside one that takes more than one character as a whole. */
class Places {
  readonly #pieces: readonly Piece[]
  readonly #before: Uint8Array
  readonly #inside: Uint8Array
  isEmpty = true

  constructor(pieces: readonly Piece[]) {
    this.#pieces = pieces
    this.#before = new Uint8Array(pieces.length + 1)
    this.#inside = new Uint8Array(pieces.length)
  }

  clear(): void {
    this.#before.fill(0)
    this.#inside.fill(0)
    this.isEmpty = true
  }

  has(place: number): boolean {
    return this.#before[place] === 1
  }

  isInside(place: number): boolean {
    return this.#inside[place] === 1
  }

  /** Before a piece, and behind it where it may stand for nothing. */
  reach(place: number): void {
    this.isEmpty = false
    for (let at = place; !this.has(at); at++) {
      this.#before[at] = 1
      const piece = this.#pieces[at]
      if (piece === undefined || piece.kind === 'one') return
    }
  }

  /** Inside a piece, having taken `char`, and behind it where that may be its last. */
  enter(place: number, char: string): void {
    this.isEmpty = false
    this.#inside[place] = 1
    if (this.#pieces[place]?.kind === 'below' || char === '/') this.reach(place + 1)
  }
}
