import { priorityMax, priorityMin, SluiceError } from '@sluice/core'
import type { TableEvent, TableWatch } from '@sluice/postgres'
import type { CommandSpec } from '../../command.ts'
import { notFoundError, usageError } from '../../command-error.ts'
import { checkedQueue } from '../../input.ts'
import { oneLine, shown } from '../../output/escape.ts'

const events: readonly TableEvent[] = ['insert', 'update', 'delete']

export const watch: CommandSpec = {
  name: 'watch',
  summary: 'Add a key for each changed row of a table, by triggers (Postgres)',
  details:
    'Creates triggers on a table in the database of the store. Each statement that changes rows adds the distinct keys of those rows in the same transaction; an update adds the keys of the old and the new rows. May be run again with other settings. With --drop, exits with 4 if this table and queue have no triggers. Roles that write to the table need the rights of --producer of `sluice migrate --roles`.',
  group: 'Stores',
  positionals: [
    {
      name: 'TABLE',
      summary: 'the table as SQL names it: orders, shop.orders',
      kind: 'text',
    },
  ],
  options: [
    { flags: '--key <SQL>', summary: 'an expression over the columns; no key where it is null' },
    { flags: '--queue <QUEUE>', summary: 'the queue (default: TABLE)', kind: 'queue' },
    { flags: '--item <SQL>', summary: 'an expression of type jsonb, for queues with keyOf' },
    { flags: '--when <SQL>', summary: 'a condition over the columns; other rows add no key' },
    { flags: '--on <EVENTS>', summary: 'which of insert,update,delete (default: all)' },
    { flags: '--after <DURATION>', summary: 'the keys are due so long after the change' },
    { flags: '--priority <N>', summary: 'from -1000 to 1000, higher first (default: 0)' },
    { flags: '--drop', summary: 'drop the triggers of this table and queue' },
    { flags: '--print-sql', summary: 'print the SQL instead of running it' },
  ],
  examples: [
    { line: `sluice watch orders --key "'order/' || id"`, does: 'a key for each changed row' },
    {
      line: `sluice watch shop.orders --queue customers --key customer_id --when "state = 'paid'"`,
      does: 'the customers of paid orders',
    },
    { line: 'sluice watch orders --drop', does: 'stop watching' },
  ],
  json: '{ store, table, queue, watched, rolesWithoutRights? }',
  async run(context) {
    const { input, print } = context
    const address = await context.address()
    if (address.kind !== 'postgres') {
      throw usageError('only Postgres has triggers that add keys; on SQLite, use queue.within()')
    }
    const table = input.positional(0) ?? ''
    const queue = checkedQueue(input.text('queue') ?? table)
    const key = input.text('key')
    const drop = input.flag('drop')
    if (key === undefined && !drop) throw usageError('give --key, or --drop')
    const settings: Omit<TableWatch, 'schema'> = {
      table,
      queue,
      key: key ?? '',
      drop,
      item: input.text('item'),
      when: input.text('when'),
      on: eventsOf(input.text('on')),
      delayMs: input.durationMs('after'),
      priority: input.whole('priority', { min: priorityMin, max: priorityMax }),
    }
    const { watchTable, watchTableSql } = await import('@sluice/postgres')
    const { connectionString, schema } = address
    const sql = tableChecked(() => watchTableSql({ ...settings, schema }))
    if (input.flag('printSql')) return await print.data(sql)
    const { rolesWithoutRights, existed } = await watchTable(
      { connectionString, schema, poolSize: 1 },
      settings,
    )
    if (drop && !existed) {
      throw notFoundError(
        `there are no triggers of ${oneLine(table)} that add keys to the queue ${shown(queue)}; name another queue with --queue`,
      )
    }
    if (print.isDocument) {
      const watched = { store: address.label, table, queue, watched: !drop }
      await print.document({ ...watched, ...(!drop && { rolesWithoutRights }) })
    } else if (drop) await print.lines([`${oneLine(table)} no longer adds keys to ${shown(queue)}`])
    else await print.lines([`changes of ${oneLine(table)} add keys to ${shown(queue)}`])
    if (rolesWithoutRights.length > 0) await print.warn(warningFor(table, rolesWithoutRights))
  },
}

function warningFor(table: string, roles: readonly string[]): string {
  const named = roles.map(oneLine).join(', ')
  return (
    `changes of ${oneLine(table)} by ${named} fail from now on: they may not call add_many. ` +
    'Grant them what `sluice migrate --roles … --producer ROLE` prints'
  )
}

/** Runs a check of the library, and turns its error into a usage error. */
function tableChecked<T>(check: () => T): T {
  try {
    return check()
  } catch (error) {
    if (!SluiceError.is(error, 'ERR_INVALID_INPUT')) throw error
    const says = error.message.replace(/^table /, 'TABLE ').replace(/ \[ERR_[A-Z_]+\]$/, '')
    throw usageError(says.replace(/^delayMs /, '--after '), error)
  }
}

function eventsOf(text: string | undefined): readonly TableEvent[] | undefined {
  if (text === undefined) return undefined
  const words = text.split(',').map((word) => word.trim())
  const wrong = words.find((word) => !events.some((event) => event === word))
  if (wrong !== undefined) {
    throw usageError(`--on must be some of insert,update,delete; got '${oneLine(wrong)}'`)
  }
  return events.filter((event) => words.includes(event))
}
