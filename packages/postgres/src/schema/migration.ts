/** One step of the schema, from the version before it to its own. */
export interface Migration {
  /** Counts from 1 without a gap. */
  readonly version: number
  readonly title: string
  /** Whether a program that does not know this step must not touch the schema after it. */
  readonly breaking: boolean
  readonly sql: string
}
