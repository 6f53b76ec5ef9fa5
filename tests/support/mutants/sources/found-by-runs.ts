import type { SourceMutant } from './source-mutant.ts'

const liveness = ['liveness', '--runs=30', '--seed=1']
const wrongCalls = ['wrong-calls', '--rounds=4', '--seed=1']

/** Defects that a bounded run of a fuzzer, or of a program of `tests/torture`, finds. */
export const foundByRuns: readonly SourceMutant[] = [
  {
    name: 'a key whose release fails is held, and renewed, for ever',
    edits: [
      {
        file: 'packages/queue/src/held/give-back.ts',
        find: 'owner.calls.reportTrouble(error)\n          continue',
        replace: 'owner.calls.reportTrouble(error)\n        return',
      },
    ],
    finder: { torture: liveness },
  },
  {
    name: 'getters hang after a shutdown whose claim brought some keys',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/claim-loop.ts',
        find: "if (count > 0 || phase !== 'shutting-down') this.#mustClaimAgain = true\n      else if",
        replace: 'if (count === 0)\n      if',
      },
    ],
    finder: { torture: liveness },
  },
  {
    name: 'an import of something that has no lines is an untyped error',
    edits: [
      {
        file: 'packages/queue/src/transfer/import-queue.ts',
        find: '  checkLines(lines)\n',
        replace: '',
      },
    ],
    finder: { torture: wrongCalls },
  },
]
