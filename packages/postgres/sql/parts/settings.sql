-- The settings of every function that reads keys, whatever those of the session and the role are: names
-- are not resolved in schemas of the caller, and each row is found by an index, with a plan that is made
-- once. Without them, a planner that believes the table to be small reads all of it.
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set enable_material = off
set jit = off
