-- breaking: yes
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
) strict, without rowid;
