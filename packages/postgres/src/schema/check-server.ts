import { SluiceError } from '@sluice/core'
import type { Connections } from '../connection/connection.ts'
import type { ConnectionProbe } from '../connection/connection-probe.ts'
import { number } from '../rows/columns.ts'

/** The oldest server that is supported: 14. */
const versionMin = 140_000

/** The encodings that have every character; SQL_ASCII stores the bytes that it is sent. */
const encodings: readonly unknown[] = ['UTF8', 'SQL_ASCII']

const checkStatement = {
  name: '',
  text: `select current_setting('server_version_num')::int as version,
    current_setting('default_transaction_isolation') as isolation,
    current_setting('extra_float_digits')::int as digits,
    current_setting('array_nulls') as array_nulls, current_setting('server_encoding') as encoding,
    current_setting('default_transaction_read_only') as read_only, pg_backend_pid() as pid`,
}

/**
 * Checks the server before anything else is sent: refuses one that is too old, and a database that
 * cannot store every text, and adapts to the defaults of the role and to a pooler.
 */
export async function checkServer(
  connections: Connections,
  probe?: ConnectionProbe,
): Promise<void> {
  const [row, announced] = await connections.connected(async (connection) => {
    const [first] = await connection.query(checkStatement, [])
    return [first, connection.backendId] as const
  })
  const version = number(row?.['version'])
  if (version < versionMin) {
    const message = `Postgres ${Math.floor(version / 10_000)} is too old; 14 or newer is needed`
    throw new SluiceError('ERR_STORE', message)
  }
  if (!encodings.includes(row?.['encoding'])) {
    throw new SluiceError(
      'ERR_STORE',
      `this database has the encoding ${row?.['encoding']}, which lacks characters that keys, items and ` +
        'the errors of handlers may contain; create the schema in a database with the encoding UTF8',
    )
  }
  const canWrite = row?.['isolation'] === 'read committed' && row['read_only'] === 'off'
  const isExact = number(row?.['digits']) >= 1 && row?.['array_nulls'] === 'on'
  if (!canWrite || !isExact) connections.useTransactions()
  if (announced === undefined) return
  if (announced === number(row?.['pid'])) probe?.trust()
  // A pooler hands the statements of one connection to several servers.
  else connections.stopPreparing()
}
