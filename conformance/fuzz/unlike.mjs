// Owns the comparison of two JSON values, and the words for the first place in which they differ.

/** Where `became` isn't what was told, or nothing. Numbers that are equal are alike, however they are written. */
export function unlike(told, became, path = '') {
  if (typeof told !== 'object' || told === null || typeof became !== 'object' || became === null)
    return told === became ? '' : `${path || 'it'} is ${shown(became)} instead of ${shown(told)}`
  if (Array.isArray(told) !== Array.isArray(became)) return `${path || 'it'} is ${shown(became)} instead of ${shown(told)}`
  for (const key of new Set([...Object.keys(told), ...Object.keys(became)])) {
    const at = `${path}.${key}`
    if (!Object.hasOwn(became, key)) return `${at} is missing instead of ${shown(told[key])}`
    if (!Object.hasOwn(told, key)) return `${at} is ${shown(became[key])} instead of missing`
    const difference = unlike(told[key], became[key], at)
    if (difference !== '') return difference
  }
  return ''
}

const shown = (value) => (JSON.stringify(value) ?? 'nothing').slice(0, 300)
