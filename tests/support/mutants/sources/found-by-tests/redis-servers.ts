import type { FoundByTest } from '../source-mutant.ts'

/** Defects on servers of Redis that refuse writes, are silent or have many workers, and the tests that find them. */
export const foundByTestsOfRedisServers: readonly FoundByTest[] = [
  {
    name: 'a Redis that refuses writes does not tell its last token',
    edits: [
      {
        file: 'packages/redis/src/verbs/transfer.ts',
        find: 'const { scope } = store().layout.of(queue)',
        replace:
          "await store().run('tokens', queue, ['0'])\n        const { scope } = store().layout.of(queue)",
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/errors.test.ts',
      title: 'a server that refuses writes answers everything that an export asks',
    },
  },
  {
    name: 'each new worker on Redis reads the registrations of all workers',
    edits: [
      {
        file: 'packages/redis/src/scripts.generated.ts',
        find: 'now - lastSweep >= 60000',
        replace: 'now >= lastSweep',
      },
    ],
    finder: {
      file: 'packages/redis/test/leftovers.test.ts',
      title: 'of many workers that start together, one reads the registrations of all',
    },
  },
  {
    name: 'a Redis that refuses writes cannot be opened',
    edits: [
      {
        file: 'packages/redis/src/connection/check-server.ts',
        find: '/^(NOREPLICAS|MISCONF)$/.test(error.code)',
        replace: "error.code === 'MISCONF'",
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/errors.test.ts',
      title: 'a store can be opened while its server refuses writes, and read',
    },
  },
  {
    name: 'the close of a driver on Redis waits for a silent server to end its subscriptions',
    edits: [
      {
        file: 'packages/redis/src/watch.ts',
        find: 'if (this.#watchers.size === 0) this.stop()',
        replace: 'for (const one of this.#subscriptions.values()) await (await one)()',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/closing.test.ts',
      title: 'does not wait for a server that is silent',
    },
  },
  {
    name: 'the close of a driver on Redis waits until its primary is given up',
    edits: [
      {
        file: 'packages/redis/src/journal-keeper.ts',
        find: 'await Promise.race([this.#untilFollowed(clock.monotonicMs() + graceMs), isOver])',
        replace: 'await Promise.all([this.#untilFollowed(clock.monotonicMs() + graceMs), isOver])',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/closing.test.ts',
      title: 'does not wait for a server that is silent',
    },
  },
  {
    name: 'a connection to Redis that is being opened outlives the close',
    edits: [
      {
        file: 'packages/redis/src/connection/open-link.ts',
        find: 'this.#attempted?.close()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/closing.test.ts',
      title: 'ends a connection that is being opened',
    },
  },
  {
    name: 'an add that the new primary of a slot of Redis has answered is repeated on it',
    edits: [
      {
        file: 'packages/redis/src/journal-keeper.ts',
        find: '(other ?? by)',
        replace: 'by',
      },
    ],
    finder: {
      file: 'packages/redis/test/moved-slot.test.ts',
      title: 'repeats no add',
    },
  },
  {
    name: 'while a slot of Redis moves, an add that its new primary has answered is repeated',
    edits: [
      {
        file: 'packages/redis/src/journal.ts',
        find: ' || tabled === one',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/moved-slot.test.ts',
      title: 'repeats no add',
    },
  },
  {
    name: 'the replicas of a primary of Redis confirm what another one has answered while a slot moves',
    edits: [
      {
        file: 'packages/redis/src/journal.ts',
        find: 'this.#drop((entry) => entry.primary === primary && entry.nth <= nth)',
        replace: 'this.#drop((entry) => isOf(entry, primary) && entry.nth <= nth)',
      },
    ],
    finder: {
      file: 'packages/redis/test/journal.test.ts',
      title: 'is confirmed by its own replicas',
    },
  },
  {
    name: 'the doctor counts queues that are empty',
    edits: [
      {
        file: 'packages/redis/src/doctor.ts',
        find: 'SluiceError.is(one) || !one.isThere ?',
        replace: 'SluiceError.is(one) ?',
      },
    ],
    finder: {
      file: 'packages/redis/test/doctor.test.ts',
      title: 'queues that are empty are not among those that have a worker or none',
    },
  },
  {
    name: 'a driver of a cluster that is closed during a failover connects to the new primary',
    edits: [
      {
        file: 'packages/redis/src/connection/cluster.ts',
        find: 'if (this.#isClosed) throw closedMeanwhile()\n    this.#nodes',
        replace: 'this.#nodes',
      },
      {
        file: 'packages/redis/src/connection/cluster.ts',
        find: 'if (this.#isClosed) throw closedMeanwhile()\n      try',
        replace: 'try',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/closing.test.ts',
      title: 'leaves no connection to one that has just taken over',
    },
  },
  {
    name: 'a driver of a cluster that is closed waits for the node that it asks for the primaries',
    edits: [
      {
        file: 'packages/redis/src/connection/cluster.ts',
        find: 'this.#asked?.close()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/closing.test.ts',
      title: 'ends the connection to a node that is asked',
    },
  },
  {
    name: 'a driver that was closed connects to the primary that Sentinels name',
    edits: [
      {
        file: 'packages/redis/src/connection/open-link.ts',
        find: 'if (this.#isClosed) throw closedMeanwhile()\n    const link',
        replace: 'const link',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/closing.test.ts',
      title: 'opens none to the address that is found',
    },
  },
  {
    name: 'a node of a cluster that is a primary no longer stays connected for ever',
    edits: [
      {
        file: 'packages/redis/src/connection/cluster.ts',
        find: 'this.#servers.delete(id)\n        server.close()',
        replace: 'this.#servers.delete(id)',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/closing.test.ts',
      title: 'is closed when its last replies have come',
    },
  },
  {
    name: 'a primary of a cluster that was none for a moment is cut',
    edits: [
      {
        file: 'packages/redis/src/connection/cluster.ts',
        find: 'if (this.#isPrimary(server) || this.#servers.get(id) !== server) return',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/closing.test.ts',
      title: 'stays connected if it is one again by then',
    },
  },
  {
    name: 'a driver that was closed keeps the connection that waits for replicas',
    edits: [
      {
        file: 'packages/redis/src/connection/server.ts',
        find: 'this.barrier.close()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/closing.test.ts',
      title: 'ends all of its connections, and leaves no timer',
    },
  },
  {
    name: 'a driver that was closed keeps the connection of its messages',
    edits: [
      {
        file: 'packages/redis/src/connection/subscriptions.ts',
        find: 'this.#own?.close()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/closing.test.ts',
      title: 'ends all of its connections, and leaves no timer',
    },
  },
  {
    name: 'a driver that was closed asks for signs of life for ever',
    edits: [
      {
        file: 'packages/redis/src/connection/subscriptions.ts',
        find: 'this.#ticker?.stop()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/closing.test.ts',
      title: 'ends all of its connections, and leaves no timer',
    },
  },
  {
    name: 'a driver that is closed between two attempts to connect connects again',
    edits: [
      {
        file: 'packages/redis/src/connection/open-link.ts',
        find: 'this.#closed.abort()\n    this.#timer?.stop()',
        replace: 'this.#closed.abort()',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/closing.test.ts',
      title: 'ends the rest between two attempts to connect',
    },
  },
  {
    name: 'each look at where the primary should be leaves a connection',
    edits: [
      {
        file: 'packages/redis/src/connection/one-primary.ts',
        find: 'found.close()',
        replace: 'void found',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/closing.test.ts',
      title: 'a look at where the primary should be leaves no connection',
    },
  },
  {
    name: 'a replica is taken for the primary where the address leads to it',
    edits: [
      {
        file: 'packages/redis/src/connection/one-primary.ts',
        find: '!/^role:master/m.test(String(replication)) || ',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/closing.test.ts',
      title: 'a look at where the primary should be leaves no connection',
    },
  },
  {
    name: 'a primary of a cluster that is a replica now counts as the same one',
    edits: [
      {
        file: 'packages/redis/src/connection/cluster.ts',
        find: "if (code === 'READONLY') server.demoted()",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/primaries.test.ts',
      title: 'a primary that refuses writes counts as another one',
    },
  },
  {
    name: 'a cluster is lost once the nodes of its address have ended',
    edits: [
      {
        file: 'packages/redis/src/connection/cluster.ts',
        find: '[...this.#nodes, ...this.#roots]',
        replace: '[...this.#roots]',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/primaries.test.ts',
      title: 'where the nodes of the address have ended',
    },
  },
  {
    name: 'a write counts as confirmed by the replicas of the former primary of its slot',
    edits: [
      {
        file: 'packages/redis/src/connection/redis-connections.ts',
        find: "if (!isStill()) throw new ConnectionError('the slot has another primary', true)",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/primaries.test.ts',
      title: 'what replicas of the former primary of a slot have is not confirmed',
    },
  },
  {
    name: 'a server that is refused keeps a connection',
    edits: [
      {
        file: 'packages/redis/src/redis-driver.ts',
        find: 'await connections.close()\n      throw',
        replace: 'throw',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/check-server.test.ts',
      title: 'a server that is refused, also since it is a replica, has no connection left',
    },
  },
  {
    name: 'a replica that is refused keeps a connection',
    edits: [
      {
        file: 'packages/redis/src/connection/open-connections.ts',
        find: 'topology.close()\n    throw',
        replace: 'throw',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/check-server.test.ts',
      title: 'a server that is refused, also since it is a replica, has no connection left',
    },
  },
  {
    name: 'a connection to a Sentinel that is silent stays open once the others have answered',
    edits: [
      {
        file: 'packages/redis/src/connection/sentinel.ts',
        find: "removeEventListener('abort', end)\n    end()",
        replace: "removeEventListener('abort', end)",
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/closing.test.ts',
      title: 'a Sentinel that is silent keeps no connection once the others agree',
    },
  },
]
