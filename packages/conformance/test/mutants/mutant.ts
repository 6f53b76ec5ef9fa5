import type { Subject } from '../../src/case.ts'
import { type ModelSubjectOptions, modelSubject } from '../../src/model/model-subject.ts'
import { modelRules, type Rules } from '../../src/model/rules.ts'

/** A driver with one fault, which the suite has to catch. */
export interface Mutant {
  readonly id: string
  /** The fault. */
  readonly title: string
  create(): Subject
}

/** The model with some of its members or its store replaced. */
export function mutant(id: string, title: string, options: () => ModelSubjectOptions): Mutant {
  return { id, title, create: () => modelSubject(options()) }
}

/** The model with some of its rules replaced; `rules` are those of the contract. */
export function ruleMutant(
  id: string,
  title: string,
  replace: (rules: Rules) => Partial<Rules>,
): Mutant {
  return mutant(id, title, () => ({ rules: replace(modelRules) }))
}

/** The model with some verbs of the driver replaced. */
export function verbMutant(
  id: string,
  title: string,
  alter: NonNullable<ModelSubjectOptions['alter']>,
): Mutant {
  return mutant(id, title, () => ({ alter }))
}
