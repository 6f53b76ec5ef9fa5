/** One step of the tables of a schema, from the version before it to its own. */
export interface Migration {
  /** Counts from 1 without a gap. */
  readonly version: number
  readonly title: string
  /** Whether a program that does not know this step must not touch the schema after it. */
  readonly breaking: boolean
  readonly sql: string
}

/** A function that the driver calls. It may be installed again: the same name has the same text. */
export interface SqlFunction {
  /** Its name in the schema, which ends in a hash of its text. */
  readonly name: string
  readonly sql: string
}
