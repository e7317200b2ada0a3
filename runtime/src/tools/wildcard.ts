// Owns the one wildcard grammar of tool names and permission rules: `*` stands for any run of characters, all else for itself.

/**
 * Whether the whole of `text` matches `pattern`. A `*` never covers a character that `barred` matches (a RegExp for one
 * character, without flags). Costs at most pattern × text, whatever they hold.
 */
export function matchesWildcard(pattern: string, text: string, barred?: RegExp): boolean {
  let at = 0
  let inPattern = 0
  let star = -1
  let covered = 0
  while (at < text.length) {
    if (pattern[inPattern] === '*') {
      star = inPattern++
      covered = at
    } else if (pattern[inPattern] === text[at]) {
      inPattern++
      at++
    } else if (star >= 0 && barred?.test(text.charAt(covered)) !== true) {
      inPattern = star + 1
      at = ++covered
    } else return false
  }
  while (pattern[inPattern] === '*') inPattern++
  return inPattern === pattern.length
}
