// Owns the steps that an SDK does, by its driver: the operations, what runs beside other steps, and what is awaited of it.
import { objectOf, optionalText, textOf } from './args.ts'
import { isObject, type Json, type JsonObject } from './case.ts'
import type { StepRun } from './common-steps.ts'
import type { Answer, DriverProcess } from './driver-process.ts'
import { FollowedLog } from './followed-log.ts'
import { HarnessError } from './harness-error.ts'
import { Items } from './items.ts'
import { shown } from './match.ts'
import type { World } from './world.ts'

/** What a driver may offer; an operation that one doesn't have makes a case that needs it `unsupported` there. */
export const operations = [
  ...['launch', 'close', 'ping', 'models', 'tools', 'create', 'get', 'list', 'delete'],
  ...['run', 'stream', 'collect', 'prompt', 'steer', 'inject', 'withdraw', 'cancel', 'abort'],
  ...['events', 'messages', 'status', 'describe', 'update'],
  ...['call', 'notifications'],
] as const

/** These go on beside the steps that follow them, until they are awaited. */
const background = new Set<string>(['run', 'stream', 'collect', 'events', 'notifications'])

/** These are asked of a runtime, the others of a session. */
const ofRuntime = new Set<string>([
  ...['launch', 'close', 'ping', 'models', 'tools', 'create', 'get', 'list', 'delete'],
  ...['call', 'notifications'],
])

/** These end with the case. */
const endless = new Set<string>(['events', 'notifications'])

/** The driver doesn't do this. */
export class Unsupported extends Error {}

interface Operation {
  readonly op: string
  readonly id: number
  readonly args: JsonObject
  readonly items: Items
  readonly answered: Promise<void>
}

export class DriverLayer {
  readonly #world: World
  readonly #driver: DriverProcess
  readonly #offered: ReadonlySet<string>
  readonly #runtime: JsonObject
  readonly #session: JsonObject
  /** Whether the first session is followed from its first fact: `log`. Only a real server has one. */
  readonly #observes: boolean
  readonly #operations = new Map<string, Operation>()
  readonly #log: FollowedLog
  /** The handles that steps made, or tried to. */
  readonly #handles = new Set<string>()
  #unnamed = 0
  #logs = 0

  /** `runtime`: what `launch` gives the SDK where the case doesn't say. */
  constructor(
    world: World,
    driver: DriverProcess,
    offered: readonly string[],
    options: { runtime: JsonObject; session: JsonObject; observes: boolean },
  ) {
    this.#world = world
    this.#driver = driver
    this.#offered = new Set(offered)
    this.#runtime = options.runtime
    this.#session = options.session
    this.#observes = options.observes && this.#offered.has('events')
    this.#log = new FollowedLog((on, after, onItem) => {
      this.#logs += 1
      return this.#begin('events', this.#logs === 1 ? 'log' : `log-${this.#logs}`, { on, after }, onItem).answered
    })
  }

  readonly steps: Readonly<Record<string, StepRun>> = {
    ...Object.fromEntries(operations.map((op): [string, StepRun] => [op, (_, args) => this.#operate(op, objectOf(op, args ?? {}))])),
    /** `abort: name`: gives up what that step began. */
    abort: async (_, args) => {
      await this.#ask('abort', { target: this.#operation(textOf('abort', args)).id })
    },
    /** `await: name`, or `await: {item: name, where?, count?}`: so many items that fit; or `await: {fact: type, where?, count?}` of the session's log. */
    await: (_, args) => this.#await(args),
    /** `expectNothing: name`: it hasn't ended, and all that was on its way has come. */
    pending: async (world, args) => {
      const name = textOf('pending', args)
      this.#operation(name)
      await this.#fence()
      const said = world.values.at(name)
      if (isObject(said) && ('result' in said || 'error' in said))
        throw new Error(`${name} should still go on, and has ended: ${shown(said)}`)
    },
    fence: () => this.#fence(),
  }

  /** At the end of the steps: what runs is awaited, and what is followed is read to its end. */
  async settle(): Promise<void> {
    const all = [...this.#operations].filter(([name]) => !/^log(-\d+)?$/.test(name))
    for (const [, { op, answered }] of all) if (!endless.has(op)) await answered
    if (this.#driver.gone !== null) return
    for (const [name, operation] of all) if (operation.op === 'events') await this.#settleEvents(name, operation)
    if (this.#observes) this.#world.values.set('log', [...(await this.#log.settle((on) => this.#seqOf(on)))])
  }

  async #settleEvents(name: string, { args, items, answered }: Operation): Promise<void> {
    if (this.#world.values.at(name) !== undefined) return
    const seq = await this.#seqOf(optionalText('events', args.on) ?? 'session')
    if (seq === null) return answered
    const from = items.all.length > 0 || args.from !== undefined ? 0 : args.after
    if (typeof from === 'number' && seq > from) await items.wait({ seq })
    this.#world.values.set(name, { items: [...items.all] })
  }

  /** How far a session's log goes; null where its handle can't say. */
  async #seqOf(on: string): Promise<number | null> {
    const described = await this.#driver.ask('describe', { on })
    return 'result' in described && isObject(described.result) ? Number(described.result.seq) : null
  }

  async #operate(op: string, given: JsonObject): Promise<void> {
    await this.#prepare(op, given)
    const args = op === 'launch' ? { ...this.#runtime, ...given } : op === 'create' ? { ...this.#session, ...given } : given
    const { as, wait = !background.has(op), ...rest } = args
    this.#unnamed += 1
    const name = optionalText(op, as) ?? `${op}-${this.#unnamed}`
    const operation = this.#begin(
      op,
      name,
      op === 'launch' || op === 'create' || op === 'get' ? { ...rest, as: handleOf(op, given) } : rest,
    )
    if (wait === true) await operation.answered
    if (this.#observes && (op === 'create' || op === 'get')) this.#observe(op, given, this.#world.values.at(name))
  }

  /** What an operation needs where it names no other, and no step did: a runtime, and a session. */
  async #prepare(op: string, given: JsonObject): Promise<void> {
    if (op !== 'launch' && given.on === undefined) {
      if (ofRuntime.has(op)) await this.#must('launch')
      else await this.#must('create')
    }
    if (op === 'launch' || op === 'create' || op === 'get') this.#handles.add(handleOf(op, given))
  }

  /** What no step did, and every one that follows needs. */
  async #must(op: 'launch' | 'create'): Promise<void> {
    if (this.#handles.has(handleOf(op, {}))) return
    await this.#operate(op, { as: handleOf(op, {}) })
    const said = this.#world.values.at(handleOf(op, {}))
    if (isObject(said) && 'error' in said) throw new Error(`${op} was refused: ${shown(said.error)}`)
  }

  #observe(op: string, given: JsonObject, said: unknown): void {
    const { sessionId } = isObject(said) && isObject(said.result) ? said.result : ({} as JsonObject)
    if (typeof sessionId === 'string') this.#log.handle(handleOf(op, given), optionalText(op, given.on) ?? 'quiesce', sessionId)
  }

  #begin(op: string, name: string, args: JsonObject, onItem: (item: Json) => void = () => undefined): Operation {
    if (!this.#offered.has(op)) throw new Unsupported(`the driver has no operation ${op}`)
    if (this.#operations.has(name)) throw new HarnessError(`two steps are called ${name}`)
    this.#world.say(`driver ${name}: ${op} ${shown(args)}`)
    const items = new Items()
    const asked = this.#driver.ask(op, args, (item) => {
      this.#world.say(`driver ${name}: item ${shown(item)}`)
      items.add(item)
      onItem(item)
    })
    const answered = asked.then((answer) => {
      this.#world.say(`driver ${name}: ${shown(answer)}`)
      this.#world.values.set(name, { ...answer, ...(items.all.length > 0 && { items: [...items.all] }) })
      items.end(new Error(`${name} ended while the case waited for an item of it: ${shown(answer)}`))
    })
    answered.catch(() => undefined)
    const operation = { op, id: asked.id, args, items, answered }
    this.#operations.set(name, operation)
    return operation
  }

  async #ask(op: string, args: JsonObject): Promise<Answer> {
    if (!this.#offered.has(op)) throw new Unsupported(`the driver has no operation ${op}`)
    return this.#driver.ask(op, args)
  }

  async #await(args: Json): Promise<void> {
    if (typeof args === 'string') return this.#operation(args).answered
    const { item, fact, where, count: wanted = 1 } = objectOf('await', args)
    if (fact !== undefined) {
      const matcher = where === undefined ? { type: fact } : { $all: [{ type: fact }, where] }
      return this.#log.items.wait(matcher, Number(wanted))
    }
    const operation = this.#operation(textOf('await', item ?? null, '`item`, `fact` or a name'))
    await operation.items.wait(where ?? {}, Number(wanted))
  }

  /** A ping's way there and back: what was written before it has been read. */
  async #fence(): Promise<void> {
    const answer = await this.#ask('ping', {})
    if ('error' in answer) throw new Error(`the fence was refused: ${shown(answer.error)}`)
  }

  #operation(name: string): Operation {
    const found = this.#operations.get(name)
    if (found === undefined) throw new HarnessError(`no step ${name} began anything; there are ${[...this.#operations.keys()].join(', ')}`)
    return found
  }
}

/** The handle under which the driver keeps a runtime or a session. */
function handleOf(op: string, { as }: JsonObject): string {
  return optionalText(op, as) ?? (op === 'launch' ? 'quiesce' : 'session')
}
