import type { FoundByTest } from '../source-mutant.ts'

/** Defects that show a password, and the tests that find them. */
export const foundByTestsOfPasswords: readonly FoundByTest[] = [
  {
    name: 'on Redis, errors of connecting show the password',
    edits: [
      {
        file: 'packages/redis/src/clients/link.ts',
        find: 'const cause = withoutArguments(error)',
        replace: 'const cause = error',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/errors.test.ts',
      title: 'an error of connecting shows no password, and neither do its causes',
    },
  },
  {
    name: 'a password from a file is printed if a server repeats it',
    edits: [
      {
        file: 'packages/cli/src/run.ts',
        find: 'this.secrets.addFrom(text)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/cli/test/calling.test.ts',
      title: 'one from a file, which a server repeats in words of its own',
    },
  },
]
