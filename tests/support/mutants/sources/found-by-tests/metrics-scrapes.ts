import type { FoundByTest } from '../source-mutant.ts'

/** Defects of scrapes: of what is read from the store, and of the series that are dropped; and of spans. */
export const foundByTestsOfMetricsScrapes: readonly FoundByTest[] = [
  {
    name: 'what is done with a Held is part of a run of another queue that has its key and its token',
    edits: [
      {
        file: 'packages/metrics/src/tracing.ts',
        find: 'own === undefined ? this.#helds.values() : [own]',
        replace: 'this.#helds.values()',
      },
    ],
    finder: {
      file: 'tests/test/metrics/metrics-tracing.test.ts',
      title:
        'what is done with a Held is part of its own run, also where a queue on another store has its key and its token',
    },
  },
  {
    name: 'a provider that throws at what is in the store ends the process',
    edits: [
      {
        file: 'packages/metrics/src/recorder/store-reader.ts',
        find: '    } catch (error) {\n      this.#options.onError(error)\n    }\n  }\n\n  async #readStore',
        replace: '    } finally {\n    }\n  }\n\n  async #readStore',
      },
    ],
    finder: {
      file: 'packages/metrics/test/second-runs.test.ts',
      title: 'a provider that throws at what is in the store is reported',
    },
  },
  {
    name: 'a provider that throws when a closed queue is dropped fails the scrape',
    edits: [
      {
        file: 'packages/metrics/src/recorder/recorder.ts',
        find: '        provider.forgetQueue?.(name)\n      } catch (error) {\n        onError(error)\n      }',
        replace: '        provider.forgetQueue?.(name)\n      } finally {\n      }',
      },
    ],
    finder: {
      file: 'packages/metrics/test/second-runs.test.ts',
      title: 'a provider that throws when a closed queue is dropped is reported',
    },
  },
  {
    name: 'keys whose leases have ended without a worker are in no metric',
    edits: [
      {
        file: 'packages/metrics/src/recorder/store-reader.ts',
        find: 'heldUntil <= now ? processing : 0',
        replace: '0',
      },
    ],
    finder: {
      file: 'packages/metrics/test/store.test.ts',
      title: 'held keys belong to the depth when the leases of all have ended, and not before',
    },
  },
]
