-- Adds without a plan, a failure to count, debounce or a limit of the queue: parts/add.sql.
--
-- The keys are sorted by their bytes, each once; in_indexes has their indexes in the caller's batch.
--
-- The first row has nothing but the store's time, as due_at. If not all rows are new, a row follows for
-- each row that was written: its key, the change (see keys.change), when it is due, its failures. If not
-- all were written, a row follows for each key of the batch; the first row of a key counts.
--
-- With in_channel, sends in_notice there with the commit, if a key was added or moved.
create or replace function sluice.add(
  in_queue text, in_keys text[], in_items text[], in_priorities int[], in_delays float8[],
  in_indexes int[], in_twice boolean, in_expire float8, in_now float8, in_least float8,
  in_channel text, in_notice text, in_traces text[]
) returns table (key text, outcome int, due_at float8, failures int) language plpgsql
-- @include settings
set lock_timeout = '50ms'
as $body$
-- @include add
$body$;
