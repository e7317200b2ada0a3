// Owns the synchronous engine of every store: a batch of operations in one transaction (group commit), and reads.
import { failpoint } from '../base/failpoint.ts'
import { type FaultData, faultData, StoreFault } from './fault.ts'
import type { Answer, Call, Operation, Reply } from './operations.ts'
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
   * Runs a batch in one transaction. A refused operation leaves the others alone, and so does one that can't be decided;
   * where the store itself fails, nothing of the batch is kept and each of it answers that fault (RE-6).
   */
  run(operations: readonly Operation[]): Reply {
    try {
      failpoint('write.begin', () => kindsOf(operations))
      const answers = this.#rows.transaction(() => {
        const performed = operations.map((operation) => this.#performOne(operation))
        failpoint('write.before-commit', () => kindsOf(operations))
        return performed
      })
      failpoint('write.after-commit', () => kindsOf(operations))
      return answers
    } catch (error) {
      const failed = fault(faultData(error))
      return operations.map(() => failed)
    }
  }

  close(): void {
    this.#rows.close()
  }

  #performOne(operation: Operation): Answer {
    try {
      return perform(this.#rows, operation)
    } catch (error) {
      const data = faultData(error)
      if (error instanceof StoreFault && data.code === 'storage_unavailable') throw error
      return fault(data)
    }
  }
}

const kindsOf = (operations: readonly Operation[]): string => operations.map(({ kind }) => kind).join('+')

function fault(value: FaultData): Answer {
  return { kind: 'fault', value }
}
