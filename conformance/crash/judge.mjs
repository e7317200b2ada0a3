// Owns the verdict on a case: what clients were told against what the logs hold, each log against the contract's rules, and the
// traces outside. Knows no scenario.
import { isDeepStrictEqual } from 'node:util'
import { differsFrom, invalidIn } from './history.mjs'
import { LogReading } from './log-rules.mjs'

/** Everything that is wrong with a story; an empty list is a good one. */
export function judge(story) {
  const said = [...story.complaints]
  for (const complain of [endings, logs, takeovers, told, histories, traces]) said.push(...complain(story))
  const extra = story.complaints.length === 0 ? (story.scenario.expects?.(story) ?? []) : []
  return [...said, ...extra]
}

/** The logs of a session in the order in which they were looked at: {run, facts}, `run` being the one before the look; the last is final. */
export function snapshotsOf(story, sessionId) {
  const found = story.runs.filter(({ left }) => left.has(sessionId)).map(({ k, left }) => ({ run: k - 1, facts: left.get(sessionId) }))
  const final = story.final.get(sessionId)
  return final === undefined ? found : [...found, { run: story.runs.length - 1, facts: final?.facts ?? null }]
}

export function sessionsOf(story) {
  return [...new Set([...story.final.keys(), ...story.runs.flatMap(({ left }) => [...left.keys()])])]
}

/** A process ends because it was killed where it was to be, or well. */
function endings({ runs, points, scenario }) {
  return runs.flatMap(({ k, kill, ends, processes }) =>
    (ends ?? []).flatMap(({ code, signal }, i) => {
      const { stderr } = processes[i]
      const faults = stderr.split('\n').filter((line) => /"level":(50|60)|fault|Error|warning/i.test(line))
      const noise = faults.map((line) => `run ${k}: the runtime says: ${line}`)
      if (signal === 'SIGKILL' && (kill === undefined || points[k].includes(kill) || kill.startsWith('@'))) return noise
      if (signal === null && (code === 0 || scenario.statuses?.includes(code))) return noise
      return [`run ${k} ended with ${signal ?? `status ${code}`}: ${stderr}`, ...noise]
    }),
  )
}

/** Each log keeps the rules, is the beginning of the next one, and the last leaves nothing open. */
function logs(story) {
  return sessionsOf(story).flatMap((sessionId) => {
    const said = []
    const snapshots = snapshotsOf(story, sessionId)
    for (const [i, { run, facts }] of snapshots.entries()) {
      if (facts === null) continue
      said.push(...LogReading.of(facts).broken.map((why) => `after run ${run}: ${why}`))
      const next = snapshots[i + 1]?.facts
      if (next != null && !isDeepStrictEqual(next.slice(0, facts.length), facts))
        said.push(`RE-1: run ${run + 1} changed what was committed`)
    }
    const final = story.final.get(sessionId)
    if (final == null) return said
    const { status, reading, session } = final
    if (status.status !== 'idle' || status.seq !== reading.seq || session.seq !== reading.seq)
      said.push(`ST-6: session/status says ${JSON.stringify(status)} of a log that ends at ${reading.seq}`)
    return [...said, ...reading.unfinished]
  })
}

/** RE-2, RE-7: what the next activation commits first, where a run left something open. */
function takeovers(story) {
  return sessionsOf(story).flatMap((sessionId) => {
    const snapshots = snapshotsOf(story, sessionId).filter(({ facts }) => facts !== null)
    return snapshots.slice(0, -1).flatMap(({ run, facts }, i) => {
      const next = snapshots[i + 1].facts.slice(facts.length)
      return takeover(LogReading.of(facts), next).map((why) => `RE-2: after run ${run}: ${why}`)
    })
  })
}

/** What anybody may commit in between, whoever drives. */
const inputs = new Set(['inbox/receipt', 'inbox/cancelled', 'session/update', 'agent/cancel'])

/** `before` is the reading of a log whose driver is gone, `after` what was committed next. */
export function takeover(before, after) {
  if (before.status !== 'running') return []
  const own = after.filter(({ type }) => !inputs.has(type))
  if (own.length === 0) return []
  const { turn, calls } = before
  const cancel = after.slice(0, after.indexOf(own[0])).find(({ type, data }) => type === 'agent/cancel' && data.turnId === turn?.turnId)
  const cancelled = turn !== null && (turn.cancelledBy !== null || cancel !== undefined)
  const resumes = (before.config.recovery ?? 'resume') === 'resume'
  const exhausted = before.resumes >= 2
  const due = turn === null ? [] : [...[...calls.values()].map(closed), endOf(turn.turnId, { cancelled, exhausted })]
  const from = turn?.turnId ?? before.interrupted
  if (from !== null && resumes && !cancelled && !(exhausted && turn !== null)) due.push(`turn/start recovery ${from}`)
  const told = own.slice(0, due.length).map(shortly)
  return isDeepStrictEqual(told, due) ? [] : [`expected ${due.join(', ')}, got ${told.join(', ')}`]
}

const closed = ({ callId, started }) => `tool/result ${callId} ${started ? 'tool_outcome_unknown' : 'tool_not_started'}`
const endOf = (turnId, { cancelled, exhausted }) =>
  `turn/end ${turnId} ${cancelled ? 'cancelled' : exhausted ? 'recovery_exhausted' : 'interrupted'}`

function shortly({ type, data }) {
  if (type === 'tool/result') return `${type} ${data.callId} ${data.error?.code}`
  if (type === 'turn/end') return `${type} ${data.turnId} ${data.reason.kind === 'error' ? data.reason.error.code : data.reason.kind}`
  if (type === 'turn/start') return `${type} ${data.trigger.kind} ${data.trigger.turnId ?? data.trigger.messageId}`
  return type
}

/** RE-1, IN-1 to IN-3, CAN-1, SUB-1: what a client was told is in the log that its runtime left, and stays there. */
function told(story) {
  return story.runs.flatMap(({ k, clients }) =>
    clients.flatMap((client) => {
      const factsOf = (sessionId) => snapshotsOf(story, sessionId).find(({ run }) => run >= k)
      const deleted = new Set(story.sent('session/delete').flatMap(({ params }) => [params.sessionId]))
      const say = (why) => `run ${k}: ${why}`
      const answers = client.calls.flatMap((call) => answered(call, (id) => factsOf(id), deleted))
      return [...answers, ...received(client.notifications, factsOf, deleted)].map(say)
    }),
  )
}

/** Faults of one answered call. */
function answered({ method, params, answer }, snapshotOf, deleted) {
  if (answer === undefined || 'error' in answer || !(method in claims)) return []
  const snapshot = snapshotOf(params.sessionId)
  if (snapshot === undefined) return []
  if (method === 'session/delete') return snapshot.facts === null ? [] : [`DEL-1: session ${params.sessionId} was deleted, and is there`]
  if (snapshot.facts === null) return deleted.has(params.sessionId) ? [] : [`RE-1: session ${params.sessionId} is gone`]
  return claims[method](params, answer.result, snapshot.facts)
}

/** What each answer claims about the log. */
const claims = {
  'session/create': () => [],
  'session/delete': () => [],
  'session/prompt': ({ messageId, content, delivery = 'followup' }, result, facts) => {
    if (!isDeepStrictEqual(result, { messageId })) return [`IN-1: ${messageId} was answered ${JSON.stringify(result)}`]
    const receipts = facts.filter(({ type, data }) => type === 'inbox/receipt' && data.message.id === messageId)
    if (receipts.length !== 1) return [`RE-1: ${messageId} was answered, and has ${receipts.length} receipts`]
    const { message } = receipts[0].data
    const same = message.delivery === delivery && isDeepStrictEqual(message.content, [{ type: 'text', text: content }])
    return same ? [] : [`RE-1: the receipt of ${messageId} holds another message: ${JSON.stringify(message)}`]
  },
  'session/withdraw': ({ messageId }, { withdrawn }, facts) => {
    const fate = facts.find(({ type, data }) => /^inbox\/(admitted|cancelled)$/.test(type) && data.messageId === messageId)
    const is = fate?.type === 'inbox/cancelled' && fate.data.reason === 'withdrawn'
    return (withdrawn ? is : fate !== undefined) ? [] : [`IN-8: withdrawn ${withdrawn}, and the log has ${fate?.type} of ${messageId}`]
  },
  'session/cancel': ({ scope = 'turn' }, { cancelled, withdrawn }, facts) => {
    const cancel = facts.find(({ type, data }) => type === 'agent/cancel' && data.scope === scope && data.by === 'crash')
    if (cancelled && cancel === undefined) return [`CAN-1: a cancel of scope ${scope} was answered, and is not in the log`]
    const lost = withdrawn.filter(
      ({ messageId }) =>
        !facts.some(({ type, data }) => type === 'inbox/cancelled' && data.messageId === messageId && data.reason === 'cancelled'),
    )
    return lost.map(({ messageId }) => `CAN-2: ${messageId} was withdrawn by a cancel, and the log does not say so`)
  },
  'session/update': ({ sessionId, ...change }, _, facts) => {
    const made = facts.some(({ type, data }) => type === 'session/update' && isDeepStrictEqual(data.change, change))
    return made ? [] : [`RE-1: an update was answered, and is not in the log: ${JSON.stringify(change)}`]
  },
}

/** Faults of what came unasked: facts that are not the log's, out of order, or statuses that are not theirs. */
function received(notifications, snapshotOf, deleted) {
  const said = []
  const next = new Map()
  for (const { method, params } of notifications) {
    const { sessionId, subscriptionId } = params
    const snapshot = snapshotOf(sessionId)
    if (snapshot === undefined) continue
    if (snapshot.facts === null) {
      if (!deleted.has(sessionId)) said.push(`RE-1: facts of ${sessionId} were sent, and it is gone`)
      continue
    }
    const cursor = next.get(subscriptionId)
    if (method === 'session.event') {
      const { event } = params
      if (cursor !== undefined && event.seq !== cursor + 1) said.push(`SUB-1: seq ${event.seq} was sent after ${cursor}`)
      if (!isDeepStrictEqual(snapshot.facts[event.seq - 1], event))
        said.push(`RE-1: ${event.type} was sent as seq ${event.seq}, and the log has another`)
      next.set(subscriptionId, event.seq)
    } else if (method === 'session.status') {
      const { type, data } = snapshot.facts[params.seq - 1] ?? {}
      if (type !== 'agent/status' || data.status !== params.status || cursor !== params.seq)
        said.push(`ST-6: status ${params.status} was sent for seq ${params.seq}, behind ${cursor}`)
    }
  }
  return said
}

/** TU-8: what the model is told is what the log says, and is valid, whatever happened. */
function histories(story) {
  return [...story.final.values()].flatMap((final) => {
    if (final === null) return []
    return [...differsFrom(final.facts, final.messages), ...invalidIn(final.messages)].map((why) => `TU-8: ${why}`)
  })
}

/** Traces outside the log: effects of commands and file tools, what is left of processes and files, the store's own health. */
function traces(story) {
  if (story.final.size === 0) return story.damage.map((what) => `the store is damaged: ${what}`)
  const calls = [...story.final.values()].flatMap((final) => [...(final?.reading.allCalls.values() ?? [])])
  const said = story.damage.map((what) => `the store is damaged: ${what}`)
  const deleted = story.sent('session/delete').length > 0
  for (const tag of new Set(story.effects)) {
    const { started } = countOf(calls, tag)
    const count = story.effects.filter((line) => line === tag).length
    if (!deleted && count > started) said.push(`TU-3: the command ${tag} ran ${count} times, and was started ${started} times`)
  }
  for (const { callId, input, result } of calls) {
    const tag = /echo (\S+) >> effects\.txt/.exec(input?.command ?? '')?.[1]
    if (tag !== undefined && result?.isError === false && !story.effects.includes(tag))
      said.push(`TU-6: ${callId} says that ${tag} was done, and it was not`)
  }
  for (const { path, before, after, tag } of story.scenario.files ?? []) {
    const { started, succeeded } = countOf(calls, tag)
    const found = story.files[path]
    if (found !== before && found !== after) said.push(`${path} holds neither the old nor the new text: ${JSON.stringify(found)}`)
    if (!deleted && found === after && started === 0) said.push(`TU-3: ${path} was written by a call that never started`)
    if (found !== after && succeeded > 0) said.push(`TU-6: a call says that ${path} was written, and it was not`)
  }
  const killed = story.runs.filter(({ ends }) => ends?.some(({ signal }) => signal === 'SIGKILL')).length
  if (story.temporaryFiles.length > killed) said.push(`files are left over: ${story.temporaryFiles}`)
  return said
}

function countOf(calls, tag) {
  const about = calls.filter(({ input }) => JSON.stringify(input).includes(tag))
  return {
    started: about.filter(({ started }) => started).length,
    succeeded: about.filter(({ result }) => result?.isError === false).length,
  }
}
