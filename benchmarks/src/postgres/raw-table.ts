import type pg from 'pg'

/**
 * What one would write by hand for the same rows: a key only once, priorities, delays, a token and
 * a lease. It knows neither what to do with a key that is asked for while it is worked on, nor
 * failures, nor waiting.
 */
export const rawTable = `
  create schema raw;
  create table raw.jobs (
    queue text not null, key text not null, item text, priority int not null default 0,
    ready_at timestamptz not null default clock_timestamp(), id bigint generated always as identity,
    token bigint, lease_until timestamptz, primary key (queue, key)
  );
  create index on raw.jobs (queue, priority desc, ready_at, id) where token is null;
  create sequence raw.token`

const insertMany = {
  name: 'insert-many',
  text: `insert into raw.jobs (queue, key) select 'q', key from unnest($1::text[]) as key
    on conflict do nothing`,
}

const insertOne = {
  name: 'insert-one',
  text: `insert into raw.jobs (queue, key) values ('q', $1) on conflict do nothing`,
}

const claim = {
  name: 'claim',
  text: `with picked as materialized (
      select ctid from raw.jobs where queue = 'q' and token is null and ready_at <= clock_timestamp()
      order by priority desc, ready_at, id limit $1 for update skip locked
    )
    update raw.jobs j set token = nextval('raw.token'),
      lease_until = clock_timestamp() + interval '30 s'
    from picked where j.ctid = picked.ctid
    returning j.key, j.item, j.token`,
}

const remove = {
  name: 'remove',
  text: `delete from raw.jobs j using unnest($1::text[], $2::bigint[]) as d(key, token)
    where j.queue = 'q' and j.key = d.key and j.token = d.token`,
}

interface Claimed {
  readonly key: string
  readonly token: string
}

/** Adds keys with one statement. */
export async function rawAddMany(pool: pg.Pool, keys: readonly string[]): Promise<void> {
  await pool.query({ ...insertMany, values: [keys] })
}

/** Adds one key. */
export async function rawAddOne(pool: pg.Pool, key: string): Promise<void> {
  await pool.query({ ...insertOne, values: [key] })
}

/** Claims up to so many keys. */
export async function rawClaim(pool: pg.Pool, limit: number): Promise<readonly Claimed[]> {
  return (await pool.query<Claimed>({ ...claim, values: [limit] })).rows
}

/** Deletes what was claimed. */
export async function rawRemove(pool: pg.Pool, claimed: readonly Claimed[]): Promise<void> {
  const values = [claimed.map(({ key }) => key), claimed.map(({ token }) => token)]
  await pool.query({ ...remove, values })
}
