import { postgresDriver } from '../../../packages/postgres/src/index.ts'
import { createQueue } from '../../../packages/queue/src/index.ts'
import type { Server } from './server.ts'

/** A way of adding keys one by one, each awaited before the next. */
export interface SingleAdder {
  add(key: string): Promise<unknown>
  empty(): Promise<unknown>
  end(): Promise<unknown>
}

/** A table with the columns, the indexes and the storage of ours. */
const table = `
  create schema hand;
  create table hand.keys (like sluice.keys including all) with (fillfactor = 70);
  create sequence hand.arrival increment by 1024`

const upsert = {
  name: 'hand-upsert',
  text: `insert into hand.keys as k
      (queue_id, queue, key, item, due_at, ready_at, why, seq, priority, asked_at, change)
    select 1, 'singles', $1, $2, t, t, 0, nextval('hand.arrival'), $3, t, 4
    from (select (extract(epoch from clock_timestamp()) * 1000)::float8) as now(t)
    on conflict (queue_id, key) do update set
      item = excluded.item, due_at = least(k.due_at, excluded.due_at),
      ready_at = least(k.ready_at, excluded.ready_at),
      seq = case when k.due_at = 'Infinity' then excluded.seq else k.seq end,
      priority = greatest(k.priority, excluded.priority), change = 1
    returning key, change, due_at, failures`,
}

async function byHand(server: Server): Promise<SingleAdder> {
  await server.sql(table)
  const client = await server.client()
  return {
    add: (key) => client.query({ ...upsert, values: [key, null, 0] }),
    empty: () => server.sql('truncate hand.keys'),
    end: async () => undefined,
  }
}

async function sluice(server: Server): Promise<SingleAdder> {
  const queue = createQueue<string>({
    name: 'singles',
    driver: postgresDriver({ connectionString: server.url }),
  })
  await queue.len()
  return {
    add: (key) => queue.add(key),
    empty: () => server.sql('truncate sluice.keys'),
    end: () => queue.close(),
  }
}

/** Both sides. The queue comes first, since it creates the table that the other one copies. */
export async function singleAdders(server: Server): Promise<Record<string, SingleAdder>> {
  const ours = await sluice(server)
  return { 'prepared upsert by hand': await byHand(server), 'queue.add': ours }
}
