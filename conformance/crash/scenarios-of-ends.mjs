// Owns the scenarios about ends: stops in the middle, recoveries that are killed too, other homes, another runtime beside, a vendor.
import { Ended } from './client.mjs'
import { leaves, opened, over, prompt, rest, stays } from './scenarios.mjs'
import { startVendor } from './vendor.mjs'

/** Prompts, and stops the runtime while the command runs. */
const stopping = {
  name: 'stopping',
  shell: true,
  script: [{ tools: [stays('long'), leaves('never')] }, { text: 'gone on' }, ...rest],
  async play(stage) {
    const client = await opened(stage)
    await prompt(client, 'm1')
    await client.meanwhile('the command', stage.place.effect('long'))
    await prompt(client, 'm2')
    client.process.signal('SIGTERM')
    await client.ended
  },
  shows: ['turn/end interrupted', 'tool/result tool_outcome_unknown', 'tool/result tool_not_started', 'turn/start recovery'],
}

const shutting = {
  name: 'shutting',
  gates: ['middle'],
  script: [{ chunks: ['half ', { gate: 'middle' }, 'an answer'] }, ...rest],
  async play(stage) {
    const client = await opened(stage)
    await prompt(client, 'm1')
    await client.meanwhile('the gate', stage.place.reached(stage.k, 'middle'))
    await prompt(client, 's1', { delivery: 'steer' })
    await client.call('shutdown')
    await client.ended
  },
  shows: ['turn/end interrupted', 'turn/start recovery', 'inbox/admitted s1'],
}

const cancelledThenStopped = {
  name: 'cancelled-then-stopped',
  shell: true,
  script: [{ tool: stays('long') }, ...rest],
  async play(stage) {
    const client = await opened(stage)
    await prompt(client, 'm1')
    await client.meanwhile('the command', stage.place.effect('long'))
    await client.call('session/cancel', { sessionId: 's' })
    client.process.signal('SIGTERM')
    await client.ended
  },
  shows: ['turn/end cancelled'],
  expects: ({ final, sent }) => {
    const wasCancelled = sent('session/cancel').some(({ answer }) => answer?.result?.cancelled)
    const goesOn = final.get('s')?.facts.some(({ type, data }) => type === 'turn/start' && data.trigger.kind === 'recovery')
    return wasCancelled && goesOn ? ['RE-7: a turn that was cancelled goes on'] : []
  },
}

/** The last session of a store goes while its command runs: nobody will take it up. */
const deleting = {
  name: 'deleting',
  shell: true,
  script: [{ tool: stays('long') }, ...rest],
  async play(stage) {
    const client = await opened(stage)
    await prompt(client, 'm1')
    await client.meanwhile('the command', stage.place.effect('long'))
    await client.call('session/delete', { sessionId: 's' })
    client.process.closeInput()
    await client.ended
  },
  shows: [],
  always: [['write.after-commit:delete#1']],
}

const settling = {
  name: 'settling',
  shell: true,
  script: [{ tools: [leaves('one'), leaves('two')] }, { text: 'done' }, ...rest],
  async play(stage) {
    const client = await opened(stage, { recovery: 'settle' })
    await Promise.all([prompt(client, 'm1'), prompt(client, 'm2')])
    await over(client)
  },
  shows: ['turn/end completed', 'turn/end completed'],
}

/** The recovery dies as well, at every point of it. */
const recovering = {
  name: 'recovering',
  shell: true,
  script: [
    { tools: [leaves('one', '; (sleep 1000) & true'), leaves('two')] },
    { text: 'then', tool: leaves('three') },
    { text: 'done' },
    ...rest,
  ],
  async play(stage) {
    const client = await opened(stage)
    await prompt(client, 'm1')
    await prompt(client, 's1', { delivery: 'steer' })
    await prompt(client, 'm2')
    await over(client)
  },
  only: /^$/,
  second: [['tool.after:shell#1'], ['model.before#1'], ['write.after-commit:commit#3']],
  // The lease of the dead is taken, and its takers die as well.
  always: [['tool.after:shell#1', 'write.after-commit:acquire#2']],
  shows: ['tool/result ok', 'tool/result ok', 'turn/end completed'],
}

/** A cancel, or a queue, meets a recovery that dies as well. */
const recoveringTheCancelled = {
  ...cancelledThenStopped,
  name: 'recovering-the-cancelled',
  only: /^$/,
  second: [['answer.before:session/cancel#1']],
}

const exhausting = {
  name: 'exhausting',
  script: [{ text: 'never said' }, ...rest],
  async play(stage) {
    const client = await opened(stage)
    await prompt(client, 'm1')
    await prompt(client, 'm2')
    await over(client)
  },
  only: /^$/,
  second: [['model.before#1', 'model.before#1', 'model.before#1']],
  expects: ({ kills, final }) =>
    kills.length < 3 || final.get('s').reading.ends.includes('recovery_exhausted') ? [] : ['RE-2: it was resumed a third time'],
  shows: ['turn/end completed'],
}

const oneShot = {
  name: 'one-shot',
  sessions: undefined,
  shell: true,
  script: [{ text: 'a command', tool: leaves('one') }, { text: 'done' }, ...rest],
  play: ({ command }) => command(['--permissions', 'allow-all', 'say', 'm1']).ended,
  shows: ['tool/result ok', 'turn/end completed'],
}

/** What a server left is taken up by a command, which dies as well. */
const oneShotAfter = {
  name: 'one-shot-after',
  shell: true,
  script: [{ tools: [leaves('one', '; (sleep 1000) & true'), leaves('two')] }, { text: 'done' }, ...rest],
  async play(stage) {
    const client = await opened(stage)
    await prompt(client, 'm1')
    await over(client)
  },
  resumeBy: 'command',
  again: ({ command }) => command(['--session', 's', 'go', 'on']).ended,
  only: /^$/,
  second: [['tool.after:shell#1']],
  shows: ['tool/result ok', 'turn/end completed'],
}

/** A second runtime follows the session, prompts too, and takes it over where the first one dies. */
const beside = {
  name: 'beside',
  shell: true,
  script: [{ tool: leaves('one') }, { text: 'done' }, ...rest],
  async play(stage) {
    const holder = await opened(stage)
    const other = stage.launch({ k: 1 })
    await other.begin()
    await other.call('session/subscribe', { sessionId: 's', after: 0, activate: true })
    try {
      await prompt(holder, 'm1')
      await prompt(other, 'm2')
      await prompt(holder, 'm3')
      const { seq } = await other.call('session/status', { sessionId: 's' })
      await holder.settled('s', seq)
    } catch (error) {
      if (!(error instanceof Ended)) throw error
    }
    await prompt(other, 'm4')
    await over(other)
    holder.process.closeInput()
    await holder.ended
  },
  shows: ['inbox/admitted m1', 'inbox/admitted m2', 'inbox/admitted m3', 'inbox/admitted m4'],
}

/** A message comes and goes while the holder stands still, and the holder dies: an idle is owed, and the one who took it may die too. */
const owing = {
  name: 'owing',
  script: rest,
  async play(stage) {
    const holder = await opened(stage)
    const other = stage.launch({ k: 1 })
    try {
      await other.begin()
      holder.process.signal('SIGSTOP')
      await prompt(other, 'm1')
      await other.call('session/withdraw', { sessionId: 's', messageId: 'm1' })
    } finally {
      holder.process.signal('SIGKILL')
    }
    await holder.ended
    await other.call('session/subscribe', { sessionId: 's', after: 0, activate: true })
    await over(other)
  },
  only: /^$/,
  second: [['@0']],
  statuses: [],
  shows: ['inbox/cancelled m1', 'agent/status'],
}

/** Leases are renewed while the model thinks. */
const renewing = {
  name: 'renewing',
  gates: ['long'],
  script: [{ text: 'after long', gate: 'long' }, ...rest],
  async play(stage) {
    const { place, k } = stage
    const client = await opened(stage)
    await prompt(client, 'm1')
    await client.meanwhile('a renewal', place.met(k, 'write.after-commit:renew'))
    place.open(k, 'long')
    await over(client)
  },
  only: /:renew/,
  shows: ['turn/end completed'],
}

/** The model is a vendor's, and looks at every request. */
const vendor = {
  name: 'vendor',
  shell: true,
  async prepare(place) {
    const script = [{ text: 'first', calls: [leaves('one'), leaves('two')] }, { calls: [leaves('three')] }, { text: 'done' }]
    place.vendor = await startVendor(script, () => place.committed())
  },
  start: ({ vendor: { baseURL } }) => ({
    model: 'openai-compatible/m',
    env: { OPENAI_COMPATIBLE_BASE_URL: baseURL, OPENAI_COMPATIBLE_API_KEY: 'none' },
  }),
  tidy: (place) => place.vendor?.close(),
  async play(stage) {
    const client = await opened(stage)
    await prompt(client, 'm1')
    await prompt(client, 's1', { delivery: 'steer' })
    await prompt(client, 'm2')
    await over(client)
  },
  expects: ({ place }) => place.vendor.faults,
  shows: ['tool/result ok', 'turn/end completed'],
}

export const ends = [
  stopping,
  shutting,
  cancelledThenStopped,
  deleting,
  settling,
  recovering,
  recoveringTheCancelled,
  exhausting,
  oneShot,
  oneShotAfter,
  beside,
  owing,
  renewing,
  vendor,
].map((scenario) => ({ sessions: ['s'], gates: [], ...scenario }))
