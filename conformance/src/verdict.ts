// Owns what came of one case with one subject: the verdict, why, and what is needed to look into it.
export const verdictNames = ['pass', 'fail', 'hang', 'crash', 'unsupported', 'harness-error'] as const
export type VerdictName = (typeof verdictNames)[number]

export interface Verdict {
  readonly caseId: string
  /** `server`, or a driver's name. */
  readonly subject: string
  readonly covers: readonly string[]
  readonly verdict: VerdictName
  /** Empty where it passed. */
  readonly reasons: readonly string[]
  readonly transcript: readonly string[]
  readonly stderr: string
  readonly ms: number
  /** For the comparison of two languages; null where there is nothing to compare. */
  readonly trace: Trace | null
}

/** What came of a case, apart from what differs from run to run. */
export interface Trace {
  /** The same in every language. */
  readonly whole: string
  /** The same over every way to the model, too: without the words in which a failed one told of it. */
  readonly common: string
}
