// Owns the reading of what a server writes on one connection: each answer is found its request, each notification its subscription.
import { fits, misfits, noticeOf, notificationNames } from './schema.mjs'
import { keyOf, unlike } from './server-oracle.mjs'

export class ServerReader {
  problems = []
  /** By id: what is owed, and what came. */
  #byId = new Map()
  #left = 0
  #tally
  #rest = ''
  /** By subscription: the last seq, or null where it isn't known. */
  #cursors = new Map()
  #done
  /** Resolves once there are as many answers as must be. */
  answered = new Promise((resolve) => {
    this.#done = resolve
  })

  /**
   * @param {(import('./server-oracle.mjs').Owed | null)[]} owed line by line
   * @param {import('./tally.mjs').Tally} tally
   */
  constructor(owed, tally) {
    this.#tally = tally
    for (const each of owed) {
      if (each === null) continue
      const entry = this.#entry(each.id)
      entry.owed.push(each)
      if (!each.optional) this.#left += 1
    }
  }

  take(text) {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop()
    for (const line of lines) this.#frame(line)
  }

  /** Gives each answer its request, now that all have come. */
  settle() {
    for (const [key, { owed, answers }] of this.#byId) {
      const missing = owed.filter(({ optional }) => !optional).length - answers.length
      if (missing > 0) this.problems.push(`no answer to ${key}${missing > 1 ? ` (${missing} times)` : ''}`)
      else if (answers.length > owed.length) this.problems.push(`an answer too many: ${answers.at(-1).line.slice(0, 300)}`)
      else for (const { line, why } of unmatched(owed, answers)) this.problems.push(`${why}: ${line.slice(0, 400)}`)
    }
    if (this.#rest !== '') this.problems.push(`half a frame at the end: ${this.#rest.slice(0, 200)}`)
  }

  #entry(id) {
    const key = id === null ? 'null' : keyOf(id)
    const entry = this.#byId.get(key) ?? { owed: [], answers: [] }
    this.#byId.set(key, entry)
    return entry
  }

  #frame(line) {
    let frame
    try {
      frame = JSON.parse(line)
    } catch {
      this.problems.push(`not a frame: ${line.slice(0, 200)}`)
      return
    }
    if (frame.method !== undefined) this.#notice(frame)
    else this.#answer(frame, line)
  }

  #answer(answer, line) {
    this.#tally.answer(answer)
    const { owed, answers } = this.#entry(answer.id)
    answers.push({ answer, line })
    if (answer.result !== undefined) this.#followed(owed, answer.result)
    if (owed[answers.length - 1]?.optional) return
    this.#left -= 1
    if (this.#left <= 0) this.#done()
  }

  /** What the answer of a subscribe or an unsubscribe changes. Where an id was used twice, it isn't told which of them this is. */
  #followed(owed, result) {
    if (owed.length !== 1) {
      for (const { params } of owed) if (typeof params?.subscriptionId === 'string') this.#cursors.set(params.subscriptionId, null)
      if (typeof result.subscriptionId === 'string') this.#cursors.set(result.subscriptionId, null)
      return
    }
    const [{ method, params }] = owed
    if (method === 'session/unsubscribe') this.#cursors.delete(params.subscriptionId)
    if (method !== 'session/subscribe' || this.#cursors.has(result.subscriptionId)) return
    const { after, from } = params
    this.#cursors.set(result.subscriptionId, from !== undefined ? null : typeof after === 'number' ? after : result.seq)
  }

  /** SUB-1, SUB-4: behind its answer, in order, without a gap; and as the schema says. */
  #notice({ jsonrpc, id, method, params }) {
    this.#tally.notices += 1
    const wrong = (why) => this.problems.push(`${why}: ${JSON.stringify({ method, params }).slice(0, 400)}`)
    if (jsonrpc !== '2.0' || id !== undefined || !notificationNames.includes(method)) return wrong('no notification')
    if (!fits(noticeOf(method), params)) return wrong(misfits(noticeOf(method), params))
    const cursor = this.#cursors.get(params.subscriptionId)
    if (cursor === undefined) return wrong('of a subscription that nobody was told of')
    if (method === 'session.closed') return this.#cursors.delete(params.subscriptionId)
    if (method !== 'session.event') return undefined
    const { seq } = params.event
    if (cursor !== null && seq !== cursor + 1) wrong(`it came after ${cursor}`)
    this.#cursors.set(params.subscriptionId, seq)
    return undefined
  }
}

/** The answers that no request of this id is left for: of several with one id the order isn't told, so every pairing is looked at. */
function unmatched(owed, answers) {
  const complaints = answers.map(({ answer, line }) => owed.map((each) => unlike(each, answer, line)))
  const taken = new Map()
  const place = (i, tried) => {
    for (const [k, complaint] of complaints[i].entries()) {
      if (complaint !== '' || tried.has(k)) continue
      tried.add(k)
      if (taken.has(k) && !place(taken.get(k), tried)) continue
      taken.set(k, i)
      return true
    }
    return false
  }
  return answers.flatMap(({ line }, i) => (place(i, new Set()) ? [] : [{ line, why: complaints[i][0] }]))
}
