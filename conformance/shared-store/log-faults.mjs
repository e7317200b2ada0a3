// Owns a reading of a session's log: what in it can't be, told as a list. Independent of the runtime's own rules.

/** @param {number} receipts how many messages there must be, each received once, admitted once and followed by an idle */
export function faultsOf(log, receipts) {
  const faults = []
  const counts = new Map()
  let status = 'idle'
  let turn = null
  let owed = 0
  for (const [i, { seq, type, data }] of log.entries()) {
    if (seq !== i + 1) faults.push(`seq ${seq} at place ${i + 1}`)
    if (type === 'inbox/receipt') {
      owed += 1
      counts.set(data.message.id, { received: (counts.get(data.message.id)?.received ?? 0) + 1, admitted: 0 })
    } else if (type === 'inbox/admitted') {
      const count = counts.get(data.messageId)
      if (count === undefined) faults.push(`${data.messageId} is admitted, and was never received`)
      else count.admitted += 1
    } else if (type === 'turn/start') {
      if (turn !== null) faults.push(`${data.turnId} starts in ${turn}`)
      turn = data.turnId
    } else if (type === 'turn/end') {
      if (turn !== data.turnId) faults.push(`${data.turnId} ends in ${turn}`)
      turn = null
    } else if (type === 'agent/status') {
      if (data.status === status) faults.push(`${status} twice, at ${seq}`)
      status = data.status
      if (status === 'idle' && turn !== null) faults.push(`idle in ${turn}`)
      if (status === 'idle') owed = 0
    }
  }
  if (status !== 'idle' || owed > 0) faults.push(`it ends ${status}, with ${owed} messages that no idle follows`)
  if (counts.size !== receipts) faults.push(`${counts.size} messages, not ${receipts}`)
  for (const [id, { received, admitted }] of counts)
    if (received !== 1 || admitted !== 1) faults.push(`${id} is received ${received} times and admitted ${admitted} times`)
  return faults
}
