/** One step of the schema, from the previous version to its own. */
export interface Migration {
  /** Counts from 1 without a gap. */
  readonly version: number
  readonly title: string
  /** Whether programs that do not know this step must not use the file after it. */
  readonly breaking: boolean
  readonly sql: string
}
