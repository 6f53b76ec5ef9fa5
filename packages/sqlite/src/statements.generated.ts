// Generated from sql/ by tools/embed-sql; change those files instead.
import type { Migration } from './schema/migration.ts'

export const migrations: readonly Migration[] = [
  {
    version: 1,
    title: 'first',
    breaking: true,
    sql: `-- breaking: yes
--
-- Instants are milliseconds since the epoch; NULL stands for none.

-- Applied migrations.
create table sluice_schema (
  version integer primary key,
  breaking integer not null check (breaking in (0, 1)),
  applied_at real not null
) strict;

-- One row, of the whole store.
create table sluice_store (
  id integer primary key check (id = 1),
  -- The last token that was handed out. It starts at the epoch microseconds of the file's creation,
  -- so that a file which was deleted and created again does not hand out tokens that an outside
  -- system has already seen.
  token integer not null check (token > 0),
  -- A position in the order, raised by each transaction that changes or deletes a key that is stored,
  -- and by pauses, but not by heartbeats and renewals. Transactions that only insert keys leave it
  -- alone, which saves each add a page of the log: the last position that was handed out is the
  -- greater of this one and that of the row with the highest id. A waiting process looks for keys
  -- only after the last position has risen.
  seq integer not null default 0 check (seq >= 0),
  -- How many milliseconds the store's time is ahead of the wall clock, because that was set back.
  ahead real not null default 0 check (ahead >= 0),
  -- The newest instant that is known to have passed, by the store's time. It only rises.
  latest real not null
) strict;

-- One row per queue that was ever written to.
create table sluice_queues (
  id integer primary key,
  name text not null unique,
  paused integer not null default 0 check (paused in (0, 1)),
  -- How many keys have a pending run, once an add with a limit for them has counted them; NULL before,
  -- so that a queue without a limit need not write it.
  pending integer check (pending >= 0)
) strict;

-- The names of holders, so that the rows of keys need not repeat them. Ids are never reused.
create table sluice_holders (
  id integer primary key autoincrement,
  name text not null unique
) strict;

-- One row per key of a queue: docs/internals/sqlite.md.
create table sluice_keys (
  id integer primary key,
  queue integer not null,
  key text not null,

  -- The run: pending if token is null, otherwise claimed.
  due_at real,
  due_why integer not null default 0 check (due_why between 0 and 2),
  later_at real,
  later_why integer,
  ready_at real,
  seq integer,
  priority integer not null default 0,
  asked_at real,

  -- The holder. claim is a hash of the name of the request that claimed the key.
  token integer,
  lease_until real,
  holder integer,
  claim integer,

  -- The next pending run of a held key.
  next_due_at real,
  next_why integer,
  next_seq integer,
  next_priority integer,
  next_asked_at real,
  next_later_at real,
  next_later_why integer,

  failures integer not null default 0,
  crashes integer not null default 0,
  failed_at real,
  parked integer not null default 0 check (parked in (0, 1)),
  item text,
  last_error text,

  -- The trace contexts of the first and the last add, if adds had any: of the run, and of the next
  -- pending run of a held key.
  trace text,
  next_trace text,

  unique (queue, key),
  check ((due_at is null) = (ready_at is null)),
  check (due_at is not null or (later_at is null and token is null)),
  check ((token is null) = (holder is null)),
  check (token is not null or (lease_until is null and next_due_at is null)),
  check (next_due_at is not null or (next_later_at is null and next_trace is null)),
  check (due_at is not null or trace is null)
) strict;

-- Pending keys in the order of claims. due_at and due_why are included so that counting, and looking
-- for keys that are due by some instant, need not read the rows.
create index sluice_keys_waiting on sluice_keys (queue, priority desc, ready_at, seq, due_at, due_why)
where token is null and parked = 0 and due_at is not null;

-- Held keys by the end of their leases.
create index sluice_keys_held on sluice_keys (queue, lease_until)
where token is not null;

-- Parked keys that are not held.
create index sluice_keys_parked on sluice_keys (queue, key)
where token is null and parked = 1;

-- Idle keys, of which only a failure count is stored, oldest failure first.
create index sluice_keys_idle on sluice_keys (queue, failed_at)
where token is null and parked = 0 and due_at is null;

create table sluice_workers (
  queue integer not null,
  holder text not null,
  info text not null,
  started_at real not null,
  seen_at real not null,
  primary key (queue, holder)
) strict, without rowid;

-- What the workers of a queue did during one step of time; step_ms is its length, at its beginning.
create table sluice_history (
  queue integer not null,
  step_ms integer not null,
  at real not null,
  started integer not null,
  done integer not null,
  failed integer not null,
  added integer not null,
  merged integer not null,
  expired integer not null,
  -- How many keys were in the queue.
  ready integer not null,
  delayed integer not null,
  held integer not null,
  parked integer not null,
  -- For how long the key that had been ready longest had been so.
  oldest_ms real not null,
  capped integer not null check (capped in (0, 1)),
  paused integer not null check (paused in (0, 1)),
  -- The codes of the errors of failed runs with their counts, as JSON.
  codes text not null,
  primary key (queue, step_ms, at)
) strict, without rowid;

-- The newest failed runs.
create table sluice_failed_runs (
  id integer primary key,
  queue integer not null,
  at real not null,
  key text not null,
  code text not null,
  holder text not null,
  failures integer not null,
  last_error text not null
) strict;

create index sluice_failed_runs_newest on sluice_failed_runs (queue, at, id);

create table sluice_buckets (
  name text primary key,
  per_second real not null,
  burst real not null,
  tokens real not null,
  at real not null
) strict, without rowid;`,
  },
]

export const statementTexts = {
  addInserted: 'select key from sluice_keys where id between +? and +?',
  addItems: 'insert into sluice_keys (queue, key, due_at, due_why, ready_at, seq, priority, asked_at, trace, item) select ?, j.value ->> 0, t.due_at, ?, t.due_at, ? + j.key, ?, ?, ?, j.value ->> 1 from (select ? as due_at) t cross join json_each(?) j where true on conflict (queue, key) do nothing',
  addKeys: 'insert into sluice_keys (queue, key, due_at, due_why, ready_at, seq, priority, asked_at, trace) select ?, j.value, t.due_at, ?, t.due_at, ? + j.key, ?, ?, ? from (select ? as due_at) t cross join json_each(?) j where true on conflict (queue, key) do nothing',
  addOne: 'insert into sluice_keys (queue, key, due_at, due_why, ready_at, seq, priority, asked_at, item, trace) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (queue, key) do nothing',
  bucketsFind: 'select tokens, at from sluice_buckets where name = +?',
  bucketsList: 'select name, per_second, burst, tokens, at from sluice_buckets order by name',
  bucketsSave: 'insert into sluice_buckets (name, per_second, burst, tokens, at) values (?, ?, ?, ?, ?) on conflict (name) do update set per_second = excluded.per_second, burst = excluded.burst, tokens = excluded.tokens, at = excluded.at',
  claimAdopt: 'select key, item, token, failures, crashes, priority, asked_at, ready_at, lease_until, trace from sluice_keys indexed by sluice_keys_held where queue = +? and claim = +? and token is not null order by token',
  claimCandidates: 'select id, key, item, failures, crashes, priority, asked_at, ready_at, later_at, trace from sluice_keys indexed by sluice_keys_waiting where queue = +? and priority = +? and ready_at <= +? and due_at <= +? and token is null and parked = 0 and due_at is not null order by ready_at, seq limit +?',
  claimExpiredLeases: 'select key, token from sluice_keys indexed by sluice_keys_held where queue = +? and lease_until <= +? and token is not null order by lease_until limit +?',
  claimLevel: 'select priority, ready_at from sluice_keys indexed by sluice_keys_waiting where queue = +? and priority < +? and token is null and parked = 0 and due_at is not null order by priority desc, ready_at, seq limit 1',
  claimTakeOne: 'update sluice_keys set token = ?, lease_until = ?, holder = ?, claim = ? where id = +?',
  claimTake: 'update sluice_keys set token = ? + j.key, lease_until = ?, holder = ?, claim = ? from json_each(?) j where sluice_keys.id = j.value',
  countsAll: 'select waiting.n as waiting, waiting.ready, waiting.backoff, waiting.first_at, held.n as held, held.dirty, held.until, parked.n as parked, idle.n as idle from ( select count(*) as n, min(ready_at) as first_at, coalesce(sum(ready_at <= +?), 0) as ready, coalesce(sum(due_why = +? and ready_at > +?), 0) as backoff from ( select ready_at, due_why from sluice_keys indexed by sluice_keys_waiting where queue = +? and token is null and parked = 0 and due_at is not null limit +? ) ) waiting cross join ( select count(*) as n, coalesce(sum(is_dirty), 0) as dirty, case when count(lease_until) = count(*) then max(lease_until) end as until from ( select coalesce(next_due_at <= +?, 0) as is_dirty, lease_until from sluice_keys indexed by sluice_keys_held where queue = +? and token is not null limit +? ) ) held cross join ( select count(*) as n from ( select 1 from sluice_keys indexed by sluice_keys_parked where queue = +? and token is null and parked = 1 limit +? ) ) parked cross join ( select count(*) as n from ( select 1 from sluice_keys indexed by sluice_keys_idle where queue = +? and token is null and parked = 0 and due_at is null limit +? ) ) idle',
  countsDelayed: 'select due_why, count(*) as n from ( select due_why from sluice_keys indexed by sluice_keys_waiting where queue = +? and priority = +? and ready_at > +? and token is null and parked = 0 and due_at is not null order by ready_at, seq limit +? ) group by due_why',
  countsReady: 'select count(*) as n from ( select 1 from sluice_keys indexed by sluice_keys_waiting where queue = +? and priority = +? and ready_at <= +? and token is null and parked = 0 and due_at is not null limit +? )',
  examineItems: 'select key, item from sluice_keys where not json_valid(item)',
  examineRows: "select 'queue ' || q.name || ' counts ' || q.pending || ' pending keys, and has ' || c.pending as finding from sluice_queues q cross join ( select queue, sum(case when token is null then due_at is not null else next_due_at is not null end) as pending from sluice_keys group by queue ) c on c.queue = q.id where q.pending <> c.pending union all select 'queue ' || q.name || ' counts ' || q.pending || ' pending keys, and has none' from sluice_queues q where q.pending <> 0 and not exists (select 1 from sluice_keys k where k.queue = q.id) union all select 'key ' || k.key || ' belongs to no queue' from sluice_keys k where not exists (select 1 from sluice_queues q where q.id = k.queue) union all select 'key ' || k.key || ' has token ' || k.token || ', which was never given out' from sluice_keys k where k.token > (select token from sluice_store) union all select 'token ' || token || ' holds ' || count(*) || ' keys' from sluice_keys where token is not null group by token having count(*) > 1 union all select 'key ' || k.key || ' is held by an unknown holder' from sluice_keys k where k.token is not null and not exists (select 1 from sluice_holders h where h.id = k.holder) union all select 'key ' || k.key || ' has seq ' || k.seq || ', which was never given out' from sluice_keys k cross join ( select max(seq, coalesce((select seq from sluice_keys order by id desc limit 1), 0)) as seq from sluice_store ) last where k.seq > last.seq or k.next_seq > last.seq union all select 'the row of the token counter is missing' where not exists (select 1 from sluice_store) union all select 'key ' || k.key || ' is ready ' || (k.ready_at - k.due_at) || ' ms after it is due, at an ' || 'instant that has not passed' from sluice_keys k where k.token is null and k.ready_at > max(k.due_at, (select latest from sluice_store) + 1000) union all select 'key ' || key || ' has nothing to be remembered for' from sluice_keys where token is null and due_at is null and failures = 0 and crashes = 0 and parked = 0 limit 100",
  failedRunsAdd: 'insert into sluice_failed_runs (queue, at, key, code, holder, failures, last_error) values (?, ?, ?, ?, ?, ?, ?)',
  failedRunsList: 'select at, key, code, holder, failures, last_error from sluice_failed_runs where queue = +? and at > +? order by at desc, id desc',
  failedRunsSweep: 'delete from sluice_failed_runs where queue = +? and id not in ( select id from ( select id, at, row_number() over (partition by code order by at desc, id desc) as rank from sluice_failed_runs where queue = +? ) where at > +? and rank <= +? order by at desc, id desc limit +? )',
  finishDoneForget: 'delete from sluice_keys where queue = +? and key = +? and token = +? and next_due_at is null and parked = 0',
  finishDone: 'delete from sluice_keys where queue = +? and key = +? and token = +? and next_due_at is null and failures = 0 and parked = 0',
  historyFind: 'select h.* from json_each(?) j cross join sluice_history h where h.queue = +? and h.step_ms = j.value ->> 0 and h.at = j.value ->> 1',
  historyList: 'select step_ms, at, started, done, failed, added, merged, expired, ready, delayed, held, parked, oldest_ms, capped, paused, codes from sluice_history where queue = +? and step_ms = +? and at > +? order by at',
  historySave: 'insert into sluice_history ( queue, started, done, failed, added, merged, expired, ready, delayed, held, parked, oldest_ms, capped, paused, step_ms, at, codes ) select ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, j.value ->> 0, j.value ->> 1, j.value ->> 2 from json_each(?) j where true on conflict (queue, step_ms, at) do update set started = started + excluded.started, done = done + excluded.done, failed = failed + excluded.failed, added = added + excluded.added, merged = merged + excluded.merged, expired = expired + excluded.expired, ready = excluded.ready, delayed = excluded.delayed, held = excluded.held, parked = excluded.parked, oldest_ms = excluded.oldest_ms, capped = excluded.capped, paused = excluded.paused, codes = excluded.codes',
  historySweep: 'delete from sluice_history where queue = +? and step_ms = +? and at <= +?',
  holdersAdd: 'insert into sluice_holders (name) values (?)',
  holdersFind: 'select id from sluice_holders where name = +?',
  holdersList: 'select h.id, h.name from json_each(?) j cross join sluice_holders h on h.id = j.value',
  holdersSweep: 'delete from sluice_holders where id <= (select max(id) - 1000 from sluice_holders) and id not in ( select holder from sluice_keys indexed by sluice_keys_held where token is not null )',
  keysDelete: 'delete from sluice_keys where id = +?',
  keysFindOne: 'select id, key, due_at, due_why, later_at, later_why, ready_at, seq, priority, asked_at, token, lease_until, holder, claim, next_due_at, next_why, next_seq, next_priority, next_asked_at, next_later_at, next_later_why, failures, crashes, failed_at, parked, item, last_error, trace, next_trace from sluice_keys where queue = +? and key = +?',
  keysFind: 'select k.id, k.key, k.due_at, k.due_why, k.later_at, k.later_why, k.ready_at, k.seq, k.priority, k.asked_at, k.token, k.lease_until, k.holder, k.claim, k.next_due_at, k.next_why, k.next_seq, k.next_priority, k.next_asked_at, k.next_later_at, k.next_later_why, k.failures, k.crashes, k.failed_at, k.parked, k.item, k.last_error, k.trace, k.next_trace from json_each(?) j cross join sluice_keys k on k.queue = +? and k.key = j.value',
  keysInsert: 'insert into sluice_keys ( queue, key, due_at, due_why, later_at, later_why, ready_at, seq, priority, asked_at, token, lease_until, holder, claim, next_due_at, next_why, next_seq, next_priority, next_asked_at, next_later_at, next_later_why, failures, crashes, failed_at, parked, item, last_error, trace, next_trace ) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  keysUpdate: 'update sluice_keys set due_at = ?, due_why = ?, later_at = ?, later_why = ?, ready_at = ?, seq = ?, priority = ?, asked_at = ?, token = ?, lease_until = ?, holder = ?, claim = ?, next_due_at = ?, next_why = ?, next_seq = ?, next_priority = ?, next_asked_at = ?, next_later_at = ?, next_later_why = ?, failures = ?, crashes = ?, failed_at = ?, parked = ?, item = ?, last_error = ?, trace = ?, next_trace = ? where id = +?',
  listHeld: 'select id, key, due_at, due_why, later_at, later_why, ready_at, seq, priority, asked_at, token, lease_until, holder, claim, next_due_at, next_why, next_seq, next_priority, next_asked_at, next_later_at, next_later_why, failures, crashes, failed_at, parked, item, last_error, trace, next_trace from sluice_keys indexed by sluice_keys_held where queue = +? and key >= +? and token is not null order by key limit +?',
  listPage: 'select id, key, due_at, due_why, later_at, later_why, ready_at, seq, priority, asked_at, token, lease_until, holder, claim, next_due_at, next_why, next_seq, next_priority, next_asked_at, next_later_at, next_later_why, failures, crashes, failed_at, parked, item, last_error, trace, next_trace from sluice_keys where queue = +? and key >= +? order by key limit +?',
  listParked: 'select id, key, due_at, due_why, later_at, later_why, ready_at, seq, priority, asked_at, token, lease_until, holder, claim, next_due_at, next_why, next_seq, next_priority, next_asked_at, next_later_at, next_later_why, failures, crashes, failed_at, parked, item, last_error, trace, next_trace from sluice_keys indexed by sluice_keys_parked where queue = +? and key >= +? and token is null and parked = 1 order by key limit +?',
  operatePause: 'update sluice_queues set paused = ? where id = +? and paused <> +?',
  operatePurgeFree: 'delete from sluice_keys where id in ( select id from sluice_keys where queue = +? and token is null and (seq is null or seq <= +?) limit +? )',
  operatePurgeHeld: 'update sluice_keys set next_due_at = null, next_why = null, next_seq = null, next_priority = null, next_asked_at = null, next_later_at = null, next_later_why = null, next_trace = null, failures = 0, crashes = 0, failed_at = null, parked = 0 where queue = +? and token is not null and (next_due_at is not null or failures > 0 or crashes > 0 or parked = 1)',
  queuesAdd: 'insert into sluice_queues (name) values (?)',
  queuesCount: 'select count(case when token is null then due_at else next_due_at end) as pending from sluice_keys where queue = +?',
  queuesList: 'select name from sluice_queues q where paused = 1 or exists (select 1 from sluice_keys k where k.queue = q.id) or exists (select 1 from sluice_workers where queue = q.id and seen_at >= +?) order by name',
  queuesSave: 'update sluice_queues set pending = ? where id = +?',
  renew: 'update sluice_keys set lease_until = case when lease_until is null or ? is null then null else max(lease_until, ?) end where id in ( select k.id from json_each(?) j cross join sluice_keys k on k.queue = +? and k.key = j.value ->> 0 and k.token = j.value ->> 1 ) returning key, lease_until',
  storeRead: 'select s.token, s.ahead, s.latest, max(s.seq, coalesce((select k.seq from sluice_keys k order by k.id desc limit 1), 0)) as seq, q.id as queue_id, q.paused, q.pending, (select v.version from sluice_schema v where v.breaking = 1 order by v.version desc limit 1) as breaking from sluice_store s left join sluice_queues q indexed by sqlite_autoindex_sluice_queues_1 on q.name = +? where s.id = 1',
  storeSave: 'update sluice_store set token = ?, seq = ?, ahead = ?, latest = ? where id = 1',
  tickFirstIdle: 'select 1 as found from sluice_keys indexed by sluice_keys_idle where queue = +? and failed_at <= +? and token is null and parked = 0 and due_at is null limit 1',
  tickFirstLease: 'select lease_until from sluice_keys indexed by sluice_keys_held where queue = +? and token is not null and lease_until is not null order by lease_until limit 1',
  tickLevels: 'with recursive level (priority, ready_at) as ( select * from ( select priority, ready_at from sluice_keys indexed by sluice_keys_waiting where queue = +? and token is null and parked = 0 and due_at is not null order by priority desc, ready_at, seq limit 1 ) union all select k.priority, k.ready_at from level cross join sluice_keys k where k.id = ( select id from sluice_keys indexed by sluice_keys_waiting where queue = +? and priority < level.priority and token is null and parked = 0 and due_at is not null order by priority desc, ready_at, seq limit 1 ) ) select priority, ready_at from level',
  tickSweepIdle: 'delete from sluice_keys where id in ( select id from sluice_keys indexed by sluice_keys_idle where queue = +? and failed_at <= +? and token is null and parked = 0 and due_at is null order by failed_at limit +? )',
  transferBucket: 'insert into sluice_buckets (name, per_second, burst, tokens, at) values (?, ?, ?, ?, ?) on conflict (name) do nothing',
  wakeSignalLast: 'select max(seq, coalesce((select k.seq from sluice_keys k order by k.id desc limit 1), 0)) as last from sluice_store where id = 1',
  workersList: 'select holder, info, started_at, seen_at from sluice_workers where queue = +? and seen_at >= +?',
  workersSave: 'insert into sluice_workers (queue, holder, info, started_at, seen_at) values (?, ?, ?, ?, ?) on conflict (queue, holder) do update set info = excluded.info, seen_at = excluded.seen_at',
  workersSweep: 'delete from sluice_workers where queue = +? and seen_at < +?',
  workersUnused: 'select n.queue from ( select coalesce((select min(queue) from sluice_workers where queue > +?), (select min(queue) from sluice_workers)) as queue ) n where not exists (select 1 from sluice_workers w where w.queue = n.queue and w.seen_at >= +?)',
} as const
