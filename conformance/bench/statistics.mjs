// Owns the arithmetic of the bench: medians of rounds, shuffled contestants.

export function median(values) {
  if (values.length === 0) throw new Error('the median of nothing')
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** In a new order, each as likely as the others; `random` is from 0 to below 1. */
export function shuffled(values, random = Math.random) {
  const order = [...values]
  for (let last = order.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1))
    ;[order[last], order[other]] = [order[other], order[last]]
  }
  return order
}

/**
 * Lets every contestant run once in each round, in a new order each time. `contestants` are functions by name that give samples.
 * Gives by name the median of the rounds' medians, and the rounds.
 */
export async function contest(rounds, contestants, random = Math.random) {
  const figures = new Map(Object.keys(contestants).map((name) => [name, []]))
  for (let round = 0; round < rounds; round += 1) {
    for (const name of shuffled(Object.keys(contestants), random)) figures.get(name).push(median(await contestants[name]()))
  }
  return Object.fromEntries([...figures].map(([name, perRound]) => [name, { value: median(perRound), rounds: perRound }]))
}
