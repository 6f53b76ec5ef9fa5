import type { FoundByTest } from '../source-mutant.ts'

/** Defects of what the driver on Redis says of calls that fail or are not answered, and the tests that find them. */
export const foundByTestsOfRedisAnswers: readonly FoundByTest[] = [
  {
    name: 'on Redis, a write that was not answered counts as not made',
    edits: [
      {
        file: 'packages/redis/src/store.ts',
        find: 'onlyReads(text) ? reading(send) : send()',
        replace: 'reading(send)',
      },
    ],
    finder: {
      file: 'packages/redis/test/lost-answers.test.ts',
      title: 'leaves the outcome of a write unknown',
    },
  },
  {
    name: 'on Redis, an add that was made is reported as not made where the name of its queue cannot be written',
    edits: [
      {
        file: 'packages/redis/src/store.ts',
        find: 'this.#register(queue).catch(() => {})',
        replace: 'this.#register(queue)',
      },
    ],
    finder: {
      file: 'packages/redis/test/unconfirmed-writes.test.ts',
      title: 'an add that has created its queue is made, also where the name cannot be written',
    },
  },
  {
    name: 'on Redis, a release whose outcome is unknown is not noted, and the key counts as crashed',
    edits: [
      {
        file: 'packages/redis/src/redis-driver.ts',
        find: 'if (isUnknown) journal.noteReleases(queue, finishes, undefined)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/lost-answers.test.ts',
      title: 'wakes workers for what may have become ready, and gives a key back again',
    },
  },
  {
    name: 'on Redis, a change whose outcome is unknown wakes no worker',
    edits: [
      {
        file: 'packages/redis/src/redis-driver.ts',
        find: "if (SluiceError.is(error, 'ERR_UNKNOWN_OUTCOME')) this.#wake(queue)",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/lost-answers.test.ts',
      title: 'wakes workers for what may have become ready, and gives a key back again',
    },
  },
  {
    name: 'on Redis, a late answer of the primary before counts as that of the new one, and its add is lost',
    edits: [
      {
        file: 'packages/redis/src/journal-keeper.ts',
        find: 'primary: isKnown ? known : (other ?? by)',
        replace: 'primary: known',
      },
    ],
    finder: {
      file: 'packages/redis/test/unconfirmed-writes.test.ts',
      title: 'an add that the primary before has answered is repeated, though its answer came late',
    },
  },
  {
    name: 'on Redis, each add sets another timer',
    edits: [
      {
        file: 'packages/redis/src/journal-keeper.ts',
        find: 'this.#timer ??= this',
        replace: 'this.#timer = this',
      },
    ],
    finder: {
      file: 'packages/redis/test/unconfirmed-writes.test.ts',
      title: 'a journal that is closed leaves no timer',
    },
  },
  {
    name: 'on Redis without replicas, adds of long ago are repeated after a restart',
    edits: [
      {
        file: 'packages/redis/src/journal-keeper.ts',
        find: 'if (expected === 0) journal.expired(primary, at - replayMs)',
        replace: 'if (expected === 0) void at',
      },
    ],
    finder: {
      file: 'packages/redis/test/unconfirmed-writes.test.ts',
      title: 'ms ago is repeated',
    },
  },
  {
    name: 'in a Redis cluster, a redirection to a node that is new at the address of one that has gone leads nowhere',
    edits: [
      {
        file: 'packages/redis/src/connection/cluster.ts',
        find: 'this.servers().find((server) => {',
        replace:
          '[...this.#addresses.keys()].map((id) => this.#servers.get(id)!).find((server) => {',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/primaries.test.ts',
      title: 'a redirection leads to a node that is new at the address of one that has gone',
    },
  },
  {
    name: 'on servers after Redis 7.0, replicas confirm what they do not have',
    edits: [
      {
        file: 'packages/redis/src/replicas/barrier-line.ts',
        find: 'link.send(markIn(key)),',
        replace: "link.send(['PING']),",
      },
    ],
    finder: {
      file: 'packages/redis/test/barrier-line.test.ts',
      title: 'is confirmed once the replica has it, and not before',
    },
  },
  {
    name: 'on servers after Redis 7.0 and without INFO, replicas follow that stand still',
    edits: [
      {
        file: 'packages/redis/src/replicas/barrier-line.ts',
        find: "count !== '' && (await isMarked(link, key))",
        replace: "count !== ''",
      },
    ],
    finder: {
      file: 'packages/redis/test/barrier-line.test.ts',
      title: 'a replica has what was written before the last look, and not less',
    },
  },
  {
    name: 'without INFO, replicas follow although the server has refused to write',
    edits: [
      {
        file: 'packages/redis/src/replicas/barrier-line.ts',
        find: 'if (error instanceof ReplyError) return false',
        replace: 'if (error instanceof ReplyError) return true',
      },
    ],
    finder: {
      file: 'packages/redis/test/barrier-line.test.ts',
      title: 'nothing is known after a look that could not write',
    },
  },
  {
    name: 'a Valkey is named by the version of Redis',
    edits: [
      {
        file: 'packages/redis/src/doctor.ts',
        find: "info.get('valkey_version')",
        replace: 'undefined as string | undefined',
      },
    ],
    finder: {
      file: 'packages/redis/test/doctor.test.ts',
      title: 'the version of a Valkey is its own',
    },
  },
  {
    name: 'the mark of a barrier stays in Redis',
    edits: [
      {
        file: 'packages/redis/src/replicas/barrier-line.ts',
        find: "return redis.call('UNLINK', KEYS[1])",
        replace: 'return 0',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/connections.test.ts',
      title: 'a barrier says yes when the replica has what was written',
    },
  },
  {
    name: 'servers after Redis 7.0 are opened by a user that lacks a command',
    edits: [
      {
        file: 'packages/redis/src/connection/check-server.ts',
        find: "string.find(problem, 'ACL failure in script', 1, true)",
        replace: 'false',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/check-server.test.ts',
      title: 'are named also as servers after Redis 7.0 say it',
    },
  },
  {
    name: 'servers after Redis 7.0 that withhold a command in a script give no advice',
    edits: [
      {
        file: 'packages/redis/src/connection/connections.ts',
        find: '|ACL failure in script',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/errors.test.ts',
      title: 'a lost reply is an unknown outcome, and a command that was not sent is tried again',
    },
  },
  {
    name: 'a script that lacks a command of the server gives no advice',
    edits: [
      {
        file: 'packages/redis/src/connection/connections.ts',
        find: '|Invalid command passed',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/errors.test.ts',
      title: 'a script that lacks a command, since the server was started again without it',
    },
  },
  {
    name: 'the error of a Redis key that another program has written over names no queue',
    edits: [
      {
        file: 'packages/redis/src/script-error.ts',
        find: "error.code === 'WRONGTYPE'",
        replace: "error.code === 'NONE'",
      },
    ],
    finder: {
      file: 'packages/redis/test/missing-parts.test.ts',
      title:
        'is not an empty one, and costs the others nothing, where another program has written over the key',
    },
  },
  {
    name: 'a damaged Redis queue ends the list of queues',
    edits: [
      {
        file: 'packages/redis/src/verbs/queues.ts',
        find: "if (SluiceError.is(error, 'ERR_STORE_DAMAGED')) return true",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/missing-parts.test.ts',
      title:
        'is not an empty one, and costs the others nothing, where another program has written over the key',
    },
  },
  {
    name: 'no script of Redis works on Redis 8',
    edits: [
      {
        file: 'packages/redis/src/scripts.generated.ts',
        find: 'if not isAllowed(name, ...) then',
        replace: 'if not isAllowed(name) then',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/check-server.test.ts',
      title: 'scripts ask for their rights with as many arguments as commands need',
    },
  },
  {
    name: 'a damaged Redis queue ends doctor',
    edits: [
      {
        file: 'packages/redis/src/doctor.ts',
        find: "if (SluiceError.is(error, 'ERR_STORE_DAMAGED')) return error",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/doctor.test.ts',
      title: 'keys whose row and sets do not agree are a failure that names them',
    },
  },
  {
    name: 'doctor does not look for Redis keys of another type',
    edits: [
      {
        file: 'packages/redis/src/verbs/examine.ts',
        find: 'mistyped !== undefined',
        replace: 'mistyped === null',
      },
    ],
    finder: {
      file: 'packages/redis/test/doctor.test.ts',
      title: 'keys whose row and sets do not agree are a failure that names them',
    },
  },
  {
    name: 'doctor advises adds to a Redis queue without its description',
    edits: [
      {
        file: 'packages/redis/src/verbs/examine.ts',
        find: 'undescribed !== undefined) return',
        replace: 'undescribed === null) return',
      },
    ],
    finder: {
      file: 'packages/redis/test/doctor.test.ts',
      title: 'keys whose row and sets do not agree are a failure that names them',
    },
  },
  {
    name: 'a slot of Redis that is moved costs all queues of its server their confirmation',
    edits: [
      {
        file: 'packages/redis/src/replicas/barrier-line.ts',
        find: 'if (isOfKey && one.key !== key)',
        replace: 'if (false)',
      },
    ],
    finder: {
      file: 'packages/redis/test/barrier-line.test.ts',
      title: 'a key whose slot is being moved is not confirmed; those of other slots are',
    },
  },
]
