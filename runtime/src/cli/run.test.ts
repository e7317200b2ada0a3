import type { AnyFact } from '@quiesce/schema'
import { describe, expect, it } from 'vitest'
import { calls, fails, quiet, says } from '../agent/agent-rig.fixture.ts'
import { deferred } from '../base/deferred.ts'
import { Command, turn } from './command.fixture.ts'

describe('quiesce run', () => {
  it('CLI-2, CLI-4: prints the answer on stdout and nothing else, flushes, closes, exits 0', async () => {
    const command = new Command()
    const running = command.start({ words: ['what', 'is', 'this?'] })
    const asked = await command.asked()
    expect(asked.request.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'what is this?' }] }])
    asked.answer(says('an answer'))
    expect(await running).toBe(0)
    expect(command.printed).toBe('an answer\n')
    expect(command.said).toEqual([])
    expect(command.flushed).toBeGreaterThan(0)
    expect(command.closed).toBe(1)
  })

  it('CLI-2: prints the whole result as JSON', async () => {
    const command = new Command()
    const running = command.start({ output: 'json' })
    ;(await command.asked()).answer(says('an answer'))
    expect(await running).toBe(0)
    const result = JSON.parse(command.printed)
    expect(Object.keys(result).sort()).toEqual(['events', 'finalMessage', 'finalResponse', 'messageId', 'sessionId', 'usage', 'waitingOn'])
    expect(result).toMatchObject({ sessionId: await command.session(), finalResponse: 'an answer', usage: { inputTokens: 10 } })
    expect(result.events[0]).toMatchObject({ type: 'inbox/receipt', data: { message: { id: result.messageId } } })
    expect(result.events.at(-1)).toMatchObject({ type: 'agent/status', data: { status: 'idle' } })
  })

  it('CLI-2: prints the facts of the interval as they come', async () => {
    const command = new Command()
    const running = command.start({ output: 'jsonl' })
    const asked = await command.asked()
    await quiet()
    const types = () =>
      command.printed
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).type)
    expect(types()).toEqual(['inbox/receipt', 'agent/status', 'turn/start', 'inbox/admitted', 'step/start'])
    asked.answer(says('an answer'))
    expect(await running).toBe(0)
    expect(types().at(-1)).toBe('agent/status')
    expect(types()).toContain('assistant/message')
  })

  it('CLI-2: on a terminal shows text as it comes, each message once, and one line per tool call', async () => {
    const command = new Command()
    const running = command.start({}, { tty: true })
    const first = await command.asked()
    first.answer(calls(first, 'work'))
    ;(await command.rig.nextCall()).finish({ content: 'it broke\n\u001b[31mred', isError: true })
    const second = await command.asked()
    second.hooks.onPart({ type: 'text', text: 'an ' })
    expect(command.printed).toBe('an ')
    second.answer(says('an answer'))
    expect(await running).toBe(0)
    expect(command.printed).toBe('an answer\n')
    expect(command.said).toEqual(['• work ', '  work: it broke [31mred'])
  })

  it('is quiet where that was asked', async () => {
    const command = new Command()
    const running = command.start({ quiet: true }, { tty: true })
    const first = await command.asked()
    first.answer(calls(first, 'work'))
    ;(await command.rig.nextCall()).finish({ content: 'x', isError: false })
    ;(await command.asked()).answer(says('done'))
    expect(await running).toBe(0)
    expect(command.said).toEqual([])
  })
})

describe('CLI-3: stdin', () => {
  const untouched: AsyncIterable<string> = {
    [Symbol.asyncIterator]: () => {
      throw new Error('stdin was read')
    },
  }
  async function* said(...chunks: string[]) {
    yield* chunks
  }

  it('is not touched where a prompt was given', async () => {
    const command = new Command()
    const running = command.start({}, { stdin: untouched })
    ;(await command.asked()).answer(says('x'))
    expect(await running).toBe(0)
  })

  it.each([[''], [' \n', '\t\n']])('that says nothing is no prompt: a usage error, and nothing is begun', async (...chunks) => {
    const command = new Command()
    await expect(command.start({ words: ['-'] }, { stdin: said(...chunks) })).rejects.toThrow(/^no prompt: stdin said nothing/)
    expect((await command.rig.store.list({ limit: 1 })).sessions).toEqual([])
  })

  it('that says nothing leaves the words', async () => {
    const command = new Command()
    const running = command.start({ words: ['Review', '-'] }, { stdin: said('\n') })
    const asked = await command.asked()
    expect(asked.request.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Review' }] }])
    asked.answer(says('x'))
    expect(await running).toBe(0)
  })

  it('is read for "-", and joined to the words around it', async () => {
    for (const [words, prompt] of [
      [['-'], 'line one\nline two'],
      [['Review', 'this:', '-'], 'Review this:\n\nline one\nline two'],
    ] as const) {
      const command = new Command()
      const running = command.start({ words }, { stdin: said('line one\n', 'line two\n') })
      const asked = await command.asked()
      expect(asked.request.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: prompt }] }])
      asked.answer(says('x'))
      expect(await running).toBe(0)
    }
  })
})

describe('CLI-4: the exit status comes from the facts', () => {
  const refused = { kind: 'refused', why: 'stdout could not be written: ENOSPC' } as const

  it.each(['text', 'json', 'jsonl'] as const)('is 5 where the answer could not be written, and says so (%s)', async (output) => {
    const command = new Command()
    const running = command.start({ output })
    ;(await command.asked()).answer(says('an answer'))
    command.loss = refused
    expect(await running).toBe(5)
    expect(command.said).toEqual([`quiesce: stdout could not be written: ENOSPC (session ${await command.session()})`])
  })

  it('is 3 where nobody read the answer, and nothing is said', async () => {
    const command = new Command()
    const running = command.start()
    ;(await command.asked()).answer(says('an answer'))
    command.loss = { kind: 'unread' }
    expect(await running).toBe(3)
    expect(command.said).toEqual([])
  })

  it('is 1 where the turn failed, whoever read on', async () => {
    const command = new Command()
    const running = command.start({ output: 'json' })
    ;(await command.asked()).answer(fails('model_overloaded'))
    command.loss = { kind: 'unread' }
    expect(await running).toBe(1)
    expect(command.said[0]).toMatch(/ended with error/)
  })

  it.each([
    [5, refused],
    [3, { kind: 'unread' } as const],
  ])('is %d where stdout takes no more while the agent works: the work is cancelled', async (status, loss) => {
    const command = new Command()
    const running = command.start({ output: 'jsonl' })
    await command.asked()
    command.lose(loss)
    expect(await running).toBe(status)
    expect((await command.facts()).find((fact) => fact.type === 'agent/cancel')).toMatchObject({ data: { scope: 'tree' } })
  })

  it('is 1 where the turn failed, and says why; what there is, is still printed', async () => {
    const command = new Command()
    const running = command.start({ output: 'json' })
    ;(await command.asked()).answer(fails('model_overloaded'))
    expect(await running).toBe(1)
    expect(JSON.parse(command.printed)).toMatchObject({ finalResponse: '' })
    expect(command.said).toEqual([`quiesce: the turn ended with error (model_overloaded): it failed (session ${await command.session()})`])
  })

  it('is 1 where the agent ended without text', async () => {
    const command = new Command()
    const running = command.start()
    const usage = { inputTokens: 1, outputTokens: 1 }
    ;(await command.asked()).answer({ kind: 'answer', content: [{ type: 'reasoning', text: 'hm' }], finish: 'stop', usage })
    expect(await running).toBe(1)
    expect(command.printed).toBe('')
    expect(command.said[0]).toMatch(/ended without text/)
  })

  it('is 4 where a permission was denied and there is no answer; the tool is named', async () => {
    const command = new Command()
    const running = command.start({ permissions: 'read-only', maxSteps: 1 })
    const asked = await command.asked()
    asked.answer(calls(asked, 'work', 'solo', 'work'))
    expect(await running).toBe(4)
    expect(command.said[0]).toMatch(/no answer; denied: work, solo \(--permissions/)
  })

  it('is 0 where a permission was denied, but the agent answered', async () => {
    const command = new Command()
    const running = command.start({ permissions: 'read-only' })
    const asked = await command.asked()
    asked.answer(calls(asked, 'work'))
    ;(await command.asked()).answer(says('I may not'))
    expect(await running).toBe(0)
  })

  it('is 1 where there is text, but the turn failed, also after a denial', async () => {
    const command = new Command()
    const running = command.start({ permissions: 'read-only' })
    const asked = await command.asked()
    const call = { type: 'tool_use' as const, callId: asked.hooks.newCallId(), name: 'work', input: {} }
    const usage = { inputTokens: 1, outputTokens: 1 }
    asked.answer({ kind: 'answer', content: [{ type: 'text', text: 'let me see' }, call], finish: 'tool_calls', usage })
    ;(await command.asked()).answer(fails('model_request'))
    expect(await running).toBe(1)
    expect(command.printed).toBe('let me see\n')
  })

  it('is 3 where another client cancelled', async () => {
    const command = new Command()
    const running = command.start()
    await command.asked()
    await command.rig.runtime.sessions.cancel({ sessionId: await command.session() }, 'somebody')
    expect(await running).toBe(3)
    expect(command.said[0]).toMatch(/cancelled by somebody/)
    expect(command.printed).toBe('half\n')
  })

  it('is 3 at the time limit', async () => {
    const command = new Command()
    const running = command.start({ timeoutMs: 5000 })
    await command.asked()
    command.rig.clock.advance(5000)
    expect(await running).toBe(3)
    expect(command.said[0]).toMatch(/timed out after 5000 ms/)
  })

  it('fails with what refused the run, and closes the runtime then, too', async () => {
    const command = new Command()
    await expect(command.start({ session: 'nobody' })).rejects.toMatchObject({ code: 'session_not_found' })
    expect(command.closed).toBe(1)
    await expect(command.start({ cwd: '/does/not/exist' })).rejects.toThrow()
  })

  it('fails where the session goes away under it', async () => {
    const command = new Command()
    const running = command.start()
    await command.asked()
    await command.rig.runtime.sessions.delete(await command.session())
    await expect(running).rejects.toThrow(/the session was deleted/)
  })
})

describe('a session that was named', () => {
  it('is changed by its options, and only where they say another thing', async () => {
    for (const [options, updates] of [
      [{ permissions: 'allow-all', config: { model: 'test/model' } }, []],
      [
        { permissions: 'read-only', maxSteps: 5, config: { model: 'test/other' } },
        [{ permissions: 'read-only', model: 'test/other', limits: { maxSteps: 5 } }],
      ],
    ] as const) {
      const command = new Command()
      await command.rig.create('s')
      const running = command.start({ session: 's', ...options })
      ;(await command.asked()).answer(says('x'))
      expect(await running).toBe(0)
      const changes = (await command.rig.facts()).flatMap((fact) => (fact.type === 'session/update' ? [fact.data.change] : []))
      expect(changes).toEqual(updates)
    }
  })
})

describe('CLI-1: a busy session', () => {
  async function busy() {
    const command = new Command()
    await command.rig.create('s')
    await command.rig.runtime.sessions.prompt({ sessionId: 's', content: 'theirs' })
    const theirs = await command.asked()
    return { command, theirs }
  }

  it('is waited for: the run begins at its idle, and holds its own facts alone', async () => {
    const { command, theirs } = await busy()
    const running = command.start({ session: 's', output: 'json' })
    await quiet()
    theirs.answer(says('for them'))
    const mine = await command.asked()
    mine.answer(says('for me'))
    expect(await running).toBe(0)
    const { finalResponse, events } = JSON.parse(command.printed)
    expect(finalResponse).toBe('for me')
    expect(events.filter((event: AnyFact) => event.type === 'inbox/receipt')).toHaveLength(1)
  })

  it('is refused with --no-wait, and nothing is enqueued', async () => {
    const { command } = await busy()
    await expect(command.start({ session: 's', wait: false })).rejects.toMatchObject({ code: 'session_busy' })
    expect((await command.rig.facts()).filter((fact) => fact.type === 'inbox/receipt')).toHaveLength(1)
  })

  it('is left alone where the run gives up while it waits', async () => {
    const { command } = await busy()
    const running = command.start({ session: 's' })
    await quiet()
    command.signal()
    expect(await running).toBe(3)
    const facts = await command.rig.facts()
    expect(facts.some((fact) => fact.type === 'agent/cancel')).toBe(false)
  })
})

describe('CLI-5: signals', () => {
  it('the first cancels the tree and waits for the idle', async () => {
    const command = new Command()
    const running = command.start()
    await command.asked()
    command.signal()
    expect(await running).toBe(3)
    const facts = await command.facts()
    expect(facts.find((fact) => fact.type === 'agent/cancel')).toMatchObject({ data: { scope: 'tree', by: 'run' } })
    expect(facts.at(-1)).toMatchObject({ type: 'agent/status', data: { status: 'idle' } })
    expect(command.said[0]).toMatch(/cancelled by a signal/)
    expect(command.closed).toBe(1)
  })

  it('withdraws the message where it was not admitted: another runtime drives, and is left alone', async () => {
    const command = new Command()
    const { rig } = command
    await rig.create('s')
    rig.boot()
    const running = command.start({ session: 's' })
    let ended = false
    running.finally(() => {
      ended = true
    })
    const receipts = async () => (await rig.types()).filter((type) => type === 'inbox/receipt')
    while ((await receipts()).length === 0) await turn()
    command.signal()
    while (!ended) {
      rig.clock.advance(500)
      await turn()
    }
    expect(await running).toBe(3)
    expect(await rig.facts()).toContainEqual(
      expect.objectContaining({ type: 'inbox/cancelled', data: expect.objectContaining({ reason: 'withdrawn' }) }),
    )
    expect(await rig.types()).not.toContain('agent/cancel')
  })

  it('the second stops at once, whatever goes on', async () => {
    const command = new Command()
    const running = command.start()
    await command.asked()
    // A model that doesn't hear the cancel.
    command.rig.runtime.asked.splice(0)
    command.signal()
    await quiet()
    command.signal()
    expect(await running).toBe(3)
  })

  it('one that comes while stdin says nothing ends it at once', async () => {
    const command = new Command()
    const silent = deferred<IteratorResult<string>>()
    const running = command.start({ words: ['-'] }, { stdin: { [Symbol.asyncIterator]: () => ({ next: () => silent.promise }) } })
    command.signal()
    expect(await running).toBe(3)
    expect(command.said).toEqual(['quiesce: cancelled by a signal'])
    expect((await command.rig.store.list({ limit: 1 })).sessions).toEqual([])
  })

  it('one that comes before the session is there is heard', async () => {
    const command = new Command()
    const running = command.start()
    await command.listening.promise
    command.signal()
    expect(await running).toBe(3)
    expect(await command.facts()).toHaveLength(1)
  })
})
