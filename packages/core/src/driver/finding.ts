/** One check of the health of a store, and its result. */
export interface Finding<Check extends string = string> {
  /** The name of the check, which does not change between versions. */
  readonly check: Check
  readonly level: 'ok' | 'warning' | 'failure'
  /** The result as a sentence. */
  readonly summary: string
  /** The result as numbers and names, for programs. */
  readonly facts: Readonly<Record<string, string | number | boolean | null>>
}
