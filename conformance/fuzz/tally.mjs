// Owns the counts of a run: frames sent, what came back by kind, and what it took.

export class Tally {
  frames = 0
  cases = 0
  notices = 0
  #outcomes = new Map()
  #began = performance.now()
  #worked = process.cpuUsage()

  count(kind) {
    this.#outcomes.set(kind, (this.#outcomes.get(kind) ?? 0) + 1)
  }

  /** Counts of one case, by kind. @param {string} what @param {Iterable<[string, number]>} counts */
  merge(what, counts) {
    for (const [kind, count] of counts) this.#outcomes.set(`${what}: ${kind}`, (this.#outcomes.get(`${what}: ${kind}`) ?? 0) + count)
  }

  /** A server's answer, by its code. */
  answer({ error }) {
    this.count(`answered: ${error === undefined ? 'a result' : String(error.code === -32000 ? error.data?.code : error.code)}`)
  }

  /** In words, for who runs it by hand. */
  text(what) {
    const seconds = (performance.now() - this.#began) / 1000
    const kinds = [...this.#outcomes]
      .sort(([a, m], [b, n]) => (a.split(':')[0] < b.split(':')[0] ? -1 : a.split(':')[0] > b.split(':')[0] ? 1 : n - m))
      .map(([kind, count]) => `  ${String(count).padStart(9)}  ${kind}`)
    const { user, system } = process.cpuUsage(this.#worked)
    const worked = (user + system) / 1e6
    const rate = Math.round(this.frames / worked)
    return [
      `${what}: ${this.frames} frames in ${this.cases} cases, ${this.notices} notifications`,
      `${seconds.toFixed(1)} s, of which ${worked.toFixed(1)} s of work (${rate} frames per second of it)`,
      ...kinds,
    ].join('\n')
  }
}
