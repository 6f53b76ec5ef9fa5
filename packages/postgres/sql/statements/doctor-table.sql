-- How many rows of the table of keys are dead, which indexes a renewed lease would write to, and the tables of
-- which policies may hide rows from this role.
-- $1 schema.
select s.n_live_tup::float8 as live, s.n_dead_tup::float8 as dead, s.n_tup_upd::float8 as updates,
  s.n_tup_hot_upd::float8 as hot,
  extract(epoch from clock_timestamp() - s.last_autovacuum)::float8 as vacuumed,
  current_setting('autovacuum') as autovacuum, current_setting('synchronous_commit') as commits,
  pg_catalog.pg_total_relation_size(s.relid)::float8 as bytes,
  (select string_agg(distinct i.relname, ', ')
    from pg_catalog.pg_attribute a
    join pg_catalog.pg_depend d on d.refclassid = 'pg_catalog.pg_class'::regclass
      and d.refobjid = s.relid and d.refobjsubid = a.attnum
      and d.classid = 'pg_catalog.pg_class'::regclass
    join pg_catalog.pg_class i on i.oid = d.objid and i.relkind = 'i'
    where a.attrelid = s.relid and a.attname = 'lease_until') as lease_indexes,
  (select string_agg(t.relname, ', ' order by t.relname)
    from pg_catalog.pg_class t
    where t.relnamespace = quote_ident($1::text)::regnamespace and t.relkind = 'r'
      and t.relname in ('keys', 'queues', 'buckets', 'workers', 'history', 'failed_runs')
      and pg_catalog.row_security_active(t.oid)) as secured_tables
from pg_catalog.pg_stat_all_tables s where s.schemaname = $1::text and s.relname = 'keys'
