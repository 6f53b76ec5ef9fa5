import type pg from 'pg'
import { quoteIdentifier } from '../../src/schema/schema-name.ts'

/**
 * Everything that is in a schema, as the server describes it: the tables with their columns and
 * storage settings, constraints, indexes, sequences and functions. `pg_dump` is not part of the
 * server that tests install.
 */
const dumpText = `
with n as (select oid from pg_namespace where nspname = $1),
columns as (
  select a.attrelid, string_agg(format('  %I %s%s%s%s', a.attname,
    format_type(a.atttypid, a.atttypmod),
    case when a.attcollation <> t.typcollation then ' collate ' || quote_ident(l.collname) else '' end,
    case when a.attnotnull then ' not null' else '' end,
    coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')), E',\\n' order by a.attnum) as list
  from pg_attribute a
  join pg_type t on t.oid = a.atttypid
  left join pg_collation l on l.oid = a.attcollation
  left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where a.attnum > 0 and not a.attisdropped
  group by a.attrelid
)
select part from (
  select 1 as kind, c.relname::text as name, format(E'create table %s (\\n%s\\n)%s;', c.relname,
    columns.list, ' with (' || array_to_string(c.reloptions, ', ') || ')') as part
  from pg_class c join columns on columns.attrelid = c.oid
  where c.relnamespace = (table n) and c.relkind in ('r', 'p')
  union all
  select 2, k.conname::text, format('alter table %s add constraint %s %s;', c.relname, k.conname,
    pg_get_constraintdef(k.oid))
  from pg_constraint k join pg_class c on c.oid = k.conrelid
  where k.connamespace = (table n) and k.contype <> 'n'
  union all
  select 3, c.relname::text, pg_get_indexdef(c.oid) || ';'
  from pg_class c join pg_index i on i.indexrelid = c.oid
  where c.relnamespace = (table n) and not i.indisprimary
  union all
  select 4, c.relname::text, format(
    'create sequence %s as %s increment by %s minvalue %s maxvalue %s start with %s cache %s%s;',
    c.relname, format_type(s.seqtypid, null), s.seqincrement, s.seqmin, s.seqmax, s.seqstart,
    s.seqcache, case when s.seqcycle then ' cycle' else '' end)
  from pg_sequence s join pg_class c on c.oid = s.seqrelid where c.relnamespace = (table n)
  union all
  select 5, p.proname::text, rtrim(pg_get_functiondef(p.oid), E'\\n') || ';'
  from pg_proc p where p.pronamespace = (table n)
  union all
  select 6, g.tgname::text, pg_get_triggerdef(g.oid) || ';'
  from pg_trigger g join pg_class c on c.oid = g.tgrelid
  where c.relnamespace = (table n) and not g.tgisinternal
  union all
  select 7, c.relname::text, format('create view %s as %s', c.relname, pg_get_viewdef(c.oid))
  from pg_class c where c.relnamespace = (table n) and c.relkind in ('v', 'm')
) parts order by kind, name collate "C"`

/** The text of a schema, with its name left out. */
export async function dumpSchema(pool: pg.Pool, schema: string): Promise<string> {
  const { rows } = await pool.query<{ part: string }>(dumpText, [schema])
  const text = rows.map(({ part }) => part).join('\n\n')
  const names = [schema, quoteIdentifier(schema)].map((name) => `${name}.`)
  return `${names.reduce((dump, name) => dump.replaceAll(name, ''), text)}\n`
}
