import type { Finding } from '@sluice/postgres'
import type { CommandSpec } from '../../command.ts'
import { usageError } from '../../command-error.ts'
import type { Context } from '../../context.ts'
import { exitCodes } from '../../exit-codes.ts'
import { oneLine } from '../../output/escape.ts'
import type { Column } from '../../output/table.ts'
import { refuseMissing } from '../../stores/open-store.ts'
import type { StoreAddress } from '../../stores/store-address.ts'

/** One thing that was looked at; of SQLite in the same words as of Postgres. */
type Look = Omit<Finding, 'check'> & { readonly check: string }

async function examined(context: Context, address: StoreAddress): Promise<readonly Look[]> {
  switch (address.kind) {
    case 'memory':
      throw usageError('memory: has nothing to examine; name a SQLite file or a Postgres')
    case 'sqlite':
      return await sqliteLooks(address)
    case 'postgres': {
      const { doctor: examine } = await import('@sluice/postgres')
      const { connectionString, schema } = address
      const found = await examine({ connectionString, schema, onWarning() {} })
      return found.map((each) => ({ ...each, summary: context.secrets.redact(each.summary) }))
    }
  }
}

async function sqliteLooks(address: StoreAddress & { kind: 'sqlite' }): Promise<readonly Look[]> {
  refuseMissing(address, 'look')
  const { examineStore } = await import('@sluice/sqlite')
  const report = await examineStore({ file: address.file, migrate: 'verify' })
  const { findings, keys, fileBytes, logBytes, logBytesMax, library, sqliteVersion } = report
  const isLogLong = logBytes > 2 * logBytesMax
  return [
    ...findings.map(
      (summary): Look => ({ check: 'integrity', level: 'failure', summary, facts: {} }),
    ),
    ...(findings.length > 0
      ? []
      : [
          {
            check: 'integrity',
            level: 'ok',
            summary: 'every page, index and key is as it should be',
            facts: {},
          } as const,
        ]),
    {
      check: 'schema',
      level: 'ok',
      summary: `the schema is at version ${report.schemaVersion}`,
      facts: { version: report.schemaVersion },
    },
    {
      check: 'file',
      level: 'ok',
      summary: `${keys} keys in ${fileBytes} bytes`,
      facts: { keys, bytes: fileBytes },
    },
    {
      check: 'log',
      level: isLogLong ? 'warning' : 'ok',
      summary: isLogLong
        ? `the log has grown to ${logBytes} bytes: somebody has kept a transaction open`
        : `the log has ${logBytes} bytes`,
      facts: { bytes: logBytes, bytesMax: logBytesMax },
    },
    {
      check: 'library',
      level: 'ok',
      summary: `SQLite ${sqliteVersion} through ${library}`,
      facts: { library, version: sqliteVersion },
    },
  ]
}

export const doctor: CommandSpec = {
  name: 'doctor',
  summary: 'Examine a store: is it whole, and is anything in its way',
  details:
    'Changes nothing. A failure is exit code 3; with --strict, a warning is, too. Of a SQLite file all pages are read.',
  group: 'Stores',
  options: [{ flags: '--strict', summary: 'take warnings for failures' }],
  examples: [{ line: 'sluice doctor --strict -o json', does: 'for a program that watches' }],
  json: '{ store, healthy, findings: [{ check, level: "ok" | "warning" | "failure", summary, facts }] }',
  async run(context) {
    const { input, print } = context
    const address = await context.address()
    const looks = await examined(context, address)
    const isBad = ({ level }: Look): boolean =>
      level === 'failure' || (input.flag('strict') && level === 'warning')
    const healthy = !looks.some(isBad)
    await print.listing({
      rows: looks,
      columns: (paint): readonly Column<Look>[] => [
        { title: 'CHECK', text: ({ check }) => check },
        {
          title: 'LEVEL',
          text: ({ level }) => {
            if (level === 'failure') return paint('red', level)
            return level === 'warning' ? paint('yellow', level) : paint('green', level)
          },
        },
        { title: 'FOUND', text: ({ summary }) => oneLine(summary) },
      ],
      name: ({ check }) => check,
      document: () => ({ store: address.label, healthy, findings: looks }),
      none: 'nothing was found',
    })
    return healthy ? exitCodes.ok : exitCodes.unhealthy
  },
}
