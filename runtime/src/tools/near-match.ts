// Owns the hint that goes with a failed edit: the place in the file that is most like the text that was looked for.

/** Beyond this length, in characters, no hint is looked for: the answer must not hold up the runtime. */
const MAX_SEARCHED = 2 * 1024 * 1024
const MAX_SHOWN_LINES = 12
const MAX_SHOWN_LINE = 200

/** One or more sentences for the model; never empty. */
export function nearest(text: string, wanted: string): string {
  const fallback = 'Nothing like it was found: read the file again.'
  if (text.length > MAX_SEARCHED || wanted.length > MAX_SEARCHED) return 'Read the place in the file again.'
  const unnumbered = wanted.replace(/^[ \t]*\d+\t/gm, '')
  if (unnumbered !== wanted && unnumbered !== '' && squeeze(text).includes(squeeze(unnumbered)))
    return 'It has the line numbers of read_file in it: leave out the number and the tab in front of each line.'
  const lines = text.split(/\r?\n/)
  const sought = wanted.split(/\r?\n/)
  const place = byEqualLines(lines, sought) ?? byLikeness(lines, sought)
  if (place === undefined) return fallback
  const first = Math.max(0, place)
  const end = Math.min(lines.length, place + sought.length, first + MAX_SHOWN_LINES)
  const shown = lines.slice(first, end).map((line, index) => `${first + index + 1}\t${line.slice(0, MAX_SHOWN_LINE)}`)
  return `The most similar place is this (look for differences in whitespace and punctuation):\n${shown.join('\n')}`
}

function squeeze(line: string): string {
  return line.replace(/\s+/g, ' ').trim()
}

/** The index of the line where, whitespace aside, most lines agree: at least half of those with anything on them. */
function byEqualLines(lines: readonly string[], sought: readonly string[]): number | undefined {
  const wanted = new Map<string, number[]>()
  let counted = 0
  for (const [index, line] of sought.slice(0, 100).entries()) {
    const key = squeeze(line)
    if (key === '') continue
    counted++
    wanted.set(key, [...(wanted.get(key) ?? []), index])
  }
  const votes = new Map<number, number>()
  for (const [index, line] of lines.entries())
    for (const inSought of wanted.get(squeeze(line)) ?? []) votes.set(index - inSought, (votes.get(index - inSought) ?? 0) + 1)
  let best: { place: number; votes: number } | undefined
  for (const [place, count] of votes) if (count > (best?.votes ?? 0)) best = { place, votes: count }
  return best !== undefined && best.votes * 2 >= counted ? best.place : undefined
}

/** The index of the line that shares most of its beginning and end with the first line that has anything on it. */
function byLikeness(lines: readonly string[], sought: readonly string[]): number | undefined {
  const offset = sought.findIndex((line) => squeeze(line) !== '')
  const wanted = squeeze(sought[offset] ?? '').toLowerCase()
  if (wanted === '') return undefined
  let best: { place: number; share: number } | undefined
  for (const [index, line] of lines.entries()) {
    const share = shared(squeeze(line).toLowerCase(), wanted)
    if (share > (best?.share ?? 0)) best = { place: index - offset, share }
  }
  return best !== undefined && best.share >= 0.6 ? best.place : undefined
}

/** From 0 (nothing) to 1 (equal): how much of the longer text is common beginning or end; 0.9 where one holds the other. */
function shared(a: string, b: string): number {
  if (a === b) return 1
  if (a !== '' && a.includes(b)) return 0.9
  const shorter = Math.min(a.length, b.length)
  let head = 0
  while (head < shorter && a[head] === b[head]) head++
  let tail = 0
  while (tail < shorter - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  return (head + tail) / Math.max(a.length, b.length)
}
