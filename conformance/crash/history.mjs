// Owns a second reading of what the model is told: the conversation that follows from a log, and what makes one valid. Shares no
// code with the runtime.
import { isDeepStrictEqual } from 'node:util'

/** The conversation after these facts, as session/messages gives it, without `seq`. */
export function historyOf(facts) {
  const contents = new Map()
  const history = []
  let asked = []
  let results = new Map()
  const close = () => {
    if (asked.length > 0) history.push({ role: 'tool', content: asked.flatMap((callId) => results.get(callId) ?? []) })
    asked = []
    results = new Map()
  }
  for (const { type, data } of facts) {
    if (type === 'inbox/receipt') contents.set(data.message.id, data.message.content)
    else if (type === 'inbox/admitted') {
      close()
      history.push({ role: 'user', content: contents.get(data.messageId), messageId: data.messageId })
    } else if (type === 'assistant/message') {
      history.push({ role: 'assistant', content: data.content })
      asked = data.content.filter((block) => block.type === 'tool_use').map(({ callId }) => callId)
    } else if (type === 'tool/result') {
      const { callId, content, images, isError } = data
      results.set(callId, { type: 'tool_result', callId, content, ...(images !== undefined && { images }), isError })
    } else if (type === 'step/start' || type === 'turn/end') close()
  }
  return history
}

/** What a vendor would refuse: a call without its result right behind it, a result of nothing, an empty message, a bad start. */
export function invalidIn(history) {
  const found = []
  let asked = []
  for (const [i, { role, content }] of history.entries()) {
    const say = (why) => found.push(`message ${i} (${role}): ${why}`)
    if (!Array.isArray(content) || content.length === 0) say('it is empty')
    if (i === 0 && role !== 'user') say('a conversation begins with the user')
    const results = role === 'tool' ? content.map(({ callId }) => callId) : []
    if (!isDeepStrictEqual(results, asked)) say(`it answers the calls [${results}], where [${asked}] were asked for`)
    asked = role === 'assistant' ? content.filter((block) => block.type === 'tool_use').map(({ callId }) => callId) : []
  }
  return found
}

/** Where the runtime's own account differs from that of its facts. */
export function differsFrom(facts, messages) {
  const told = messages.map(({ seq, ...message }) => message)
  const due = historyOf(facts)
  const at = due.findIndex((message, i) => !isDeepStrictEqual(message, told[i]))
  if (at !== -1) return [`message ${at}: the log says ${JSON.stringify(due[at])}, the runtime ${JSON.stringify(told[at])}`]
  return told.length === due.length ? [] : [`the log makes ${due.length} messages, the runtime ${told.length}`]
}
