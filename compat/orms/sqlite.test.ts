/** Drizzle and Kysely on SQLite: their transaction is on the database that `within` takes. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteDriver } from '@sluice/sqlite'
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable } from 'drizzle-orm/sqlite-core'
import { Kysely, SqliteDialect } from 'kysely'
import { createRateLimitingQueue, type RateLimitingQueue } from 'sluice'
import { beforeEach, expect, test } from 'vitest'

const orders = sqliteTable('orders', { id: integer().primaryKey() })

let database: Database.Database
let queue: RateLimitingQueue<string>

beforeEach(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-orms-'))
  const file = join(folder, 'shop.db')
  queue = createRateLimitingQueue<string>({
    name: 'orders',
    driver: sqliteDriver({ file }),
  })
  await queue.len()
  database = new Database(file)
  database.exec('create table orders (id integer primary key)')
  return async () => {
    await queue.close()
    database.close()
    rmSync(folder, { recursive: true })
  }
})

const rows = (): number =>
  (database.prepare('select count(*) as n from orders').get() as { n: number }).n

test('Drizzle', async () => {
  const db = drizzle({ client: database })
  db.transaction((tx) => {
    tx.insert(orders).values({ id: 1 }).run()
    expect(queue.within(db.$client).add('order/1')).toBe('added')
  })
  expect([rows(), await queue.len()]).toEqual([1, 1])
  const rollsBack = (): void =>
    db.transaction((tx) => {
      tx.insert(orders).values({ id: 2 }).run()
      queue.within(db.$client).addMany(['order/2', 'order/3'])
      tx.rollback()
    })
  expect(rollsBack).toThrow()
  expect([rows(), await queue.len()]).toEqual([1, 1])
  const held = await queue.get()
  if (held === undefined) throw new Error('there is a key')
  db.transaction((tx) => {
    tx.insert(orders).values({ id: 4 }).run()
    expect(queue.within(db.$client).done(held)).toBe('idle')
  })
  expect((await queue.inspect.counts()).processing).toBe(0)
  expect(() => queue.within(db.$client).add('order/5')).toThrow(/must have begun/)
})

test('Kysely', async () => {
  const db = new Kysely<{ orders: { id: number } }>({ dialect: new SqliteDialect({ database }) })
  await db.transaction().execute(async (trx) => {
    await trx.insertInto('orders').values({ id: 1 }).execute()
    expect(queue.within(database).add('order/1')).toBe('added')
  })
  expect([rows(), await queue.len()]).toEqual([1, 1])
  const rollsBack = db.transaction().execute(async (trx) => {
    await trx.insertInto('orders').values({ id: 2 }).execute()
    queue.within(database).add('order/2')
    throw new Error('rolled back')
  })
  await expect(rollsBack).rejects.toThrow('rolled back')
  expect([rows(), await queue.len()]).toEqual([1, 1])
})
