import type { FoundByTest } from '../source-mutant.ts'

/** Defects of the driver on a cluster of Redis, and the tests that find them. */
export const foundByTestsOfRedisClusters: readonly FoundByTest[] = [
  {
    name: 'a queue of Redis waits for the server that lists it',
    edits: [
      {
        file: 'packages/redis/src/store.ts',
        find: 'if (known === undefined) await writing',
        replace: 'if (known !== null) await writing',
      },
    ],
    finder: {
      file: 'packages/redis/test/queues.test.ts',
      title: 'go on while another server, which lists them, refuses writes after its restart',
    },
  },
  {
    name: 'no queue of Redis can be new while the slot of the registry moves',
    edits: [
      {
        file: 'packages/redis/src/store.ts',
        find: "registering, '1', registry,",
        replace: "registering, '2', registry, tokenFloor,",
      },
    ],
    finder: {
      file: 'packages/redis/test/queues.test.ts',
      title: 'can be new while the list of their names moves to another server',
    },
  },
  {
    name: 'a watch in a cluster of Redis hides that the user may not subscribe',
    edits: [
      {
        file: 'packages/redis/src/watch.ts',
        find: "const error = await this.#subscribe(this.#layout.of('').channel)",
        replace:
          "const error = this.#connections.isCluster || (await this.#subscribe(this.#layout.of('').channel))",
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/check-server.test.ts',
      title: 'a watch in a cluster says so, too',
    },
  },
]
