import { createHash } from 'node:crypto'
import {
  checkDelay,
  checkObject,
  checkPriority,
  checkQueueName,
  checkString,
  SluiceError,
  SluiceRangeError,
  SluiceTypeError,
} from '@sluice/core'
import { sqlStateOf, whileWithoutEffect } from '../connection/errors.ts'
import { statementsFor } from '../connection/statements.ts'
import { targetOf } from '../connection/target.ts'
import { checkOptions, type PostgresOptions } from '../postgres-options.ts'
import { arrayLiteral } from '../rows/array-literal.ts'
import { flag } from '../rows/columns.ts'
import { channelOf, checkSchemaName, quoteIdentifier } from './schema-name.ts'

/** A change of rows that adds keys. */
export type TableEvent = 'insert' | 'update' | 'delete'

/** Which changes of which table add which keys to which queue. */
export interface TableWatch {
  /** The table as SQL names it: `orders`, `shop.orders`, `"Orders"`. */
  readonly table: string
  readonly queue: string
  /** An SQL expression over the columns of the table: the key of a row. A row whose key is null adds none. */
  readonly key: string
  /** An SQL expression for the item of a row, of type `jsonb`. Needed by queues with a `keyOf`. */
  readonly item?: string | undefined
  /** An SQL condition over the columns of the table. Other rows add no key. */
  readonly when?: string | undefined
  /** The changes that add keys. Default: all. */
  readonly on?: readonly TableEvent[] | undefined
  /** The keys are due so many milliseconds after the change. Default 0. */
  readonly delayMs?: number | undefined
  readonly priority?: number | undefined
  /** The schema of Sluice. Default `sluice`. */
  readonly schema?: string | undefined
  /** Whether the triggers of this table and queue are dropped instead. Default false. */
  readonly drop?: boolean | undefined
}

const events: readonly TableEvent[] = ['insert', 'update', 'delete']

const members = [
  ...['table', 'queue', 'key', 'item', 'when', 'on', 'delayMs', 'priority', 'schema', 'drop'],
]

/** Closes the texts of functions; expressions must not contain it. */
const quotes = '$sluice_watch$'

/** A name as SQL writes it: `orders`, or `"Orders"` with `""` for a quote. */
const namePattern = String.raw`[a-zA-Z_\u0080-\uffff][\w$\u0080-\uffff]*|"(?:[^"\0]|"")+"`
const tablePattern: RegExp = new RegExp(`^(?:(${namePattern})\\.)?(${namePattern})$`)

function nameOf(identifier: string): string {
  if (!identifier.startsWith('"')) return identifier.toLowerCase()
  return identifier.slice(1, -1).replaceAll('""', '"')
}

function literal(text: string): string {
  // E'' reads backslashes in the same way whatever the settings are.
  return `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}

interface Checked extends TableWatch {
  readonly on: readonly TableEvent[]
  readonly schema: string
  /** The table, quoted. */
  readonly relation: string
  /** The table without its schema, quoted: what expressions call its rows. */
  readonly alias: string
  /** The trigger function, quoted. */
  readonly functionName: string
  readonly triggerOf: (event: TableEvent) => string
}

function checkExpression(name: string, value: unknown): string {
  const text = checkString(name, value)
  if (text.trim() === '') throw new SluiceRangeError(name, 'must not be empty')
  if (text.includes(quotes) || text.includes('\0')) {
    throw new SluiceRangeError(name, `must not contain ${quotes} or a NUL character`)
  }
  return text
}

function checkWatch(given: TableWatch): Checked {
  const watch = checkObject('watch', given, members) as TableWatch
  const [, schemaPart, tablePart] = tablePattern.exec(checkString('table', watch.table)) ?? []
  if (tablePart === undefined) {
    throw new SluiceRangeError(
      'table',
      `must be the name of a table as SQL writes it, such as orders, shop.orders or "Orders"; got ${watch.table}`,
    )
  }
  const queue = checkQueueName('queue', watch.queue)
  if (watch.drop !== true) checkExpression('key', watch.key)
  if (watch.item !== undefined) checkExpression('item', watch.item)
  if (watch.when !== undefined) checkExpression('when', watch.when)
  if (watch.delayMs !== undefined) checkDelay('delayMs', watch.delayMs)
  if (watch.priority !== undefined) {
    checkPriority('priority', watch.priority)
  }
  const on = watch.on ?? events
  if (!Array.isArray(on) || on.length === 0 || on.some((event) => !events.includes(event))) {
    throw new SluiceTypeError('on', 'must be a list of insert, update, delete')
  }
  const table = nameOf(tablePart)
  const prefix = schemaPart === undefined ? '' : `${quoteIdentifier(nameOf(schemaPart))}.`
  const schema = checkSchemaName(watch.schema ?? 'sluice')
  // Of the table too: its name may be shortened to the same letters as that of another one.
  const named = JSON.stringify([schema, queue, table])
  const hash = createHash('sha256').update(named).digest('hex').slice(0, 8)
  const name = `sluice_${shortened(table)}_${hash}`
  return {
    ...watch,
    on,
    schema,
    relation: prefix + quoteIdentifier(table),
    alias: quoteIdentifier(table),
    functionName: prefix + quoteIdentifier(name),
    triggerOf: (event) => quoteIdentifier(`${name}_${event}`),
  }
}

/** Leaves room for the rest of the name of a trigger in the 63 bytes that Postgres keeps. */
function shortened(table: string): string {
  let text = table
  while (Buffer.byteLength(text) > 38) text = [...text].slice(0, -1).join('')
  return text
}

/** The rows of a statement whose keys are added: `sluice_new` and `sluice_old` are what it changed. */
function changedRows({ key, item, when, alias }: Checked, table: string, rank: number): string {
  const condition = when === undefined ? '' : ` where (\n${when}\n)`
  const value = item === undefined ? '' : `, (\n${item}\n)::jsonb as item, ${rank} as rank`
  return `select (\n${key}\n)::text as key${value} from ${table} as ${alias}${condition}`
}

function bodyFor(watch: Checked): string {
  const { queue, item, delayMs = 0, priority = 0, schema } = watch
  const addMany = `${quoteIdentifier(schema)}.add_many`
  const call = (keys: string, items: string): string =>
    `perform from ${addMany}(${literal(queue)}, ${keys}, ${items}, ${delayMs} * interval '1 ms', ${priority})`
  const branch = (rows: string): string => {
    if (item === undefined) {
      return `${call(`array(select distinct r.key from (\n${rows}\n) r where r.key is not null)`, 'null')};`
    }
    // Of a key that several rows have, the item of a new row counts.
    return `with firsts as (
      select distinct on (r.key) r.key, r.item from (\n${rows}\n) r where r.key is not null
      order by r.key, r.rank
    ), batch as (select array_agg(f.key) as keys, array_agg(f.item) as items from firsts f)
    select count(*) into counted from batch b, lateral ${addMany}(${literal(queue)},
      coalesce(b.keys, '{}'), coalesce(b.items, '{}'), ${delayMs} * interval '1 ms', ${priority});`
  }
  const fresh = changedRows(watch, 'sluice_new', 0)
  const former = changedRows(watch, 'sluice_old', 1)
  return `#variable_conflict use_column
declare counted bigint;
begin
  if tg_op = 'INSERT' then
    ${branch(fresh)}
  elsif tg_op = 'DELETE' then
    ${branch(former)}
  else
    ${branch(`${fresh}\nunion all\n${former}`)}
  end if;
  return null;
end`
}

/** Stands before an expression that is checked, so that an error tells which one it is. */
function markOf(name: string): string {
  return `/* ${name} */ `
}

/** The expression of a script that the server refuses; undefined if it does not say. */
function refusedExpression(cause: unknown, script: string): string | undefined {
  const { internalQuery = script, internalPosition, position } = cause as Record<string, string>
  const before = internalQuery.slice(0, Number(internalPosition ?? position))
  const marks = ['key', 'when', 'item'].map(
    (name) => [before.lastIndexOf(markOf(name)), name] as const,
  )
  const [[at, name] = [-1]] = marks.sort(([one], [other]) => other - one)
  return at === -1 ? undefined : name
}

const tablesOf: Readonly<Record<TableEvent, string>> = {
  insert: 'new table as sluice_new',
  update: 'old table as sluice_old new table as sluice_new',
  delete: 'old table as sluice_old',
}

function scriptFor(watch: Checked): string {
  const { relation, alias, functionName, triggerOf, on, key, item, when, drop, schema } = watch
  const dropped = (event: TableEvent): string =>
    `drop trigger if exists ${triggerOf(event)} on ${relation};`
  if (drop === true) {
    return [...events.map(dropped), `drop function if exists ${functionName}();`].join('\n')
  }
  const called = literal(`${quoteIdentifier(schema)}.add_many`)
  // Like the rows that a trigger gets, those of the inner select have no system columns, and no schema in their name.
  const rows = `from (select * from ${relation}) as ${alias}`
  const check = (name: string, text: string): string => `perform ${markOf(name)}${text} limit 0;`
  const checks = [check('key', `(\n${key}\n)::text ${rows}`)]
  if (when !== undefined) checks.push(check('when', `${rows} where (\n${when}\n)`))
  if (item !== undefined) {
    // A cast would take any text, and fail with the first row whose text is no JSON.
    const typed = (type: string): string =>
      check('item', `coalesce((\n${item}\n), null::${type}) ${rows}`)
    checks.push(
      `begin\n${typed('jsonb')}\nexception when datatype_mismatch or cannot_coerce then\n${typed('json')}\nend;`,
    )
  }
  return [
    // A mistake in an expression, or a missing function, would fail each change of the table.
    `do ${quotes}\nbegin\nperform ${called}::regproc;\n${checks.join('\n')}\nend\n${quotes};`,
    `create or replace function ${functionName}() returns trigger language plpgsql`,
    'set search_path from current',
    'set standard_conforming_strings from current',
    `as ${quotes}`,
    bodyFor(watch),
    `${quotes};`,
    ...events.map((event) =>
      on.includes(event)
        ? `create or replace trigger ${triggerOf(event)} after ${event} on ${relation} referencing ${tablesOf[event]} for each statement execute function ${functionName}();`
        : dropped(event),
    ),
  ].join('\n')
}

/**
 * The SQL that creates triggers on a table, or drops them: each statement that changes rows adds the
 * distinct keys of those rows, in one go and in the same transaction. It may be run again, with other
 * settings too. The triggers have the rights of the role that changes the table, which needs those of
 * `producer` in `rolesSql`.
 */
export function watchTableSql(watch: TableWatch): string {
  return `begin;\n${scriptFor(checkWatch(watch))}\ncommit;\n`
}

/** The result of {@link watchTable}. */
export interface WatchedTable {
  /**
   * The roles that may change the table, and lack the rights of `producer` in `rolesSql`: from now on
   * their changes fail.
   */
  readonly rolesWithoutRights: readonly string[]
  /** Whether this table and queue had triggers before: with `drop`, whether there were any to drop. */
  readonly existed: boolean
}

/** Runs the SQL of {@link watchTableSql} in the store that the options name. */
export async function watchTable(
  options: PostgresOptions,
  watch: Omit<TableWatch, 'schema'>,
): Promise<WatchedTable> {
  const settings = checkOptions(options)
  const { schema } = settings
  const checked = checkWatch({ ...checkObject('watch', watch), schema })
  const { connections } = await targetOf(settings)
  const { watchFound, watchRoles } = statementsFor(schema, channelOf(schema))
  try {
    return await whileWithoutEffect(() =>
      connections.transaction(async (connection) => {
        // Whatever changes the table waits behind this, also for a transaction that stays open for hours.
        await connection.script(`set local lock_timeout = ${Math.ceil(settings.timeoutMs / 4)}`)
        const [before] = await connection.query(watchFound, [checked.functionName])
        const existed = flag(before?.['found'])
        await connection.script(scriptFor(checked))
        if (watch.drop === true) return { rolesWithoutRights: [], existed }
        const values = [checked.relation, arrayLiteral(checked.on), schema]
        const rows = await connection.query(watchRoles, values)
        return { rolesWithoutRights: rows.map(({ role }) => String(role)), existed }
      }),
    )
  } catch (error) {
    throw lockedTable(error, checked) ?? missingTable(error) ?? refusedSql(error, checked) ?? error
  } finally {
    await connections.close()
  }
}

/** The error for a table that is not free in time. */
function lockedTable(error: unknown, { table }: Checked): SluiceError | undefined {
  if (!SluiceError.is(error, 'ERR_STORE_BUSY')) return undefined
  const message = `another transaction has changed or locked the table ${table}; repeat it when that has ended`
  return new SluiceError('ERR_STORE_BUSY', message, { cause: error.cause, retryable: true })
}

/** The error for a table that is not there, or not in an expression: one of the caller's, not of the store. */
function missingTable(error: unknown): SluiceError | undefined {
  if (!SluiceError.is(error) || sqlStateOf(error.cause) !== '42P01') return undefined
  const { message } = error.cause as Error
  const advice =
    'name it with its schema if it is not on the search path, such as shop.orders, but without it in expressions'
  return new SluiceError('ERR_STORE', `${message}; ${advice}`, { cause: error.cause })
}

/** The error for SQL that the server refuses, which is the caller's: no table or function of Sluice is missing. */
function refusedSql(error: unknown, checked: Checked): SluiceError | undefined {
  if (!SluiceError.is(error)) return undefined
  const state = sqlStateOf(error.cause) ?? ''
  const { message } = error.cause as Error
  if (!/^(22|42)/.test(state) || message.includes('add_many')) return undefined
  const { table } = checked
  const expression = refusedExpression(error.cause, scriptFor(checked))
  const type = message.startsWith('COALESCE') ? ': it must be jsonb, as to_jsonb(…) is' : ''
  const advice =
    state === '42501'
      ? 'this takes the owner of the table, with create on its schema, and the rights of producer'
      : `check the SQL of ${expression ?? 'key, item and when'}${type}`
  const says = `the table ${table} cannot be watched: ${message} (SQLSTATE ${state}); ${advice}`
  return new SluiceError('ERR_STORE', says, { cause: error.cause })
}
