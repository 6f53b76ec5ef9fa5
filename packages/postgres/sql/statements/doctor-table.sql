-- How the table of keys fares. $1 schema.
select s.n_live_tup::float8 as live, s.n_dead_tup::float8 as dead, s.n_tup_upd::float8 as updates,
  s.n_tup_hot_upd::float8 as hot,
  extract(epoch from clock_timestamp() - s.last_autovacuum)::float8 as vacuumed,
  current_setting('autovacuum') as autovacuum, current_setting('synchronous_commit') as commits,
  pg_catalog.pg_total_relation_size(s.relid)::float8 as bytes
from pg_catalog.pg_stat_all_tables s where s.schemaname = $1::text and s.relname = 'keys'
