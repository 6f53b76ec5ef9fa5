import type { Connection } from '../connection/connection.ts'
import { flag, text } from '../rows/columns.ts'
import { publicFunctions } from '../statements.generated.ts'
import type { PublicFunction } from './migration.ts'
import { inSchema, namesSchema, quoteIdentifier } from './schema-name.ts'

/** The functions that may only add keys. */
const addingNames: readonly string[] = ['add', 'add_after', 'add_many']

/** A public function with its arguments, as grants name it. */
function signatureOf({ name, argumentTypes }: PublicFunction): string {
  return `sluice.${name}(${argumentTypes})`
}

/** The public functions of a schema, or those of them that only add, as grants name them. */
export function publicSignatures(schema: string, which: 'all' | 'adding'): readonly string[] {
  return publicFunctions
    .filter(({ name }) => which === 'all' || addingNames.includes(name))
    .map((one) => inSchema(signatureOf(one), schema))
}

/** The end of the comment of an installed public function: its interface and the hash of its text. */
const markPattern = /\(Sluice SQL (\d+), ([0-9a-f]{8})\)$/

/**
 * The SQL that installs a public function, or replaces its text. It has the rights of its owner, so
 * nobody may call it at first, whatever the default privileges are; later grants are kept.
 */
export function publicScript(one: PublicFunction, schema: string): string {
  const signature = signatureOf(one)
  const text = `${one.sql}
do $sluice$
declare one record;
begin
  for one in
    select p.oid::pg_catalog.regprocedure as signature, a.grantee
    from pg_catalog.pg_proc p cross join lateral
      pg_catalog.aclexplode(coalesce(p.proacl, pg_catalog.acldefault('f', p.proowner))) a
    where p.oid = '${signature}'::pg_catalog.regprocedure and a.grantee <> p.proowner
      and pg_catalog.obj_description(p.oid, 'pg_proc') is null
  loop
    execute pg_catalog.format('revoke all on function %s from %s', one.signature,
      case one.grantee when 0 then 'public'
        else pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(one.grantee)) end);
  end loop;
end
$sluice$;
comment on function ${signature} is '${one.summary} (Sluice SQL ${one.interface}, ${one.hash})';`
  return inSchema(text, schema)
}

/**
 * One statement: the public functions that are installed, whether this role may replace them, and
 * whether they name this schema, which they do not after it was renamed.
 */
const installedText = `select p.proname as name,
    pg_catalog.pg_has_role(p.proowner, 'usage') as is_mine,
    ${namesSchema('$3')} as is_here,
    pg_catalog.obj_description(p.oid, 'pg_proc') as comment
  from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  where n.nspname = $1::text and p.proname = any ($2::text[])`

/**
 * The public functions to install: those that are missing, and those with another text or for another
 * schema, unless the one that is installed has a newer interface or another owner.
 */
export async function outdatedPublicFunctions(
  connection: Connection,
  schema: string,
): Promise<readonly PublicFunction[]> {
  const names = `{${publicFunctions.map(({ name }) => name).join(',')}}`
  const here = `${quoteIdentifier(schema)}.`
  const rows = await connection.query({ name: '', text: installedText }, [schema, names, here])
  return publicFunctions.filter((one) => {
    const marks = rows
      .filter((row) => row['name'] === one.name)
      .map((row) => ({
        isMine: flag(row['is_mine']),
        isHere: flag(row['is_here']),
        mark: markPattern.exec(text(row['comment']) ?? ''),
      }))
      .filter(({ mark }) => mark !== null)
    return marks.every(
      ({ isMine, isHere, mark }) =>
        isMine && Number(mark?.[1]) <= one.interface && (mark?.[2] !== one.hash || !isHere),
    )
  })
}

/**
 * The functions that others with plain names call, directly or not: functions of another version may
 * be what a public function calls.
 */
const calledText = `with recursive f as (
    select p.proname::text as name, p.prosrc as source
    from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    where n.nspname = $1::text
  ), called (name) as (
    select f.name from f where f.name !~ '_[0-9a-f]{8}$'
    union
    select m.names[1] from called c join f on f.name = c.name
      cross join lateral pg_catalog.regexp_matches(f.source, '(\\w+_[0-9a-f]{8})\\(', 'g') m(names)
  )
  select name from called`

/** The names of functions that functions with plain names call. */
export async function calledByPublicFunctions(
  connection: Connection,
  schema: string,
): Promise<ReadonlySet<string>> {
  const rows = await connection.query({ name: '', text: calledText }, [schema])
  return new Set(rows.map((row) => String(row['name'])))
}
