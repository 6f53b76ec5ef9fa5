import { type Finding, SluiceError } from '@sluice/core'
import type { CommandSpec } from '../../command.ts'
import { usageError } from '../../command-error.ts'
import type { Context } from '../../context.ts'
import { exitCodes } from '../../exit-codes.ts'
import { oneLine } from '../../output/escape.ts'
import type { Column } from '../../output/table.ts'
import { refuseMissing } from '../../stores/open-store.ts'
import type { StoreAddress } from '../../stores/store-address.ts'

async function examined(context: Context, address: StoreAddress): Promise<readonly Finding[]> {
  switch (address.kind) {
    case 'memory':
      throw usageError(
        'memory: has nothing to check; name a SQLite file, a Postgres database or a Redis',
      )
    case 'sqlite':
      return await sqliteFindings(address)
    case 'postgres': {
      const { doctor: examine } = await import('@sluice/postgres')
      const { connectionString, schema } = address
      const found = await examine({ connectionString, schema, onWarning() {} })
      return found.map((each) => ({ ...each, summary: context.secrets.redact(each.summary) }))
    }
    case 'redis': {
      const { doctor: examine } = await import('@sluice/redis')
      const { url, prefix, oneSlot } = address
      const found = await examine({ url, prefix, oneSlot })
      return found.map((each) => ({ ...each, summary: context.secrets.redact(each.summary) }))
    }
  }
}

/** The findings; for a store that cannot be examined, why not. */
async function findingsOf(context: Context, address: StoreAddress): Promise<readonly Finding[]> {
  try {
    return await examined(context, address)
  } catch (error) {
    if (!SluiceError.is(error)) throw error
    const summary = context.secrets.redact(error.message)
    return [{ check: 'store', level: 'failure', summary, facts: { code: error.code } }]
  }
}

async function sqliteFindings(
  address: StoreAddress & { kind: 'sqlite' },
): Promise<readonly Finding[]> {
  refuseMissing(address, 'existing')
  const { examineStore } = await import('@sluice/sqlite')
  const report = await examineStore({ file: address.file, migrate: 'verify' })
  const { findings, keys, fileBytes, logBytes, logBytesMax, library, sqliteVersion } = report
  const isLogLong = logBytes > 2 * logBytesMax
  return [
    ...findings.map(
      (summary): Finding => ({ check: 'integrity', level: 'failure', summary, facts: {} }),
    ),
    ...(findings.length > 0
      ? []
      : [
          {
            check: 'integrity',
            level: 'ok',
            summary: 'every page, index and key is intact',
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
      summary: `${keys ?? 'uncounted'} ${keys === 1 ? 'key' : 'keys'} in ${fileBytes} bytes`,
      facts: { keys: keys ?? null, bytes: fileBytes },
    },
    {
      check: 'log',
      level: isLogLong ? 'warning' : 'ok',
      summary: isLogLong
        ? `the log has grown to ${logBytes} bytes: a connection keeps a transaction open`
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
  summary: 'Check the health of a store',
  details:
    'Changes nothing. Exits with 3 on a failure; with --strict, also on a warning. Reads every key of a Redis, a thousand at a time, and every page of a SQLite file, in one statement that neither Ctrl-C nor --timeout interrupts; SIGKILL ends it without harm.',
  group: 'Stores',
  options: [{ flags: '--strict', summary: 'treat warnings as failures' }],
  examples: [{ line: 'sluice doctor --strict -o json', does: 'for monitoring' }],
  json: '{ store, healthy, findings: [{ check, level: "ok" | "warning" | "failure", summary, facts }] }',
  async run(context) {
    const { input, print } = context
    const address = await context.address()
    const findings = await findingsOf(context, address)
    const isBad = ({ level }: Finding): boolean =>
      level === 'failure' || (input.flag('strict') && level === 'warning')
    const healthy = !findings.some(isBad)
    await print.listing({
      rows: findings,
      columns: (paint): readonly Column<Finding>[] => [
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
      document: () => ({ store: address.label, healthy, findings }),
      none: 'nothing was found',
    })
    return healthy ? exitCodes.ok : exitCodes.unhealthy
  },
}
