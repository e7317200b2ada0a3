// Owns what a schedule is made of: the moves of clients, models, tools, processes and stores, and how often each of them comes.
import fc from 'fast-check'

export type How = 'text' | 'parallel' | 'serial' | 'unknown' | 'cut' | 'length' | 'refused' | 'failure' | 'empty' | 'retry'

export type ClientMove =
  | { do: 'prompt'; who: number; delivery: 'followup' | 'steer' | 'inject'; idle: boolean }
  | { do: 'repeat'; who: number; which: number; other: boolean; idle: boolean }
  | { do: 'withdraw'; who: number; which: number }
  | { do: 'cancel'; who: number; scope: 'turn' | 'session' | 'tree'; turn: 'any' | 'open' | 'old' }
  | { do: 'update'; who: number; what: 'title' | 'model' | 'permissions' }
  | { do: 'collect' | 'look' | 'leave' | 'delete'; who: number }

/**
 * `crash` is a process that dies where everybody sees it, and the next one, with a client that waits for the session; a store that
 * `hiccup`s fails once.
 */
export type ProcessMove =
  | { do: 'kill'; who: number; known: boolean }
  | { do: 'boot' | 'crash' | 'shutdown' | 'stall' | 'wake' | 'break' | 'hiccup' | 'mend'; who: number }

export type Move =
  | ClientMove
  | ProcessMove
  | { do: 'answer'; how: How }
  | { do: 'finish'; which: number; how: 'ok' | 'error' }
  /** One gate, of whichever runtime. */
  | { do: 'gate'; pick: number }
  /** So many gates of one runtime, as an unhurried machine would take them. */
  | { do: 'flow'; who: number; rounds: number }
  | { do: 'pass'; ms: number }

/** A move, and whether the next one of the same runtime comes in the same tick. */
export type Step = Move & { hold: boolean }

export interface Scenario {
  recovery: 'resume' | 'settle'
  maxSteps: number
  runtimes: number
  /** What models answer first when everything comes to rest. */
  answers: readonly How[]
  /** Models and tools take their time after an abort. */
  lingering: boolean
  /** Who is left in the end: one runtime whose others died, known to be dead or not, or all that live. */
  ending: 'survivor' | 'unknown' | 'all'
  /** A client deletes the session before everything comes to rest. */
  deletes: boolean
}

type Made<M, T> = M extends { do: infer D } ? (T extends D ? M : never) : never
type Fields<T extends Move['do']> = Omit<Made<Move, T>, 'do'>

function move<T extends Move['do']>(weight: number, of: T, fields: { [K in keyof Fields<T>]: fc.Arbitrary<Fields<T>[K]> }) {
  const hold = fc.constantFrom(false, false, false, true)
  // The compiler does not see that the fields of one kind of move make a move.
  return { weight, arbitrary: fc.record({ do: fc.constant(of), hold, ...fields } as never) as unknown as fc.Arbitrary<Step> }
}

const who = fc.nat(2)
const tools: How[] = ['parallel', 'parallel', 'parallel', 'serial', 'serial', 'unknown']
const how = fc.constantFrom<How>('text', 'text', ...tools, 'cut', 'length', 'refused', 'failure', 'empty', 'retry')

const step: fc.Arbitrary<Step> = fc.oneof(
  move(16, 'gate', { pick: fc.nat(11) }),
  move(20, 'flow', { who, rounds: fc.integer({ min: 1, max: 12 }) }),
  move(9, 'prompt', {
    who,
    delivery: fc.constantFrom('followup', 'followup', 'steer', 'steer', 'inject'),
    idle: fc.constantFrom(false, false, true),
  }),
  move(2, 'repeat', { who, which: fc.nat(5), other: fc.boolean(), idle: fc.boolean() }),
  move(3, 'withdraw', { who, which: fc.nat(8) }),
  move(3, 'cancel', { who, scope: fc.constantFrom('turn', 'session', 'tree'), turn: fc.constantFrom('any', 'any', 'open', 'old') }),
  move(1, 'update', { who, what: fc.constantFrom('title', 'model', 'permissions') }),
  move(1, 'collect', { who }),
  move(1, 'look', { who }),
  move(1, 'leave', { who }),
  move(18, 'answer', { how }),
  move(12, 'finish', { which: fc.nat(3), how: fc.constantFrom('ok', 'ok', 'error') }),
  move(2, 'pass', { ms: fc.constantFrom(500, 1_000, 2_000, 5_000, 11_000) }),
  move(1, 'kill', { who, known: fc.boolean() }),
  move(2, 'crash', { who }),
  move(1, 'shutdown', { who }),
  move(1, 'boot', { who }),
  move(1, 'stall', { who }),
  move(1, 'wake', { who }),
  move(1, 'break', { who }),
  move(1, 'hiccup', { who }),
  move(2, 'mend', { who }),
)

export const schedule: fc.Arbitrary<Step[]> = fc.array(step, { minLength: 30, maxLength: 150 })

export const scenario: fc.Arbitrary<Scenario> = fc.record({
  answers: fc.array(how, { maxLength: 6 }),
  recovery: fc.constantFrom('resume', 'resume', 'settle'),
  maxSteps: fc.constantFrom(200, 200, 3),
  runtimes: fc.constantFrom(1, 2, 3),
  lingering: fc.boolean(),
  ending: fc.constantFrom('survivor', 'unknown', 'all'),
  deletes: fc.constantFrom(false, false, false, false, true),
})
