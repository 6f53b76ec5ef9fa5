-- breaking: yes
--
-- The first schema. Instants are milliseconds since the epoch, as doubles; 'Infinity' is never.

-- The migrations that were applied.
create table sluice.migrations (
  version int primary key,
  title text not null,
  breaking boolean not null,
  applied_at timestamptz not null default clock_timestamp()
);

-- Fencing tokens. They start at the time when the schema is created, in microseconds since the epoch, so
-- that a schema that was dropped and created again gives out no token that an outside system has seen.
-- No cache: the token of a key must rise with every claim, whichever connection makes it. The last one
-- is 2^53 - 1, the greatest number that JavaScript can tell from the next: a claim beyond it fails.
create sequence sluice.token maxvalue 9007199254740991;
select setval('sluice.token', (extract(epoch from clock_timestamp()) * 1000000)::bigint);

-- Positions in the order of arrival: drawn once for each statement; the index in the batch is added.
create sequence sluice.arrival increment by 1024 start with 1024;

-- One row for each key that is pending, held, parked, or has a failure count.
--
-- The order of the columns wastes no bytes on alignment. Columns that only a held key needs are null
-- otherwise, which costs nothing in a row.
create table sluice.keys (
  -- The number of the queue, which stands for its name in every index: see functions/queue-number.sql.
  queue_id bigint not null,
  -- The pending run.
  due_at float8 not null default 'Infinity',
  later_at float8 not null default 'Infinity',
  ready_at float8 not null default 'Infinity',
  asked_at float8,
  seq bigint not null default 0,
  -- The claim that holds the key.
  token bigint,
  lease_until float8,
  -- The run that the claim took.
  claimed_due_at float8,
  claimed_later_at float8,
  claimed_ready_at float8,
  claimed_asked_at float8,
  claimed_seq bigint,
  -- When failures or crashes last rose.
  failed_at float8,
  priority int not null default 0,
  claimed_priority int,
  failures int not null default 0,
  crashes int not null default 0,
  -- The reason for due_at: 0 add, 1 delay, 2 back-off.
  why smallint not null default 0,
  later_why smallint not null default 0,
  claimed_why smallint,
  -- The outcome of the last add, for its own statement: 0 unchanged, 1 added, 2 moved, 3 parked, 4 added
  -- a row.
  change smallint not null default 0,
  parked boolean not null default false,
  key text collate "C" not null,
  -- The name of the queue, for readers of the table.
  queue text collate "C" not null,
  -- JSON text. Not jsonb, which changes some numbers and refuses some strings.
  item text,
  holder text collate "C",
  claim_id text collate "C",
  last_error text,
  -- The trace contexts of the first and the last add of the pending run, and of the claimed one.
  trace text,
  claimed_trace text,
  primary key (queue_id, key)
) with (
  -- Room on each page for renewed leases to stay where they are.
  fillfactor = 70,
  -- A queue replaces all rows of its table many times an hour: vacuum after 5,000 dead rows, whatever
  -- the size of the table, and without pauses.
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_threshold = -1,
  autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 50000
);

-- A row is in at most one of the following four indexes. No column that a renewal changes is in any, so
-- that a renewed row needs no new index entry (HOT).

-- Keys to be claimed, now or later, in the order of claims.
create index keys_waiting on sluice.keys (queue_id, priority desc, ready_at, seq)
  where token is null and not parked and due_at < 'Infinity';

-- Held keys, by token, so that new claims are appended, where adding to an index is cheapest.
create index keys_held on sluice.keys (queue_id, token) where token is not null;

-- Parked keys.
create index keys_parked on sluice.keys (queue_id, key) where token is null and parked;

-- Keys of which only a failure count is left, the oldest first.
create index keys_idle on sluice.keys (queue_id, failed_at)
  where token is null and not parked and due_at = 'Infinity' and failed_at is not null;

-- The settings of a queue; one without a row is not paused.
create table sluice.queues (
  name text collate "C" primary key,
  paused boolean not null default false
);

-- Token buckets, shared by name.
create table sluice.buckets (
  name text collate "C" primary key,
  per_second float8,
  burst float8,
  -- Null in a row that was created only to be locked.
  tokens float8,
  at float8
) with (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- The workers of each queue.
create table sluice.workers (
  queue text collate "C" not null,
  holder text collate "C" not null,
  host text not null,
  pid int not null,
  concurrency int not null,
  -- The worker's settings and statistics, as JSON.
  info text not null,
  started_at float8 not null,
  seen_at float8 not null,
  primary key (queue, holder)
) with (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- What the workers of a queue did during one step of time; step_ms is its length, at its beginning.
create table sluice.history (
  queue_id bigint not null,
  at float8 not null,
  started bigint not null,
  done bigint not null,
  failed bigint not null,
  added bigint not null,
  merged bigint not null,
  expired bigint not null,
  -- For how long the key that had been ready longest had been so.
  oldest_ms float8 not null,
  step_ms int not null,
  -- How many keys were in the queue.
  ready int not null,
  delayed int not null,
  held int not null,
  parked int not null,
  capped boolean not null,
  paused boolean not null,
  -- The codes of the errors of failed runs with their counts, as JSON.
  codes text not null,
  primary key (queue_id, step_ms, at)
) with (fillfactor = 80, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- Failed runs, of which the newest are kept.
create table sluice.failed_runs (
  queue_id bigint not null,
  id bigint generated always as identity,
  at float8 not null,
  failures int not null,
  key text collate "C" not null,
  code text collate "C" not null,
  holder text collate "C" not null,
  last_error text not null,
  primary key (queue_id, id)
) with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- By how many microseconds the store's time is ahead of the server's clock: more than 0 after that clock
-- was set back. And the newest present that a tick has noted. Sequences rather than a row: every
-- statement reads the first one, without a snapshot and without a plan.
create sequence sluice.ahead minvalue 0 start 0;
select setval('sluice.ahead', 0);
create sequence sluice.latest;
select setval('sluice.latest', (extract(epoch from clock_timestamp()) * 1000000)::bigint);
