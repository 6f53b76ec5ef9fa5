import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { beforeAll, describe, test } from 'vitest'
import type { StatementName } from '../src/connection/statements.ts'
import type { SqliteDatabase } from '../src/library/database.ts'
import { createSchema } from '../src/schema/migrate.ts'
import { statementTexts } from '../src/statements.generated.ts'

const requireHere = createRequire(import.meta.url)

const libraries: Readonly<Record<string, () => SqliteDatabase>> = {
  'better-sqlite3': () => new (requireHere('better-sqlite3'))(':memory:'),
  'node:sqlite': () => new (requireHere('node:sqlite').DatabaseSync)(':memory:'),
}

const byId = 'SEARCH sluice_keys USING INTEGER PRIMARY KEY (rowid=?)'
const byKey = 'SEARCH sluice_keys USING INDEX sqlite_autoindex_sluice_keys_1 (queue=? AND key=?)'
const array = 'SCAN j VIRTUAL TABLE INDEX 1:'
const waiting = 'SEARCH sluice_keys USING INDEX sluice_keys_waiting'
const held = 'SEARCH sluice_keys USING INDEX sluice_keys_held'

/** The plans of the verbs that a busy or a waiting queue runs, word by word. */
const hot: Partial<Record<StatementName, readonly string[]>> = {
  claimLevel: [`${waiting} (queue=? AND priority<?)`],
  claimCandidates: [`${waiting} (queue=? AND priority=? AND ready_at<?)`],
  claimTake: [array, byId],
  claimTakeOne: [byId],
  claimExpiredLeases: [`${held} (queue=? AND lease_until<?)`],
  tickFirstLease: [`${held} (queue=? AND lease_until>?)`],
  finishDone: [byKey],
  finishDoneForget: [byKey],
  keysFindOne: [byKey],
  keysFind: [array, byKey.replace('sluice_keys', 'k')],
  keysUpdate: [byId],
  keysDelete: [byId],
  addInserted: ['SEARCH sluice_keys USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)'],
  listPage: ['SEARCH sluice_keys USING INDEX sqlite_autoindex_sluice_keys_1 (queue=? AND key>?)'],
  listParked: ['SEARCH sluice_keys USING INDEX sluice_keys_parked (queue=? AND key>?)'],
  tickFirstIdle: ['SEARCH sluice_keys USING INDEX sluice_keys_idle (queue=? AND failed_at<?)'],
}

/** What may read a whole table, or sort, and why it does no harm. */
const mayScan: Readonly<Partial<Record<StatementName, string>>> = {
  examineItems: 'an examination by hand',
  examineRows: 'an examination by hand',
  queuesList: 'the queues are few',
  storeRead: 'the one row of the store, and the last row of the keys: see its own test',
  wakeSignalLast: 'the last row of the keys',
  queuesCount: 'once in the life of a queue',
  bucketsList: 'the buckets are few',
  holdersSweep: 'once for a thousand new holders, and then only held keys',
}
const maySort: Readonly<Partial<Record<StatementName, string>>> = {
  ...mayScan,
  claimAdopt: 'what one request took is few',
  listHeld: 'the held keys are few',
  countsDelayed: 'two reasons',
  workersList: 'the workers are few',
  failedRunsSweep: 'the failed runs of a queue are few',
}

function planOf(database: SqliteDatabase, name: StatementName): string[] {
  const text = statementTexts[name]
  const values = Array<number>((text.match(/\?/g) ?? []).length).fill(1)
  const rows = database.prepare(`explain query plan ${text}`).all(...values)
  return (rows as { readonly detail: string }[]).map(({ detail }) => detail)
}

/** Fills the table in a way that could mislead a planner: one queue is huge, the others are not. */
function grow(database: SqliteDatabase): void {
  createSchema(database, 1_000)
  database.exec("insert into sluice_queues (name) values ('huge')")
  const keys = JSON.stringify(Array.from({ length: 5_000 }, (_, index) => `key ${index}`))
  for (const [queue, count] of [
    [1, 5_000],
    [2, 3],
  ]) {
    database
      .prepare(
        `insert into sluice_keys (queue, key, due_at, ready_at, seq, priority, asked_at)
         select ${queue}, value, 1000 + key % 7, 1000 + key % 7, key, key % 10, 1000
         from json_each(?) limit ${count}`,
      )
      .run(keys)
  }
  database.exec(
    'update sluice_keys set token = id, holder = 1, lease_until = 9000 where id % 50 = 0',
  )
  database.exec('update sluice_keys set parked = 1 where id % 3 = 0 and token is null')
}

for (const [library, open] of Object.entries(libraries)) {
  for (const [state, prepare] of Object.entries({
    'when the file is new': (database: SqliteDatabase) => createSchema(database, 1_000),
    'when it has grown': grow,
    'when it was analysed': (database: SqliteDatabase) => {
      grow(database)
      database.exec('analyze')
    },
  })) {
    describe(`plans of ${library} ${state}`, () => {
      let database: SqliteDatabase
      beforeAll(() => {
        database = open()
        prepare(database)
      })

      for (const [name, plan] of Object.entries(hot)) {
        test(name, () => assert.deepEqual(planOf(database, name as StatementName), plan))
      }

      test('storeRead reads its one row, finds the queue by its name, and looks at the last of keys and schemas', () => {
        const [store, queue, ...last] = planOf(database, 'storeRead')
        assert.match(store ?? '', /^(SEARCH s USING INTEGER PRIMARY KEY \(rowid=\?\)|SCAN s)$/)
        const byName = 'SEARCH q USING INDEX sqlite_autoindex_sluice_queues_1 (name=?) LEFT-JOIN'
        assert.equal(queue, byName)
        assert.deepEqual(last, ['SCALAR SUBQUERY 1', 'SCAN k', 'SCALAR SUBQUERY 2', 'SCAN v'])
      })

      test('no statement reads a whole table or sorts, but for those that say why', () => {
        for (const name of Object.keys(statementTexts) as StatementName[]) {
          const plan = planOf(database, name).join('\n')
          if (mayScan[name] === undefined) assert.doesNotMatch(plan, /SCAN (sluice_|k\b|q\b)/, name)
          if (maySort[name] === undefined) assert.doesNotMatch(plan, /TEMP B-TREE/, name)
          assert.doesNotMatch(name === 'examineRows' ? '' : plan, /AUTOMATIC/, name)
        }
      })
    })
  }
}
