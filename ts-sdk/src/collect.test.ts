import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Log } from '../test/facts.ts'
import { RunReducer, type RunResult, Sequence, type SessionEvent } from './collect.ts'
import { ProtocolError, QuiesceError } from './errors.ts'
import { decodeFact, encode, encodeFact } from './generated/guards.ts'

const vectors = new URL('../../conformance/cases/reducer/', import.meta.url)

interface Vector {
  name: string
  covers: string[]
  sessionId: string
  messageId: string
  until: 'idle' | 'quiescent'
  after?: number
  facts: { sessionId: string }[]
  expect: { done: boolean; result?: object; partial?: object; error?: { class: string } }
}

function decoded(fact: { sessionId: string }): SessionEvent {
  const event = decodeFact(fact)
  if (!event.ok) throw new ProtocolError(`${event.path}: ${event.message}`)
  return { ...event.value, sessionId: fact.sessionId }
}

/** The result as it would go over the wire: unknown kinds as they came. */
function wire(result: RunResult): object {
  return {
    ...result,
    finalMessage: result.finalMessage === null ? null : encode('AssistantMessageData', result.finalMessage),
    events: result.events.map((event) => encodeFact(event)),
    waitingOn: result.waitingOn.map((waiting) => encode('WaitingOn', waiting)),
  }
}

function verdict({ sessionId, messageId, until, after, facts }: Vector): Vector['expect'] {
  const reducer = new RunReducer({ sessionId, messageId, until, ...(after === undefined ? {} : { after }) })
  try {
    for (const fact of facts) reducer.add(decoded(fact))
  } catch (error) {
    if (error instanceof QuiesceError) return { done: false, error: { class: error.name } }
    throw error
  }
  return reducer.ended ? { done: true, result: wire(reducer.result()) } : { done: false, partial: wire(reducer.result()) }
}

describe('the shared vectors', () => {
  const names = readdirSync(vectors).filter((name) => name.endsWith('.json'))

  it('are there', () => expect(names.length).toBeGreaterThanOrEqual(30))

  it.each(names)('%s', (file) => {
    const vector: Vector = JSON.parse(readFileSync(new URL(file, vectors), 'utf8'))
    expect(vector.name).toBe(file.replace('.json', ''))
    const { done, result, partial, error } = vector.expect
    const got = verdict(vector)
    expect(got.done).toBe(done)
    expect(got.error).toEqual(error)
    if (done) expect(got.result).toEqual(result)
    else if (partial !== undefined) expect(got.partial).toEqual(partial)
  })
})

const sessionId = 's-1'
const interval = { sessionId, messageId: 'm-1', until: 'idle' } as const

function feed(reducer: RunReducer, facts: readonly object[], of = sessionId): RunReducer {
  for (const fact of facts) reducer.add(decoded({ ...fact, sessionId: of }))
  return reducer
}

describe('RunReducer', () => {
  it('gives exactly the keys of a RunResult, as own enumerable data (RUN-4)', () => {
    const result = feed(new RunReducer(interval), new Log().plain('m-1', 'hi')).result()
    expect(Object.keys(result).sort()).toEqual(
      ['sessionId', 'messageId', 'finalResponse', 'finalMessage', 'events', 'usage', 'waitingOn'].sort(),
    )
    expect(JSON.parse(JSON.stringify(result))).toEqual(result)
  })

  it('never has a status, a reason or a finish reason, wherever it is looked for (RUN-4, ST-8)', () => {
    const { events, finalMessage, ...rest } = feed(new RunReducer(interval), new Log().plain('m-1', 'hi')).result()
    expect(events).toHaveLength(9)
    expect(finalMessage).not.toBeNull()
    expect(JSON.stringify(rest)).not.toMatch(/"(status|reason|finish\w*)":/)
  })

  it('is done at the first idle behind the receipt, whatever repeats and other sessions come in between (RUN-2, RUN-7, SUB-4)', () => {
    const log = new Log(4)
    const facts = [log.idle(), ...log.plain('m-1', 'hi')]
    const quiet = feed(new RunReducer(interval), facts).result()
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(facts.length - 1), fc.boolean()), { maxLength: 30 }), (noise) => {
        const reducer = new RunReducer(interval)
        for (const [index, fact] of facts.entries()) {
          feed(reducer, [fact])
          for (const [at, foreign] of noise) if (at <= index) feed(reducer, [facts[at] ?? fact], foreign ? 's-child' : sessionId)
          expect(reducer.ended).toBe(index === facts.length - 1)
        }
        expect(reducer.result()).toEqual(quiet)
      }),
    )
  })

  it('takes no sequence with a hole in it (SUB-1)', () => {
    const facts = new Log().plain('m-1', 'hi')
    fc.assert(
      fc.property(fc.integer({ min: 1, max: facts.length - 2 }), (hole) => {
        expect(() => feed(new RunReducer(interval), facts.toSpliced(hole, 1))).toThrow(ProtocolError)
      }),
    )
  })

  it('hands out a result that later facts do not change', () => {
    const log = new Log()
    const reducer = feed(new RunReducer(interval), [log.receipt('m-1'), log.running(), ...log.turnStart('m-1')])
    const early = reducer.result()
    feed(reducer, [...log.turnEnd('hi'), log.idle()])
    expect(early.events).toHaveLength(5)
    expect(early.usage.inputTokens).toBe(0)
    expect(reducer.result().events).toHaveLength(9)
  })

  it('knows an interval that it shares with another client (RUN-9)', () => {
    const log = new Log()
    const reducer = feed(new RunReducer(interval), [
      log.receipt('m-1'),
      log.receipt('settle:x:y', 'steer', { kind: 'settlement', sessionId: 'x' }),
    ])
    expect(reducer.isShared()).toBe(false)
    expect(feed(reducer, [log.receipt('m-2')]).isShared()).toBe(true)
  })
})

describe('Sequence', () => {
  it('begins anywhere, or right behind its cursor', () => {
    expect(new Sequence().accept(7)).toBe(true)
    expect(new Sequence(7).accept(7)).toBe(false)
    expect(new Sequence(7).accept(8)).toBe(true)
    expect(() => new Sequence(7).accept(9)).toThrow('facts are missing: seq 9 came after 7')
  })
})
