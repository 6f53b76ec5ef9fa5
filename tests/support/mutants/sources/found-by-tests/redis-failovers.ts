import type { FoundByTest } from '../source-mutant.ts'

const unconfirmed = 'packages/redis/test/unconfirmed-writes.test.ts'

/** Defects of what a failover of Redis could lose, and of connections with TLS, and the tests that find them. */
export const foundByTestsOfRedisFailovers: readonly FoundByTest[] = [
  {
    name: 'a connection to Redis with TLS that fails twice ends the process',
    edits: [
      {
        file: 'packages/redis/src/clients/error-listener.ts',
        find: 'return { signal: new AbortController().signal, ...socket }',
        replace: 'return socket',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/tls-errors.test.ts',
      title: 'a socket of TLS with two errors does not end the process',
    },
  },
  {
    name: 'an add that replicas were not asked about counts as confirmed',
    edits: [
      {
        file: 'packages/redis/src/journal-keeper.ts',
        find: 'journal.confirmed(primary, journal.asked)',
        replace: 'journal.confirmed(primary, asked[index] ?? 0)',
      },
    ],
    finder: {
      file: unconfirmed,
      title: 'an add is repeated on a new primary until replicas were asked after it',
    },
  },
  {
    name: 'a retry that is repeated after a failover is due at once',
    edits: [
      {
        file: 'packages/redis/src/journal-keeper.ts',
        find: 'Math.max(0, dueAt - now)',
        replace: '0',
      },
    ],
    finder: {
      file: unconfirmed,
      title: 'a retry that is repeated keeps the rest of its delay',
    },
  },
  {
    name: 'a journal that was closed sees new primaries',
    edits: [
      {
        file: 'packages/redis/src/journal-keeper.ts',
        find: 'this.#unwatch()\n',
        replace: '',
      },
    ],
    finder: {
      file: unconfirmed,
      title: 'a journal that is closed leaves no timer',
    },
  },
  {
    name: 'a claim waits for replicas for longer than its lease',
    edits: [
      {
        file: 'packages/redis/src/store.ts',
        find: 'Math.min(confirmMs, this.#confirmMs)',
        replace: 'this.#confirmMs',
      },
    ],
    finder: {
      file: unconfirmed,
      title: 'a claim waits for replicas for a quarter of its lease',
    },
  },
  {
    name: 'a new queue of a cluster gives out tokens again',
    edits: [
      {
        file: 'packages/redis/src/store.ts',
        find: "if (floor !== null) await this.run('tokens', queue, [String(floor)])",
        replace: '',
      },
    ],
    finder: {
      file: unconfirmed,
      title: 'a new queue of a cluster begins above the tokens',
    },
  },
  {
    name: 'a failover loses the token above which new queues begin',
    edits: [
      {
        file: 'packages/redis/src/store.ts',
        find: 'if (barrier !== undefined) await this.#confirm(barrier, replicas, this.#confirmMs)',
        replace: '',
      },
    ],
    finder: {
      file: unconfirmed,
      title: 'a new queue of a cluster begins above the tokens',
    },
  },
  {
    name: 'a pause does not wait for a replica that came after the store was opened',
    edits: [
      {
        file: 'packages/redis/src/store.ts',
        find: 'if (isRare) await this.connections.progress(slot).catch(() => {})',
        replace: '',
      },
    ],
    finder: {
      file: unconfirmed,
      title: 'a pause waits for a replica that came after the store was opened',
    },
  },
  {
    name: 'where WAIT is withheld, a queue cannot be paused',
    edits: [
      {
        file: 'packages/redis/src/store.ts',
        find: 'if (this.#replicas > 0 || !(cause instanceof ReplyError && cause.isWithheld)) throw error',
        replace: 'throw error',
      },
    ],
    finder: {
      file: unconfirmed,
      title: 'a pause waits for a replica that came after the store was opened',
    },
  },
  {
    name: 'the close of a driver on Redis does not wait for replicas',
    edits: [
      {
        file: 'packages/redis/src/redis-driver.ts',
        find: '    await opened.journal.close(journalCloseMs)\n',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/closing.test.ts',
      title: 'waits for what the replicas do not have yet',
    },
  },
  {
    name: 'a close leaves the connections over which Sentinels are asked',
    edits: [
      {
        file: 'packages/redis/src/connection/sentinel.ts',
        find: "  signal.addEventListener('abort', end)\n",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/closing.test.ts',
      title: 'ends the connections to Sentinels that are asked, and to a server that they name',
    },
  },
  {
    name: 'what follows the end of a connection to Redis is rejected',
    edits: [
      {
        file: 'packages/redis/src/connection/open-link.ts',
        find: 'this.get().catch(() => {})',
        replace: 'this.#openLater()',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/attempts.test.ts',
      title: 'a command after the end of a connection waits for the next',
    },
  },
  {
    name: 'on Redis, a queue of which a set was deleted has fewer keys than none',
    edits: [
      {
        file: 'packages/redis/src/scripts.generated.ts',
        find: "if not call('ZSCORE', key, '') then error('a set is missing') end",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/missing-parts.test.ts',
      title: 'is not counted with fewer keys than none',
    },
  },
  {
    name: 'on Redis, a queue whose description was deleted is taken for an empty one',
    edits: [
      {
        file: 'packages/redis/src/scripts.generated.ts',
        find: "if not version and call('HLEN', rowsKey) > 0 then error('the description is missing') end",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/missing-parts.test.ts',
      title: 'is not taken for an empty one without its description',
    },
  },
  {
    name: 'on a Redis cluster, a subscription that begins while its slot gets another primary stays behind',
    edits: [
      {
        file: 'packages/redis/src/connection/redis-connections.ts',
        find: '    this.#follow(one)\n    return',
        replace: '    return',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/primaries.test.ts',
      title: 'moves also if the slot gets another primary before it is there',
    },
  },
  {
    name: 'on a Redis cluster, the former primary of a slot keeps its subscription',
    edits: [
      {
        file: 'packages/redis/src/connection/redis-connections.ts',
        find: 'void server.subscriptions.remove(channel, subscription)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/primaries.test.ts',
      title: 'moves to the new primary of its slot',
    },
  },
  {
    name: 'on Redis, a connection that is busy all the time is closed as a silent one',
    edits: [
      {
        file: 'packages/redis/src/clients/link.ts',
        find: 'if (change < 0) this.#replies += 1',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/held-up.test.ts',
      title: 'a server that replies all the time is not silent',
    },
  },
  {
    name: 'on Redis, a connection that was silent for a moment before is closed after another one',
    edits: [
      {
        file: 'packages/redis/src/clients/link.ts',
        find: '    this.#isSuspect = false\n    this.#timer',
        replace: '    this.#timer',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/held-up.test.ts',
      title: 'a server that replies all the time is not silent',
    },
  },
  {
    name: 'on Redis, a driver that was closed connects to where it had asked for another primary',
    edits: [
      {
        file: 'packages/redis/src/connection/one-primary.ts',
        find: 'if (signal.aborted) return',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/closing.test.ts',
      title: 'opens none to the address where another primary may be',
    },
  },
  {
    name: 'on Redis, an add to a queue whose description was deleted makes a new one, which is not paused',
    edits: [
      {
        file: 'packages/redis/src/scripts.generated.ts',
        find: 'checkDescription()\nif not version then createKeys() end',
        replace: 'if not version then createKeys() end',
      },
    ],
    finder: {
      file: 'packages/redis/test/missing-parts.test.ts',
      title: 'is not taken for an empty one without its description',
    },
  },
  {
    name: 'on Redis, a full list of adds that a failover could lose refuses adds until replicas are asked by the clock',
    edits: [
      {
        file: 'packages/redis/src/journal-keeper.ts',
        find: '      if (journal.isFull) {',
        replace: '      if (false as boolean) {',
      },
    ],
    finder: {
      file: 'packages/redis/test/unconfirmed-writes.test.ts',
      title: 'a full journal makes room at once: without replicas it keeps the newer half',
    },
  },
  {
    name: 'on Redis, a full list of adds that a failover could lose drops half of them though replicas do not have them',
    edits: [
      {
        file: 'packages/redis/src/journal-keeper.ts',
        find: 'if (connections.replicasOf(slot) === 0) journal.halve(primary)',
        replace: 'if (true as boolean) journal.halve(primary)',
      },
    ],
    finder: {
      file: 'packages/redis/test/unconfirmed-writes.test.ts',
      title: 'an add is refused while the replicas do not confirm what is in a full journal',
    },
  },
  {
    name: 'on Redis, a key that was cancelled comes back with a failover',
    edits: [
      {
        file: 'packages/redis/src/redis-driver.ts',
        find: 'this.#opened?.journal.discard(queue, keys, when)',
        replace: 'undefined',
      },
    ],
    finder: {
      file: 'packages/redis/test/failover.test.ts',
      title: 'acknowledged adds and finishes are repeated; tokens rise; nothing counts as crashed',
    },
  },
  {
    name: 'on Redis, a release whose answer was lost is not made again on the new primary',
    edits: [
      {
        file: 'packages/redis/src/journal-keeper.ts',
        find: 'journal.noteUnanswered(finishes, this.#environment.clock.monotonicMs())',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/unconfirmed-writes.test.ts',
      title: 'a finish that was not answered is made again, also on the same primary',
    },
  },
  {
    name: 'on Redis, a close does not wait for the replicas',
    edits: [
      {
        file: 'packages/redis/src/journal-keeper.ts',
        find: 'await Promise.race([this.#untilFollowed(clock.monotonicMs() + graceMs), isOver])',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/unconfirmed-writes.test.ts',
      title: 'a close waits until the replicas have everything',
    },
  },
  {
    name: "on Redis, an add that one of two replicas confirmed is lost with the other one's promotion",
    edits: [
      {
        file: 'packages/redis/src/store.ts',
        find: 'this.#replicas >= this.connections.replicasOf(slot)',
        replace: '(true as boolean)',
      },
    ],
    finder: {
      file: 'packages/redis/test/unconfirmed-writes.test.ts',
      title: 'an add that fewer replicas confirmed than there are is repeated on a new primary',
    },
  },
  {
    name: 'on Redis, a claim that finds nothing fails while a replica is away',
    edits: [
      {
        file: 'packages/redis/src/store.ts',
        find: 'if (hasWritten?.(reply) === false) return reply',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/unconfirmed-writes.test.ts',
      title: 'what has written nothing waits for no replica',
    },
  },
  {
    name: 'on Redis, a pause is confirmed by fewer replicas than the options demand',
    edits: [
      {
        file: 'packages/redis/src/store.ts',
        find: 'Math.max(this.#replicas, this.connections.replicasOf(slot))\n    if (replicas',
        replace: 'this.connections.replicasOf(slot)\n    if (replicas',
      },
    ],
    finder: {
      file: 'packages/redis/test/unconfirmed-writes.test.ts',
      title:
        'a pause waits for a replica that came after the store was opened, and not where WAIT is withheld',
    },
  },
]
