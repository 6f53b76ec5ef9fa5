import type { Repository } from './repository.ts'
import { anonymous } from './rules/anonymous.ts'
import { arrows } from './rules/arrows.ts'
import { circles } from './rules/circles.ts'
import { addresses } from './rules/documents/addresses.ts'
import { decisions } from './rules/documents/decisions.ts'
import { internals } from './rules/documents/internals.ts'
import { markdown } from './rules/documents/markdown.ts'
import { exportedNames } from './rules/exported-names.ts'
import { folders } from './rules/folders.ts'
import { manifests } from './rules/manifests.ts'
import { names } from './rules/names.ts'
import { options } from './rules/options.ts'
import { patient } from './rules/patient.ts'
import { reachable } from './rules/reachable.ts'
import { scripts } from './rules/scripts.ts'
import { sizes } from './rules/sizes.ts'
import { sleepless } from './rules/sleepless.ts'
import { words } from './rules/words.ts'
import { workflows } from './rules/workflows.ts'

/** A rule reads the files and returns one line per problem, which begins with a path. */
export type Rule = (repository: Repository) => string[]

export const rules = {
  'absolute addresses lead somewhere': addresses,
  'arrows between packages point one way': arrows,
  'circles of imports are small': circles,
  'a decision is numbered, indexed and complete': decisions,
  'a file is named for what it exports': exportedNames,
  'folders stay small': folders,
  'manifests, exports maps and references agree': manifests,
  'pages on internals name what exists': internals,
  'a page has one title, no dead link and no stray row': markdown,
  'file names are kebab-case and name an idea': names,
  'options take undefined': options,
  'every source file is reachable': reachable,
  'scripts name files that exist': scripts,
  'source files stay short': sizes,
  'tests do not sleep': sleepless,
  'tests wait as long as the configuration says': patient,
  'comments and documents use the words of the field': words,
  'workflows run scripts that exist': workflows,
  'no machine and no registry is named': anonymous,
} as const satisfies Readonly<Record<string, Rule>>
