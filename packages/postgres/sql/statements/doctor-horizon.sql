-- What holds back vacuum: the oldest snapshot, replication slot or prepared transaction.
select h.kind, h.name, h.held, coalesce(h.seconds, 0)::float8 as seconds from (
  select 'session' as kind, concat_ws(' ', a.pid::text, a.usename, a.application_name, a.state) as name,
    age(a.backend_xmin) as held, extract(epoch from clock_timestamp() - a.xact_start) as seconds
  from pg_catalog.pg_stat_activity a
  where a.backend_xmin is not null and a.pid <> pg_backend_pid()
  union all
  select 'replication slot', s.slot_name::text, greatest(age(s.xmin), age(s.catalog_xmin)), null
  from pg_catalog.pg_replication_slots s where s.xmin is not null or s.catalog_xmin is not null
  union all
  select 'prepared transaction', p.gid, age(p.transaction),
    extract(epoch from clock_timestamp() - p.prepared)
  from pg_catalog.pg_prepared_xacts p
) h order by h.held desc nulls last limit 1
