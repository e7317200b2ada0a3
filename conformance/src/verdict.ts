// Owns what came of one case with one subject: the verdict, why, and what is needed to look into it.
export type VerdictName = 'pass' | 'fail' | 'hang' | 'crash' | 'unsupported' | 'harness-error'

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
  /** What came of it apart from ids and times, for the comparison of two languages; null where there is nothing to compare. */
  readonly trace: string | null
}
