// This folder is the commands that manage and move stores, and test drivers.

import type { CommandSpec } from '../../command.ts'
import { usageError } from '../../command-error.ts'
import type { Context } from '../../context.ts'
import { flagOf, type Input } from '../../input.ts'
import type { StoreAddress } from '../../stores/store-address.ts'

export const migrate: CommandSpec = {
  name: 'migrate',
  summary: 'Create the schema of a store, or bring it up to date',
  details:
    'No other command changes a schema. --print-sql and --roles do not connect; a user with the rights runs what they print.',
  group: 'Stores',
  options: [
    { flags: '--verify', summary: 'change nothing; fail unless the schema is up to date' },
    {
      flags: '--prune',
      summary: 'drop functions of other versions; all programs must run this one (Postgres)',
    },
    { flags: '--print-sql', summary: 'print the SQL instead of running it (Postgres)' },
    { flags: '--from <VERSION>', summary: 'with --print-sql: the current version (default: 0)' },
    { flags: '--roles', summary: 'print the SQL that grants rights to roles (Postgres)' },
    {
      flags: '--owner <ROLE>',
      summary: 'with --roles: the owner of the schema, which migrates it',
    },
    { flags: '--runtime <ROLE>', summary: 'with --roles: the role of programs' },
    { flags: '--read-only <ROLE>', summary: 'with --roles: the read-only role' },
    {
      flags: '--producer <ROLE>',
      summary: 'with --roles: a role that may only add keys, by SQL functions (optional)',
    },
  ],
  examples: [
    { line: 'sluice migrate -s sqlite:./queue.db', does: 'create or update a file' },
    { line: 'sluice migrate --print-sql > schema.sql', does: 'SQL for a database administrator' },
    { line: 'sluice migrate --prune', does: 'after a roll-out: drop functions of older versions' },
  ],
  json: '{ store, upToDate: true, pruned? }',
  async run(context) {
    const { input } = context
    refuseStray(input)
    const ways = ['verify', 'prune', 'printSql', 'roles'].filter((way) => input.flag(way))
    if (ways.length > 1) {
      throw usageError('--verify, --prune, --print-sql and --roles exclude each other')
    }
    if (input.flag('printSql')) await printSql(context)
    else if (input.flag('roles')) await printRoles(context)
    else if (input.flag('prune')) await prune(context, await context.address())
    else await applyOrVerify(context, await context.address())
  },
}

/** Options that mean something with another one only. */
const partners = {
  from: 'printSql',
  owner: 'roles',
  runtime: 'roles',
  readOnly: 'roles',
  producer: 'roles',
} as const

/** Throws for one without the other: `--read-only ROLE` alone would migrate. */
function refuseStray(input: Input): void {
  for (const [name, partner] of Object.entries(partners)) {
    if (input.text(name) === undefined || input.flag(partner)) continue
    throw usageError(`${flagOf(name)} goes with ${flagOf(partner)}`)
  }
}

async function schemaOf(context: Context): Promise<string> {
  const address = await context.addressIfNamed()
  if (address === undefined) return 'sluice'
  if (address.kind === 'postgres') return address.schema
  throw usageError('only Postgres has SQL to print; for another store, run `sluice migrate`')
}

async function printSql(context: Context): Promise<void> {
  const from = context.input.whole('from', { min: 0 }) ?? 0
  const schema = await schemaOf(context)
  const { migrationSql } = await import('@sluice/postgres')
  await context.print.data(migrationSql({ schema, from }))
}

async function printRoles(context: Context): Promise<void> {
  const { input } = context
  const [owner, runtime, readOnly] = ['owner', 'runtime', 'readOnly'].map((name) =>
    input.text(name),
  )
  if (owner === undefined || runtime === undefined || readOnly === undefined) {
    throw usageError('--roles needs --owner, --runtime and --read-only')
  }
  const schema = await schemaOf(context)
  const { rolesSql } = await import('@sluice/postgres')
  const producer = input.text('producer')
  await context.print.data(rolesSql({ schema, owner, runtime, readOnly, producer }))
}

async function prune(context: Context, address: StoreAddress): Promise<void> {
  if (address.kind !== 'postgres') {
    throw usageError('only Postgres has functions to drop')
  }
  const { migrate } = await import('@sluice/postgres')
  const { connectionString, schema } = address
  const { pruned } = await migrate({ connectionString, schema, poolSize: 1 }, { prune: true })
  const { print } = context
  if (print.isDocument) await print.document({ store: address.label, upToDate: true, pruned })
  else {
    await print.lines([
      ...pruned.map((name) => `dropped the function ${name}`),
      `${address.label} is up to date`,
    ])
  }
}

async function applyOrVerify(context: Context, address: StoreAddress): Promise<void> {
  const mode = context.input.flag('verify') ? 'verify' : 'apply'
  const { driver } = await context.store(mode === 'verify' ? 'existing' : 'create', mode)
  await driver.open({})
  await driver.close()
  const { print } = context
  if (print.isDocument) await print.document({ store: address.label, upToDate: true })
  else await print.lines([`${address.label} is up to date`])
}
