-- The function add for callers that wait for locked rows as long as their own lock_timeout allows: a
-- transaction that adds keys from SQL must not fail because another one holds a key for 50 ms.
create or replace function sluice.add_waiting(
  in_queue text, in_keys text[], in_items text[], in_priorities int[], in_delays float8[],
  in_indexes int[], in_twice boolean, in_expire float8, in_now float8, in_least float8,
  in_channel text, in_notice text, in_traces text[]
) returns table (key text, outcome int, due_at float8, failures int) language plpgsql
-- @include settings
as $body$
-- @include add
$body$;
