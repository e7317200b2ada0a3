/** What a log says so far, and each rule that it broke. */
export declare class LogReading {
  static of(facts: readonly unknown[]): LogReading
  readonly broken: readonly string[]
}
