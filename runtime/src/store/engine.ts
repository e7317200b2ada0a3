// Owns the synchronous engine of every store: a batch of operations in one transaction (group commit), and reads.
import { failpoint } from '../base/failpoint.ts'
import { type FaultData, faultData, SessionFault, StoreFault } from './fault.ts'
import { type Answer, type Call, isLater, type Operation, type Reply } from './operations.ts'
import { perform } from './perform.ts'
import { answerText } from './queries.ts'
import type { Rows } from './rows.ts'

export class Engine {
  readonly #rows: Rows

  constructor(rows: Rows) {
    this.#rows = rows
  }

  /** One Call in, one Reply out, both as JSON text. Never throws: a fault is an answer. */
  call(text: string): string {
    const call: Call = JSON.parse(text)
    if ('run' in call) return JSON.stringify(this.run(call.run))
    try {
      return `[${answerText(this.#rows, call.ask)}]`
    } catch (error) {
      return JSON.stringify([fault(faultData(error))])
    }
  }

  /**
   * Runs a batch in one transaction. A refused operation leaves the others alone, and so does one that the store can't do; where the
   * store itself fails, nothing of the batch is kept and each of it answers that fault (RE-6).
   */
  run(operations: readonly Operation[]): Reply {
    try {
      return this.#together(operations)
    } catch (error) {
      const data = faultData(error)
      if (data.retry === 'apart' && operations.length > 1) return this.#apart(operations)
      return operations.map(() => fault(data))
    }
  }

  /** Each in a transaction of its own, still in order: behind one that has to be tried again, nothing is done before it. */
  #apart(operations: readonly Operation[]): Answer[] {
    const answers: Answer[] = []
    for (const operation of operations) {
      const last = answers.at(-1)
      answers.push(...(last !== undefined && isLater(last) ? [last] : this.run([operation])))
    }
    return answers
  }

  #together(operations: readonly Operation[]): Reply {
    failpoint('write.begin', () => kindsOf(operations))
    const answers = this.#rows.transaction(() => {
      const performed = operations.map((operation) => this.#performOne(operation))
      failpoint('write.before-commit', () => kindsOf(operations))
      return performed
    })
    failpoint('write.after-commit', () => kindsOf(operations))
    return answers
  }

  close(): void {
    this.#rows.close()
  }

  #performOne(operation: Operation): Answer {
    try {
      return perform(this.#rows, operation)
    } catch (error) {
      const data = faultData(error)
      if (error instanceof StoreFault && !(error instanceof SessionFault) && data.code === 'storage_unavailable') throw error
      return fault(data)
    }
  }
}

const kindsOf = (operations: readonly Operation[]): string => operations.map(({ kind }) => kind).join('+')

function fault(value: FaultData): Answer {
  return { kind: 'fault', value }
}
