import type { Repository } from './repository.ts'
import { anonymous } from './rules/anonymous.ts'
import { arrows } from './rules/arrows.ts'
import { decisions } from './rules/decisions.ts'
import { internals } from './rules/internals.ts'
import { manifests } from './rules/manifests.ts'
import { markdown } from './rules/markdown.ts'
import { names } from './rules/names.ts'
import { reachable } from './rules/reachable.ts'
import { sizes } from './rules/sizes.ts'
import { sleepless } from './rules/sleepless.ts'

/** A rule reads the files and answers with one line per problem. */
export type Rule = (repository: Repository) => string[]

export const rules: Readonly<Record<string, Rule>> = {
  'arrows between packages point one way': arrows,
  'a decision is numbered, indexed and complete': decisions,
  'manifests, exports maps and references agree': manifests,
  'pages on internals name what exists': internals,
  'a page has one title and no dead link': markdown,
  'files are named for their idea': names,
  'every source file is reachable': reachable,
  'source files stay short': sizes,
  'tests do not sleep': sleepless,
  'no machine and no registry is named': anonymous,
}
