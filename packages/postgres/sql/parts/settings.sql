-- What every function that reads keys is set to, whatever the session or the role is set to: names
-- are looked up in no schema of the caller's, and each row is found by an index, with a plan that is
-- made once. Without these, a planner that takes the table for small reads all of it.
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set enable_material = off
set jit = off
