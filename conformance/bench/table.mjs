// Owns how figures are told: one line each, with its ratios and whether it is within its sanity bound.

const digits = (value) => (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2))
const multiple = (value) => (value >= 10 ? value.toFixed(1) : value.toFixed(2))

export function verdictOf({ value, ratios = {}, bound }) {
  if (bound === undefined) return undefined
  return (bound.of === undefined ? value : ratios[bound.of]) <= bound.most ? 'ok' : 'over'
}

function cellsOf(row) {
  const { what, value, unit, ratios = {}, bound, note = '', error } = row
  if (error !== undefined) return [what, 'failed', '', '', '', error.split('\n')[0]]
  if (value === undefined) return [what, '—', '', '', '', note]
  const multiples = Object.entries(ratios).map(([of, ratio]) => `${multiple(ratio)} × ${of}`)
  const limit = bound === undefined ? '' : `≤ ${bound.most}${bound.of === undefined ? '' : ` × ${bound.of}`}`
  return [what, `${unit === '' ? value : digits(value)} ${unit}`.trim(), multiples.join(', '), limit, verdictOf(row) ?? '', note]
}

export function tableOf(rows, { node, cores, fileSystem, loads, rounds, seconds }) {
  const header = ['what', 'figure', 'ratio', 'sanity', '', '']
  const cells = [header, ...rows.map(cellsOf)]
  const widths = header.map((_, column) => Math.max(...cells.map((line) => line[column].length)))
  widths[5] = 0
  const lines = cells.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd(),
  )
  const disk = fileSystem === 'tmpfs' ? 'tmpfs, so no sync is real' : fileSystem
  const load = loads.map((value) => value.toFixed(1)).join(' to ')
  const about = `Node ${node}, ${cores} cores, load ${load}, stores on ${disk}; medians of ${rounds} rounds, ${seconds.toFixed(0)} s. Ratios within a run hold, times don't.`
  const over = rows.filter((row) => verdictOf(row) === 'over').length
  const last = over === 0 ? [] : [`${over} over its sanity bound: look there first.`]
  return [...lines, '', about, ...last].join('\n')
}
