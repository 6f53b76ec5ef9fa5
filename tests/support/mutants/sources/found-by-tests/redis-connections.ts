import type { FoundByTest } from '../source-mutant.ts'

/** Defects of the driver on Redis in its connections, registry of queues, close and errors, and the tests that find them. */
export const foundByTestsOfRedisConnections: readonly FoundByTest[] = [
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
    name: 'a subscription that a server of Redis has ended stays ended if the slot comes back',
    edits: [
      {
        file: 'packages/redis/src/connection/subscriptions.ts',
        find: 'if (!this.#hasLost) return',
        replace: 'if (this.#hasLost) return',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/slot-and-back.test.ts',
      title: 'keeps its subscription',
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
    name: 'a store of Redis is opened where another oneSlot looks for its queues',
    edits: [
      {
        file: 'packages/redis/src/redis-driver.ts',
        find: 'await checkSlots(connections, layout)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/queues.test.ts',
      title: 'are in the slots that the first one was put into, for every process',
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
  {
    name: 'a primary of Redis that refuses writes without replicas is not doubted',
    edits: [
      {
        file: 'packages/redis/src/connection/one-primary.ts',
        find: "if (error instanceof ReplyError && error.code === 'NOREPLICAS') this.suspect()",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/connections.test.ts',
      title: 'leads away from a primary that does not know that it was replaced',
    },
  },
  {
    name: 'a primary of Redis that has lost its replicas is not doubted',
    edits: [
      {
        file: 'packages/redis/src/connection/redis-connections.ts',
        find: 'if (progress.connected < server.replicas.expected) this.#topology.suspect?.()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/connections.test.ts',
      title: 'leads away from a primary that does not know that it was replaced',
    },
  },
  {
    name: 'a primary of Redis whose replicas do not confirm is not doubted',
    edits: [
      {
        file: 'packages/redis/src/connection/redis-connections.ts',
        find: 'this.#topology.suspect?.()\n          throw error',
        replace: 'throw error',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/connections.test.ts',
      title: 'leads away from a primary that does not know that it was replaced',
    },
  },
  {
    name: 'a queue of Redis is not listed after its store was emptied',
    edits: [
      {
        file: 'packages/redis/src/store.ts',
        find: 'if (isCreating && reply[3] ===',
        replace: 'if (false && reply[3] ===',
      },
    ],
    finder: {
      file: 'packages/redis/test/queues.test.ts',
      title: 'are listed once a process uses them again after all keys were deleted',
    },
  },
  {
    name: 'a driver of Redis accepts anything in place of a client',
    edits: [
      {
        file: 'packages/redis/src/connection/open-connections.ts',
        find: "checkObject('client', client as RedisClient)",
        replace: 'client as RedisClient',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/clients.test.ts',
      title: ' is named',
    },
  },
  {
    name: 'a driver of Redis accepts anything in place of an address',
    edits: [
      {
        file: 'packages/redis/src/connection/open-connections.ts',
        find: "checkString('url', url)",
        replace: 'url',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/clients.test.ts',
      title: ' is named',
    },
  },
  {
    name: 'on Redis, the outcome of a read without an answer is unknown',
    edits: [
      {
        file: 'packages/redis/src/store.ts',
        find: 'onlyReads(text) ? reading(send) : send()',
        replace: 'onlyReads(text) ? send() : send()',
      },
    ],
    finder: {
      file: 'packages/redis/test/lost-answers.test.ts',
      title: 'leaves no outcome of a read unknown',
    },
  },
  {
    name: 'on Redis, a list by names reads the placeholder as a key',
    edits: [
      {
        file: 'packages/redis/src/verbs/list.ts',
        find: ".filter((key) => key !== '')",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/conformance/conformance.test.ts',
      title: 'list.keys',
    },
  },
  {
    name: 'a driver of Redis waits longer for replicas when it closes than a queue waits for it',
    edits: [
      {
        file: 'packages/redis/src/redis-driver.ts',
        find: 'const journalCloseMs = 300',
        replace: 'const journalCloseMs = 10_000',
      },
    ],
    finder: {
      file: 'tests/test/faults/redis-faults.test.ts',
      title: 'a queue closes while a replica stands still',
    },
  },
  {
    name: 'the limit of a client of node-redis stops the commands of queues',
    edits: [
      {
        file: 'packages/redis/src/clients/node-redis.ts',
        find: 'commandsQueueMaxLength: undefined,',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/clients.test.ts',
      title: 'node-redis: a limit of its queue of commands does not count for what queues send',
    },
  },
  {
    name: 'a client of node-redis 4 is accepted',
    edits: [
      {
        file: 'packages/redis/src/clients/client-shapes.ts',
        find: "const isNodeRedis = 'destroy' in client",
        replace: 'const isNodeRedis = true',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/clients.test.ts',
      title: 'a client is refused, and the error names',
    },
  },
  {
    name: 'the key prefix of a cluster of ioredis is ignored',
    edits: [
      {
        file: 'packages/redis/src/clients/check-client.ts',
        find: '  checkPrefix(options)\n  checkIoredisConnection((options',
        replace: '  checkIoredisConnection((options',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/clients.test.ts',
      title: 'a client is refused, and the error names',
    },
  },
  {
    name: 'on Redis, a queue of which a part was deleted fails with an error of the script',
    edits: [
      {
        file: 'packages/redis/src/script-error.ts',
        find: "const isStopped = said.startsWith('user_script:')",
        replace: 'const isStopped = false',
      },
    ],
    finder: {
      file: 'packages/redis/test/missing-parts.test.ts',
      title: 'is damaged, as the error says, until it is purged',
    },
  },
  {
    name: 'a client of a cluster of Redis is advised to become one while a slot moves',
    edits: [
      {
        file: 'packages/redis/src/connection/cluster.ts',
        find: 'if (redirections === redirectionsMax) throw undecided(error)',
        replace: 'if (redirections === redirectionsMax) throw error',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/errors.test.ts',
      title:
        'primaries that name each other for a slot cannot be reached, and no address is advised',
    },
  },
  {
    name: 'a process that was held up takes a server of Redis for silent',
    edits: [
      {
        file: 'packages/redis/src/clients/link.ts',
        find: 'else if (this.#isSuspect) {',
        replace: 'else if (!this.#isSuspect) {',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/held-up.test.ts',
      title: 'a process that was held up does not take the server for silent',
    },
  },
  {
    name: 'a queue of Redis that was deleted and created again draws positions twice',
    edits: [
      {
        file: 'packages/redis/src/store.ts',
        find: "redis.call('HSET', KEYS[14], 'seq', seq)",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/queues.test.ts',
      title: 'leave nothing behind once they are empty and unused for a day',
    },
  },
  {
    name: 'queues of Redis that no process has used for a day are forgotten with their keys',
    edits: [
      {
        file: 'packages/redis/src/verbs/queues.ts',
        find: 'if (!found && unused.has(name))',
        replace: 'if (unused.has(name))',
      },
      {
        file: 'packages/redis/src/store.ts',
        find: " or paused == '1' or redis.call('HLEN', KEYS[1]) > 1 then",
        replace: ' then',
      },
    ],
    finder: {
      file: 'packages/redis/test/queues.test.ts',
      title: 'are listed while they have keys, however long ago a process used them',
    },
  },
  {
    name: 'doctor takes the time that a reply of Redis took for a difference of the clocks',
    edits: [
      {
        file: 'packages/redis/src/doctor.ts',
        find: 'Math.max(0, theirs - after)',
        replace: 'theirs - before',
      },
    ],
    finder: {
      file: 'packages/redis/test/doctor.test.ts',
      title: 'a reply that is late says nothing against the clock of the server',
    },
  },
  {
    name: 'a script of Redis does not look at the rights of its user first',
    edits: [
      {
        file: 'packages/redis/src/scripts.generated.ts',
        find: 'if not isAllowed(name, ...) then',
        replace: 'if false then',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/check-server.test.ts',
      title: 'a right that is withdrawn while queues are in use leaves no verb half done',
    },
  },
  {
    name: 'replicas are asked for ever about an answer that came while the store closed',
    edits: [
      {
        file: 'packages/redis/src/journal-keeper.ts',
        find: 'if (this.#isClosing) return journal',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/journal-keeper.test.ts',
      title: 'replicas are not asked about an add that is answered after the close',
    },
  },
  {
    name: 'a connection to a silent Redis that is given up while it is opened stays open',
    edits: [
      {
        file: 'packages/redis/src/clients/link.ts',
        find: 'link.#destroy = destroy',
        replace: 'if (link.#isClosed) link.#destroy = destroy',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/broken-networks.test.ts',
      title: 'what was opened to a server that is silent is closed when it is given up',
    },
  },
  {
    name: 'a driver on Redis uses ioredis where redis could not be read',
    edits: [
      {
        file: 'packages/redis/src/connection/open-connections.ts',
        find: "library === 'redis' || failure.retryable",
        replace: "library === 'redis'",
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/missing-packages.test.ts',
      title: 'without a file handle for redis, ioredis is not used',
    },
  },
]
