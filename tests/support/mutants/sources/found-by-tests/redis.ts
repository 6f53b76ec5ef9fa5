import type { FoundByTest } from '../source-mutant.ts'

/** Defects of the driver on Redis, and the tests that find them. */
export const foundByTestsOfRedis: readonly FoundByTest[] = [
  {
    name: 'a queue of a newer layout is read and changed on Redis',
    edits: [
      {
        file: 'packages/redis/src/scripts.generated.ts',
        find: "if version and version ~= '1' then",
        replace: "if version and version == '' then",
      },
    ],
    finder: {
      file: 'packages/redis/test/newer-layout.test.ts',
      title: 'also by a process that is running',
    },
  },
  {
    name: 'a second failover of Redis repeats what had arrived before the first',
    edits: [
      {
        file: 'packages/redis/src/scripts.generated.ts',
        find: 'arrived[math.floor(number / termSize)] = { number = number, by = ids[index] }',
        replace:
          'if index == 1 then arrived[math.floor(number / termSize)] = { number = number, by = ids[index] } end',
      },
    ],
    finder: {
      file: 'packages/redis/test/new-primary.test.ts',
      title: 'repeats nothing that has arrived before an earlier primary ended',
    },
  },
  {
    name: 'numbers of another primary of Redis in the same range count as those of the one before',
    edits: [
      {
        file: 'packages/redis/src/scripts.generated.ts',
        find: 'return last and last.by == row.by and row.lastSeq <= last.number',
        replace: 'return last and row.lastSeq <= last.number',
      },
    ],
    finder: {
      file: 'packages/redis/test/snapshots.test.ts',
      title: 'gets it also if the process has not seen one of the servers',
    },
  },
  {
    name: 'an add that was repeated on Redis keeps its former number',
    edits: [
      {
        file: 'packages/redis/src/journal.ts',
        find: 'run.lastSeq = lastSeq\n      run.by = by',
        replace: 'run.by = by',
      },
    ],
    finder: {
      file: 'packages/redis/test/snapshots.test.ts',
      title: 'gets an add that it did not have as often',
    },
  },
  {
    name: 'numbers of keys that were moved to Redis outrun those of the next primary',
    edits: [
      {
        file: 'packages/redis/src/scripts.generated.ts',
        find: 'if seq >= (term + 1) * termSize then',
        replace: 'if false then',
      },
    ],
    finder: {
      file: 'packages/redis/test/new-primary.test.ts',
      title: 'begins a range above the numbers of keys that were moved here',
    },
  },
  {
    name: 'a claim on Redis without an answer skips keys while others are finished',
    edits: [
      {
        file: 'packages/redis/src/scripts.generated.ts',
        find: 'if found[2] ~= lastLease then lastCount = 0 end',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/adopted-claims.test.ts',
      title: 'finds all of them, also if other keys are finished meanwhile',
    },
  },
  {
    name: 'a claim on Redis does not look past many later keys',
    edits: [
      {
        file: 'packages/redis/src/scripts.generated.ts',
        find: "return none(0, position or '')",
        replace: "return none(0, '')",
      },
    ],
    finder: {
      file: 'packages/redis/test/many-later-keys.test.ts',
      title: 'finds a key behind more later keys than one script looks at',
    },
  },
  {
    name: 'failed runs stay in Redis until another run fails',
    edits: [
      {
        file: 'packages/redis/src/scripts.generated.ts',
        find: 'if count > 0 or isSweep then',
        replace: 'if count > 0 then',
      },
    ],
    finder: {
      file: 'packages/redis/test/records.test.ts',
      title: 'is deleted when it is older than a day, also if no run fails any more',
    },
  },
  {
    name: 'only the first Sentinel is asked',
    edits: [
      {
        file: 'packages/redis/src/connection/sentinel.ts',
        find: 'const asked = sentinels.map(',
        replace: 'const asked = sentinels.slice(0, 1).map(',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/connections.test.ts',
      title: 'a Sentinel that is silent is not waited for',
    },
  },
  {
    name: 'a slot of Redis without a primary fails what does not need one',
    edits: [
      {
        file: 'packages/redis/src/connection/redis-connections.ts',
        find: "this.#knownServerOf(key)?.id ?? ''",
        replace: 'this.#topology.serverOf(key).id',
      },
    ],
    finder: {
      file: 'packages/redis/test/lost-slot.test.ts',
      title: 'fails the calls of its queues, and nothing else of the process',
    },
  },
  {
    name: 'a server of Redis that is away is tried many times a second',
    edits: [
      {
        file: 'packages/redis/src/connection/open-link.ts',
        find: 'const restMinMs = 500',
        replace: 'const restMinMs = 25',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/attempts.test.ts',
      title: 'one is tried three times in the first second at most, then once a second',
    },
  },
  {
    name: 'all nodes of a cluster that is away are tried many times a second',
    edits: [
      {
        file: 'packages/redis/src/connection/cluster.ts',
        find: 'const failedRestMs = 1_000',
        replace: 'const failedRestMs = 100',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/attempts.test.ts',
      title: 'each node of a cluster is tried once a second for the table of slots',
    },
  },
  {
    name: 'imported buckets do not wait for the replicas of Redis',
    edits: [
      {
        file: 'packages/redis/src/store.ts',
        find: "  'importBuckets',\n  'drop',",
        replace: "  'drop',",
      },
    ],
    finder: {
      file: 'packages/redis/test/rare-verbs.test.ts',
      title: 'the outcome of ',
    },
  },
  {
    name: 'a full journal of Redis drops adds while the primary does not answer',
    edits: [
      {
        file: 'packages/redis/src/journal-keeper.ts',
        find: 'const { primary } = await connections.progress(slot)',
        replace: 'const primary = connections.primaryOf(slot)',
      },
    ],
    finder: {
      file: 'packages/redis/test/full-journal.test.ts',
      title: 'drops nothing while a primary without replicas does not answer',
    },
  },
  {
    name: 'the journal of Redis keeps every finish while a replica is missing',
    edits: [
      {
        file: 'packages/redis/src/journal.ts',
        find: 'if (this.#finishes.size <= journalKeysMax && this.#finishBytes <= journalBytesMax) return',
        replace: 'if (this.#finishes.size > 0) return',
      },
    ],
    finder: {
      file: 'packages/redis/test/journal.test.ts',
      title: 'of very many finishes the newest are kept, and adds do not wait for them',
    },
  },
  {
    name: 'workers do not learn what their process has repeated on Redis',
    edits: [
      {
        file: 'packages/redis/src/redis-driver.ts',
        find: 'watch.wake(replayed.queue)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/failover.test.ts',
      title: 'acknowledged adds and finishes are repeated; tokens rise; nothing counts as crashed',
    },
  },
  {
    name: 'a heartbeat on Redis fails with its record while the slot is moved',
    edits: [
      {
        file: 'packages/redis/src/verbs/tick.ts',
        find: 'if (request.record === undefined || !isOfMovingSlot(error)) throw error',
        replace: 'if (request.record === undefined || isOfMovingSlot(error)) throw error',
      },
    ],
    finder: {
      file: 'packages/redis/test/records.test.ts',
      title: 'waits until the slot of the queue was moved, and the heartbeat does not',
    },
  },
  {
    name: 'no queue moves to a cluster of Redis, or from one',
    edits: [
      {
        file: 'packages/redis/src/rows/layout.ts',
        find: "if (name === '') return '%'",
        replace: '',
      },
    ],
    finder: {
      file: 'tests/test/transfer/move-to-cluster.test.ts',
      title: 'a queue moves to a cluster of Redis, and back',
    },
  },
  {
    name: 'a server of Redis without a command is taken for one that fails',
    edits: [
      {
        file: 'packages/redis/src/connection/connections.ts',
        find: 'unknown (redis )?command|The user executing',
        replace: 'The user executing',
      },
    ],
    finder: {
      file: 'packages/redis/test/doctor.test.ts',
      title: 'what the server does not have is a warning, and the queues work',
    },
  },
  {
    name: 'a queue of Redis is not registered again on another primary',
    edits: [
      {
        file: 'packages/redis/src/store.ts',
        find: 'known?.primary === primary && at',
        replace: 'known !== undefined && at',
      },
    ],
    finder: {
      file: 'packages/redis/test/queues.test.ts',
      title: 'go on while another server, which lists them, refuses writes after its restart',
    },
  },
  {
    name: 'workers of Redis cannot start while the memory is full',
    edits: [
      {
        file: 'packages/redis/src/store.ts',
        find: "`#!lua flags=allow-oom\nreturn redis.call('ZADD'",
        replace: "`return redis.call('ZADD'",
      },
    ],
    finder: {
      file: 'packages/redis/test/queues.test.ts',
      title: 'get workers of another process also while the memory is full',
    },
  },
  {
    name: 'rare verbs of Redis fail where WAIT is withheld',
    edits: [
      {
        file: 'packages/redis/src/store.ts',
        find: 'if (this.#replicas > 0 || !(cause instanceof ReplyError && cause.isWithheld)) throw error',
        replace: 'if (this.#replicas > 0 || cause !== null) throw error',
      },
    ],
    finder: {
      file: 'packages/redis/test/rare-verbs.test.ts',
      title: 'waits for none where WAIT is withheld',
    },
  },
  {
    name: 'durability.disk accepts a Redis that pauses its syncs',
    edits: [
      {
        file: 'packages/redis/src/durability.ts',
        find: "    ['no-appendfsync-on-rewrite', 'no'],\n",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/doctor.test.ts',
      title: 'durability.disk is refused if the log is not synced while it is rewritten',
    },
  },
  {
    name: 'replicas of Redis are not counted where INFO is withheld',
    edits: [
      {
        file: 'packages/redis/src/connection/server.ts',
        find: "['WAIT', '100', String(countMs)]",
        replace: "['WAIT', '0', '0']",
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/connections.test.ts',
      title: 'replicas are counted also while others write and INFO is withheld',
    },
  },
  {
    name: 'a watch of Redis hides that the user may not subscribe',
    edits: [
      {
        file: 'packages/redis/src/watch.ts',
        find: 'if (error instanceof ReplyError && error.isWithheld) throw storeError(error)',
        replace: "if (error instanceof ReplyError && error.code === '') throw storeError(error)",
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/check-server.test.ts',
      title: 'a watch without the right to subscribe says so',
    },
  },
  {
    name: 'a process that closes waits for a replica of Redis that is missing',
    edits: [
      {
        file: 'packages/redis/src/journal-keeper.ts',
        find: 'this.#isClosing ? Math.min(progress.connected, expected) : expected',
        replace: 'expected',
      },
    ],
    finder: {
      file: 'packages/redis/test/journal-keeper.test.ts',
      title: 'the end of a process does not wait for a replica that is missing',
    },
  },
  {
    name: 'on Redis, an empty error of a lease that was ended is treated as none',
    edits: [
      {
        file: 'packages/redis/src/verbs/expire.ts',
        find: 'error === undefined ?',
        replace: '!error ?',
      },
    ],
    finder: {
      file: 'packages/redis/test/conformance/conformance.test.ts',
      title: 'error.empty',
    },
  },
  {
    name: 'parked keys of Redis are in the order of their failures',
    edits: [
      {
        file: 'packages/redis/src/scripts.generated.ts',
        find: 'if place == PARKED then return 0 end',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/queues.test.ts',
      title: 'list parked keys in the order of the keys, whenever their runs failed',
    },
  },
]
