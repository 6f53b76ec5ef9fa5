/** A change of source files that puts a defect back, and what has to fail then. */
export interface SourceMutant {
  /** What is wrong with it. */
  readonly name: string
  readonly edits: readonly SourceEdit[]
  readonly finder: Run | Test
}

export interface SourceEdit {
  /** A source file, from the root of the repository. */
  readonly file: string
  /** A text that occurs in it once. */
  readonly find: string
  readonly replace: string
}

/** A bounded run of a torture command. */
export interface Run {
  /** The command, with its arguments. */
  readonly torture: readonly string[]
  /** A part of what it says then, where it may fail for another reason on a machine that is busy. */
  readonly says?: string
}

/** A test of the suite. */
export interface Test {
  /** Its file, from the root of the repository. */
  readonly file: string
  /** A part of its title without placeholders, or the id of a case of the conformance suite. */
  readonly title: string
}

/** A mutant that a test of the suite finds. */
export interface FoundByTest extends SourceMutant {
  readonly finder: Test
}

export function isTest(finder: Run | Test): finder is Test {
  return 'file' in finder
}
