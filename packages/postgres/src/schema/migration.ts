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

/** A function that users call from SQL. It keeps its name when its text changes. */
export interface PublicFunction {
  readonly name: string
  /** The types of its arguments, which are part of its name for Postgres. */
  readonly argumentTypes: string
  /** One sentence for users, which the server shows with the function. */
  readonly summary: string
  /** Rises with each change that a caller can see. */
  readonly interface: number
  /** A hash of its text. */
  readonly hash: string
  readonly sql: string
}
