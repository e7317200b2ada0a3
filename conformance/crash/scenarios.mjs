// Owns the scenarios whose runtime serves one client and is killed once: what the model does, what the client asks for.
//
// A scenario has: name · script (entries of the scripted model, one per answer) · play(stage), the first run · sessions, by id ·
// gates, by name, open in later runs · shell: true where commands run · files that tools make: {path, before, after, tag} ·
// shows: what the log must hold where nobody is killed, so that no scenario proves nothing · always: kills that once found a
// fault, in every share. Further: prepare(place), tidy(place) · start(place), what is different about the start of a runtime ·
// after(client, stage, story), at the end of the last run · expects(story), faults of its own · only: a pattern of the points that
// count · second: kills of the first runs, behind which the next run is killed at each of its points · resumeBy: 'command', with
// again(stage), where a command takes over.

/** A command that keeps its run's life open, and leaves a line. */
export const leaves = (tag, rest = '') => ({
  name: 'shell',
  input: { command: `exec 9>"$TMPDIR/life"; echo ${tag} >> effects.txt${rest}` },
})
/** The same; in the first run it ends only when it is stopped. */
export const stays = (tag) => leaves(tag, '; case "$TMPDIR" in *-0) exec sleep 1000 ;; esac')

/** Answers for whatever a recovery asks further. */
export const rest = Array.from({ length: 8 }, (_, i) => ({ text: `and ${i}` }))

const all = { permissions: 'allow-all' }

/** Starts a runtime and makes session `s`, whose facts come from the first on. */
export async function opened({ launch, place }, options = {}) {
  const client = launch()
  await client.begin()
  await create(client, place, 's', options)
  return client
}

export async function create(client, place, sessionId, options = {}) {
  await client.call('session/create', { sessionId, cwd: place.work, env: { CRASH_CASE: place.mark }, ...all, ...options })
  await client.call('session/subscribe', { sessionId, after: 0, activate: true })
}

export const prompt = (client, messageId, more = {}) =>
  client.call('session/prompt', { sessionId: 's', messageId, content: `say ${messageId}`, ...more })

/** Waits until all is done, and ends the runtime. */
export async function over(client, ...sessions) {
  for (const sessionId of sessions.length === 0 ? ['s'] : sessions) {
    const { seq } = await client.call('session/status', { sessionId })
    await client.settled(sessionId, seq)
  }
  client.process.closeInput()
  await client.ended
}

const plain = {
  name: 'plain',
  script: [{ chunks: ['first', ' answer'] }, { text: 'second answer' }, ...rest],
  async play(stage) {
    const client = await opened(stage)
    await prompt(client, 'm1')
    await client.settled('s', 3)
    await prompt(client, 'm2', { expect: 'idle' })
    await client.fact('s', 'inbox/admitted', ({ messageId }) => messageId === 'm2')
    const { seq } = await client.call('session/status', { sessionId: 's' })
    await client.settled('s', seq)
    await client.call('shutdown')
    await client.ended
  },
  shows: ['turn/end completed', 'turn/end completed'],
}

const tools = {
  name: 'tools',
  shell: true,
  script: [
    { text: 'files first', tool: { name: 'write_file', input: { path: 'new.txt', content: 'written\n' } } },
    { tool: { name: 'edit_file', input: { path: 'old.txt', oldText: 'before', newText: 'after' } } },
    { tools: [leaves('one'), leaves('two', '; (sleep 1000) & true'), { name: 'write_file', input: { path: 'new.txt' } }] },
    {
      tools: [
        { name: 'read_file', input: { path: 'old.txt' } },
        { name: 'read_file', input: { path: 'kept.txt' } },
      ],
    },
    { text: 'done' },
    ...rest,
  ],
  files: [
    { path: 'new.txt', before: null, after: 'written\n', tag: 'written\\n' },
    { path: 'old.txt', before: 'before\n', after: 'after\n', tag: '"newText":"after"' },
  ],
  prepare(place) {
    place.write('old.txt', 'before\n')
    place.write('kept.txt', 'kept\n')
  },
  async play(stage) {
    const client = await opened(stage)
    await prompt(client, 'm1')
    await over(client)
  },
  shows: [...Array.from({ length: 6 }, () => 'tool/result ok'), 'tool/result tool_input', 'turn/end completed'],
  // The lease is given up, and what is in the background still runs.
  always: [['write.after-commit:release#1']],
}

const steering = {
  name: 'steering',
  gates: ['first', 'last'],
  script: [
    { gate: 'first', text: 'looking', tool: { name: 'read_file', input: { path: 'kept.txt' } } },
    { chunks: ['nearly ', { gate: 'last' }, 'done'] },
    { text: 'steered at the end' },
    ...rest,
  ],
  prepare: (place) => place.write('kept.txt', 'kept\n'),
  async play(stage) {
    const { place, k } = stage
    const client = await opened(stage)
    await prompt(client, 'm1')
    await client.meanwhile('the first gate', place.reached(k, 'first'))
    await prompt(client, 's1', { delivery: 'steer' })
    await prompt(client, 'i1', { delivery: 'inject' })
    place.open(k, 'first')
    await client.meanwhile('the last gate', place.reached(k, 'last'))
    await prompt(client, 's2', { delivery: 'steer' })
    place.open(k, 'last')
    await client.fact('s', 'agent/status', ({ status }) => status === 'idle')
    await prompt(client, 'i2', { delivery: 'inject' })
    await prompt(client, 's3', { delivery: 'steer' })
    await over(client)
  },
  shows: ['inbox/admitted s1', 'inbox/admitted i1', 'inbox/admitted s2', 'inbox/admitted i2', 'inbox/admitted s3'],
}

const queue = {
  name: 'queue',
  gates: ['held'],
  script: [{ chunks: ['one', { gate: 'held' }] }, { text: 'two' }, { text: 'three' }, ...rest],
  async play(stage) {
    const { place, k } = stage
    const client = await opened(stage)
    await prompt(client, 'm1')
    await client.meanwhile('the gate', place.reached(k, 'held'))
    await Promise.all(['m2', 'm3', 'm4'].map((messageId) => prompt(client, messageId)))
    await client.refused('session_busy', 'session/prompt', { sessionId: 's', messageId: 'm5', content: 'say m5', expect: 'idle' })
    await client.refused('message_conflict', 'session/prompt', { sessionId: 's', messageId: 'm2', content: 'say another thing' })
    await client.call('session/withdraw', { sessionId: 's', messageId: 'm3' })
    await client.call('session/withdraw', { sessionId: 's', messageId: 'm1' })
    await prompt(client, 'm3')
    place.open(k, 'held')
    await over(client)
  },
  shows: ['inbox/cancelled m3', 'inbox/admitted m2', 'inbox/admitted m4'],
}

const cancelling = {
  name: 'cancelling',
  shell: true,
  gates: ['middle'],
  script: [{ text: 'long', tool: stays('long') }, { chunks: ['par', { gate: 'middle' }, 'tial'] }, { text: 'three' }, ...rest],
  async play(stage) {
    const { place, k } = stage
    const client = await opened(stage)
    await prompt(client, 'm1')
    await client.meanwhile('the command', place.effect('long'))
    await prompt(client, 'm2')
    await client.call('session/cancel', { sessionId: 's' })
    await client.meanwhile('the gate', place.reached(k, 'middle'))
    await client.call('session/cancel', { sessionId: 's', reason: 'enough' })
    await client.fact('s', 'agent/status', ({ status }) => status === 'idle')
    await client.call('session/cancel', { sessionId: 's' })
    await over(client)
  },
  shows: ['tool/result tool_cancelled', 'turn/end cancelled', 'assistant/message interrupted', 'turn/end cancelled'],
}

const clearing = {
  name: 'clearing',
  shell: true,
  script: [{ tools: [stays('first'), leaves('second')] }, { text: 'after all' }, ...rest],
  async play(stage) {
    const { place } = stage
    const client = await opened(stage)
    await prompt(client, 'm1')
    await client.meanwhile('the command', place.effect('first'))
    await prompt(client, 'm2')
    await prompt(client, 's1', { delivery: 'steer' })
    await prompt(client, 'i1', { delivery: 'inject' })
    await client.call('session/cancel', { sessionId: 's', scope: 'session' })
    await client.fact('s', 'agent/status', ({ status }) => status === 'idle')
    await prompt(client, 'm3')
    await over(client)
  },
  shows: ['inbox/cancelled m2', 'inbox/cancelled s1', 'inbox/cancelled i1', 'turn/end cancelled', 'turn/end completed'],
}

const retrying = {
  name: 'retrying',
  script: [
    { text: 'well', error: { status: 503, times: 1 } },
    { text: 'half', finish: 'length' },
    { text: 'never', error: { status: 400 } },
  ],
  async play(stage) {
    const client = await opened(stage)
    for (const messageId of ['m1', 'm2', 'm3', 'm4']) await prompt(client, messageId)
    await over(client)
  },
  shows: ['model/retry', 'turn/end completed', 'turn/end max_tokens', 'turn/end error', 'turn/end error'],
}

const sessions = {
  name: 'sessions',
  shell: true,
  sessions: ['a', 'b', 'c'],
  script: [{ text: 'hello' }, { tool: stays('long') }, ...rest],
  async play({ launch, place }) {
    const client = launch()
    await client.begin()
    for (const sessionId of ['a', 'b', 'c']) await create(client, place, sessionId, { title: sessionId })
    await client.call('session/update', { sessionId: 'a', title: 'another', metadata: { of: 'a' } })
    await Promise.all(['a', 'b', 'c'].map((sessionId) => prompt(client, `${sessionId}1`, { sessionId })))
    for (const sessionId of ['a', 'b', 'c']) await client.settled(sessionId, 3)
    await client.call('session/delete', { sessionId: 'b' })
    await client.refused('session_exists', 'session/create', { sessionId: 'b', cwd: place.work })
    await prompt(client, 'c2', { sessionId: 'c' })
    await client.meanwhile('the command', place.effect('long'))
    await client.call('session/delete', { sessionId: 'c' })
    await client.call('session/update', { sessionId: 'a', permissions: 'read-only' })
    await over(client, 'a')
  },
  shows: ['session/update', 'session/update', 'turn/end completed'],
  /** The id of a session that was deleted stays used. */
  async after(client, { place }, story) {
    for (const sessionId of ['b', 'c'])
      if (story.sent('session/delete').some((call) => call.params.sessionId === sessionId && call.answer !== undefined))
        await client.refused('session_exists', 'session/create', { sessionId, cwd: place.work })
  },
}

export const singles = [plain, tools, steering, queue, cancelling, clearing, retrying, sessions].map((scenario) => ({
  sessions: ['s'],
  gates: [],
  ...scenario,
}))
