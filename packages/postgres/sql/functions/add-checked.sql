-- Adds for the public functions: checks what the library checks before a driver sees it, and adds in
-- steps of 1,000 keys, in one order, so that two transactions that add many keys wait for each other
-- rather than for ever. A key that is named twice has its first place in the order and its last item. Each
-- key is returned once.
--
-- Options of a queue object (maxPending, a smaller limit of items, a schema) are not known here.
create or replace function sluice.add_checked(
  in_queue text, in_keys text[], in_items jsonb[], in_delay interval, in_priority int, in_dedupe text
) returns table (key text, outcome text) language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
declare
  keys_step constant int := 1000;
  delay_max constant float8 := 315576000000;
  delay_ms float8 := extract(epoch from in_delay) * 1000;
  wrong text; step_keys text[]; step_items text[]; step_indexes int[];
begin
  perform sluice.check_names(in_queue, in_keys);
  wrong := case
    when in_priority is null or in_priority not between -1000 and 1000
      then format('priority must be from -1000 to 1000; got %s', coalesce(in_priority::text, 'null'))
    when in_dedupe is null or in_dedupe not in ('client-go', 'earliest')
      then format('dedupe must be client-go or earliest; got %s', coalesce(in_dedupe, 'null'))
    when delay_ms is null or delay_ms = '-Infinity' or delay_ms > delay_max
      then format('delay must be finite and at most ten years; got %s', coalesce(in_delay::text, 'null'))
    when in_items is not null and cardinality(in_items) <> coalesce(cardinality(in_keys), 0)
      then format('items must be as many as keys; got %s for %s keys', cardinality(in_items),
        coalesce(cardinality(in_keys), 0))
    when exists (select from unnest(in_items) i(item)
        where octet_length(convert_to(i.item::text, 'UTF8')) > 1048576)
      then 'item must be at most 1048576 bytes as JSON'
    when exists (select from unnest(in_items) i(item) where jsonb_path_exists(i.item,
        '$.** ? (@.type() == "number" && (@ > 1.7976931348623157e308 || @ < -1.7976931348623157e308))'))
      then 'item must not contain a number that a double cannot hold'
    end;
  if wrong is not null then raise exception using errcode = '22023', message = 'sluice: ' || wrong; end if;
  -- By the bytes of the keys, which is the order in which all verbs lock. Each step has arrays of its
  -- own: cutting a part out of one long array reads all that comes before it.
  for step_keys, step_items, step_indexes in
    select array_agg(x.key order by x.nth), array_agg(x.item::text order by x.nth),
      array_agg(x.index::int order by x.nth)
    from (
      select d.*, row_number() over (order by d.key) - 1 as nth from (
        select distinct on (i.key collate "C") i.key collate "C" as key, i.item,
          min(i.index) over (partition by i.key collate "C") as index
        from unnest(in_keys, in_items) with ordinality as i(key, item, index)
        order by i.key collate "C", i.index desc) d) x
    group by x.nth / keys_step order by min(x.nth)
  loop
    return query
      with part as materialized (
        select p.key, p.item, (row_number() over (order by p.index))::int as index
        from unnest(step_keys, step_items, step_indexes) as p(key, item, index)
      ), batch as materialized (
        select array_agg(p.key order by p.key collate "C") as keys,
          array_agg(p.item order by p.key collate "C") as items,
          array_agg(p.index order by p.key collate "C") as indexes, count(*)::int as size
        from part p
      ), written as materialized (
        select a.key, a.outcome, a.n
        from batch b cross join lateral sluice.add_waiting(
          in_queue, b.keys, b.items, array_fill(in_priority, array[b.size]),
          array_fill(delay_ms, array[b.size]), b.indexes, in_dedupe = 'client-go', 86400000,
          null, pg_sequence_last_value('sluice.latest') / 1000.0::float8,
          'sluice_channel', 'q' || in_queue, null) with ordinality as a(key, outcome, due_at, failures, n)
      ), firsts as materialized (
        select distinct on (w.key) w.key, w.outcome from written w where w.key is not null
        order by w.key, w.n
      )
      select p.key, (array['unchanged', 'added', 'moved', 'parked', 'added'])[coalesce(f.outcome, 4) + 1]
      from part p left join firsts f on f.key = p.key order by p.index;
  end loop;
end
$body$;
