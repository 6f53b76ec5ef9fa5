/** Checks the health of a store, for operators. It only reads. */
import type { Finding as StoreFinding, WorkerInfo } from '@sluice/core'
import { manyWords } from '@sluice/core/words'
import type { Row } from '../connection/client-shapes.ts'
import type { Connections } from '../connection/connection.ts'
import type { ConnectionProbe } from '../connection/connection-probe.ts'
import { repeatableError } from '../connection/errors.ts'
import { type StatementName, statementsFor } from '../connection/statements.ts'
import { targetOf } from '../connection/target.ts'
import { Listener } from '../notices/listener.ts'
import { checkOptions, type PostgresOptions, type Settings } from '../postgres-options.ts'
import { instant, number, text } from '../rows/columns.ts'
import { checkServer } from './check-server.ts'
import { lacksOf } from './relations.ts'
import { channelOf } from './schema-name.ts'
import { SchemaState, schemaVersion } from './schema-state.ts'

/** One check and its result. */
export type Finding = StoreFinding<
  | 'schema'
  | 'horizon'
  | 'row-security'
  | 'table'
  | 'hot'
  | 'autovacuum'
  | 'listen'
  | 'clock'
  | 'leases'
  | 'workers'
>

/** How old a snapshot may be before it is a warning, in transactions and in seconds. */
const horizonAgeMax = 100_000
const horizonSecondsMax = 300

/** More dead rows than this are a warning, if they are also more than twice the live ones. */
const deadMax = 50_000

/** By how much the clocks may differ, in milliseconds. */
const clockMsMax = 1_000

/** How long ago a lease may have expired without being reclaimed, in milliseconds. */
const leaseLateMsMax = 60_000

/** How recently a worker must have been seen, in milliseconds. */
const workerMs = 60_000

/** Longer than a listener takes to connect, to listen and to prove that notices arrive, in milliseconds. */
const proofMsMax = 60_000

type Ask = (name: StatementName, values?: readonly unknown[]) => Promise<readonly Row[]>

/** Checks the store that the options name. A schema that cannot be read is a finding too. */
export async function doctor(options: PostgresOptions): Promise<readonly Finding[]> {
  const settings = checkOptions(options)
  const { connections, use, makeListener } = await targetOf(settings)
  const statements = statementsFor(settings.schema, channelOf(settings.schema))
  const ask: Ask = async (name, values = []) =>
    await connections.run(statements[name], values, { reads: true })
  try {
    const schema = await schemaFinding(connections, use.probe, settings.schema)
    // Functions go with a table that they name, and cannot be made again without it.
    if (Number(schema.facts['version']) === schemaVersion) {
      const lacks = lacksOf(await ask('doctorRelations', [settings.schema]))
      if (lacks.length > 0) return [lackFinding(lacks)]
    }
    if (schema.level === 'failure') return [schema]
    return [
      schema,
      horizonFinding((await ask('doctorHorizon'))[0]),
      ...tableFindings((await ask('doctorTable', [settings.schema]))[0]),
      await listenFinding(settings, connections, makeListener),
      await clockFinding(settings, ask),
      leaseFinding((await ask('doctorLeases'))[0]),
      workerFinding(await ask('doctorWorkers', [workerMs])),
    ]
  } catch (error) {
    throw repeatableError(error, 'the store was not examined')
  } finally {
    await connections.close()
  }
}

async function schemaFinding(
  connections: Connections,
  probe: ConnectionProbe | undefined,
  schema: string,
): Promise<Finding> {
  const check = 'schema'
  try {
    await checkServer(connections, probe)
    const { state, unused } = await connections.connected(async (connection) => {
      const found = await SchemaState.read(connection, schema)
      return { state: found, unused: (await found.unusedFunctions(connection)).length }
    })
    const { version } = state
    const missing = state.missingFunctions.length
    const facts = { version, known: schemaVersion, missing, unused }
    const versions = `the schema is at version ${version}; this program knows ${schemaVersion}`
    if (state.breakingVersion !== undefined) {
      const summary = `${versions}, and cannot open it; upgrade this program`
      return { check, level: 'failure', summary, facts }
    }
    if (state.isHollow || (missing === 0 && state.isUnnumbered)) {
      return { check, level: 'failure', summary: state.older().message, facts }
    }
    if (version < schemaVersion) return { check, level: 'failure', summary: versions, facts }
    if (missing > 0) {
      const summary = `${missing} functions that this program calls are missing, or were made for a schema of another name; run \`sluice migrate\``
      return { check, level: 'failure', summary, facts }
    }
    if (version > schemaVersion) return { check, level: 'warning', summary: versions, facts }
    const rest =
      unused > 0
        ? `; it has ${unused} functions of other versions, which \`sluice migrate --prune\` drops`
        : ''
    return { check, level: 'ok', summary: `the schema is at version ${version}${rest}`, facts }
  } catch (error) {
    const summary = `the schema cannot be read: ${error instanceof Error ? error.message : error}`
    return { check, level: 'failure', summary, facts: { known: schemaVersion } }
  }
}

function lackFinding(lacks: readonly string[]): Finding {
  const names = lacks.join(', ')
  return {
    check: 'schema',
    level: 'failure',
    summary: `the schema lacks what no migration brings back: ${names}; restore a backup, or create it as the SQL of migrationSql() does`,
    facts: { lacks: names },
  }
}

function horizonFinding(row: Row | undefined): Finding {
  const check = 'horizon'
  if (row === undefined) {
    const summary = 'nothing holds back vacuum'
    return { check, level: 'ok', summary, facts: {} }
  }
  const facts = {
    kind: String(row['kind']),
    name: text(row['name']) ?? '',
    transactions: number(row['held']),
    seconds: number(row['seconds']),
  }
  const isOld = facts.transactions > horizonAgeMax || facts.seconds > horizonSecondsMax
  return {
    check,
    level: isOld ? 'warning' : 'ok',
    summary: `the oldest ${facts.kind} (${facts.name}) holds back ${facts.transactions} transactions${
      isOld ? '; claims get slower until it ends' : ''
    }`,
    facts,
  }
}

function tableFindings(row: Row | undefined): readonly Finding[] {
  if (row === undefined) return []
  const live = number(row['live'])
  const dead = number(row['dead'])
  const updates = number(row['updates'])
  const hot = number(row['hot'])
  const share = updates === 0 ? 1 : hot / updates
  const leaseIndexes = text(row['lease_indexes'])
  const secured = text(row['secured_tables'])
  const vacuumed = instant(row['vacuumed'])
  const isBloated = dead > deadMax && dead > 2 * live
  const isOn = row['autovacuum'] === 'on'
  return [
    {
      check: 'row-security',
      level: secured === undefined ? 'ok' : 'warning',
      summary:
        secured === undefined
          ? 'no row level security applies to this role'
          : `row level security applies to this role on ${secured}: ${hiddenBy(secured)}; disable it, or give the role BYPASSRLS`,
      facts: { tables: secured ?? '' },
    },
    {
      check: 'table',
      level: isBloated ? 'warning' : 'ok',
      summary: `about ${live} rows, and ${dead} dead ones, in ${number(row['bytes'])} bytes`,
      facts: { live, dead, bytes: number(row['bytes']), commits: String(row['commits']) },
    },
    {
      check: 'hot',
      // The share depends on what the queues do, since claims write to indexes.
      level: leaseIndexes === undefined ? 'ok' : 'warning',
      summary:
        leaseIndexes === undefined
          ? `renewals write to no index; of all updates, ${Math.round(share * 100)} % did not`
          : `every renewal writes to an index (${leaseIndexes}): drop it`,
      facts: { updates, hot, share, indexes: leaseIndexes ?? '' },
    },
    {
      check: 'autovacuum',
      level: isOn ? 'ok' : 'warning',
      summary: !isOn
        ? 'autovacuum is off'
        : vacuumed === Infinity
          ? 'autovacuum has not run yet'
          : `autovacuum ran ${Math.round(vacuumed)} seconds ago`,
      facts: { on: isOn, seconds: vacuumed === Infinity ? null : vacuumed },
    },
  ]
}

/** What a role misses that policies for these tables apply to. */
function hiddenBy(tables: string): string {
  const names = tables.split(', ')
  const effects = [
    names.includes('keys') &&
      'keys that no policy allows are hidden from it, so that workers claim nothing and lose what they hold',
    names.includes('queues') &&
      'pauses that no policy allows are hidden from it, so that workers claim keys of paused queues',
    names.some((name) => name !== 'keys' && name !== 'queues') &&
      'rows that no policy allows are hidden from it, and it cannot write them, so that calls that need them fail',
  ]
  return effects.filter((effect) => effect !== false).join('; ')
}

async function listenFinding(
  settings: Settings,
  connections: Connections,
  make: Awaited<ReturnType<typeof targetOf>>['makeListener'],
): Promise<Finding> {
  const check = 'listen'
  if (make === undefined) {
    return { check, level: 'ok', summary: 'nothing to listen with', facts: { works: null } }
  }
  const channel = channelOf(settings.schema)
  const { notify } = statementsFor(settings.schema, channel)
  const reasons: string[] = []
  const listener = new Listener({
    environment: settings.environment,
    channel,
    make,
    send: async (payload) => void (await connections.run(notify, [channel, payload])),
    onNotice() {},
    onWarning: (_, message) => void reasons.push(message),
  })
  // A listener keeps no process alive, and a program that only calls doctor has nothing else that does.
  const proof = settings.environment.clock.startTimer(proofMsMax, () => {})
  proof.ref()
  await listener.start()
  const works = listener.isProven
  await listener.stop()
  proof.stop()
  return {
    check,
    level: works ? 'ok' : 'warning',
    summary: works ? 'notices arrive through LISTEN' : (reasons[0] ?? 'notices do not arrive'),
    facts: { works },
  }
}

async function clockFinding({ environment }: Settings, ask: Ask): Promise<Finding> {
  const before = environment.clock.now()
  const [row] = await ask('present')
  const after = environment.clock.now()
  const aheadMs = number(row?.['ahead'])
  const theirs = number(row?.['now']) - aheadMs
  // The server read its clock between the question and the answer.
  const apartMs = theirs < before ? theirs - before : Math.max(0, theirs - after)
  return {
    check: 'clock',
    level: Math.abs(apartMs) > clockMsMax ? 'warning' : 'ok',
    summary: `the server's clock is ${Math.round(Math.abs(apartMs))} ms ${apartMs < 0 ? 'behind' : 'ahead of'} this machine's; the server's decides${
      aheadMs > 0
        ? `, and the ${Math.round(aheadMs)} ms by which it was set back are added to it`
        : ''
    }`,
    facts: { apartMs, aheadMs },
  }
}

function leaseFinding(row: Row | undefined): Finding {
  const count = number(row?.['n'] ?? 0)
  const lateMs = number(row?.['late'] ?? 0)
  return {
    check: 'leases',
    level: lateMs > leaseLateMsMax ? 'warning' : 'ok',
    summary:
      count === 0
        ? 'no lease has expired'
        : `${manyWords(count, 'lease')} expired, the oldest ${Math.round(lateMs)} ms ago; a worker of the queue reclaims ${count === 1 ? 'it' : 'them'}`,
    facts: { count, lateMs },
  }
}

function workerFinding(rows: readonly Row[]): Finding {
  const differing = new Set<string>()
  const seen = new Map<string, Map<string, unknown>>()
  for (const row of rows) {
    const queue = String(row['queue'])
    const { settings } = JSON.parse(String(row['info'])) as Pick<WorkerInfo, 'settings'>
    const known = seen.get(queue) ?? new Map<string, unknown>()
    seen.set(queue, known)
    for (const [name, value] of Object.entries(settings)) {
      if (known.has(name) && known.get(name) !== value) differing.add(`${queue}: ${name}`)
      known.set(name, value)
    }
  }
  const names = [...differing].join(', ')
  return {
    check: 'workers',
    level: differing.size > 0 ? 'warning' : 'ok',
    summary:
      differing.size > 0
        ? `workers of one queue have different settings (${names})`
        : `${manyWords(rows.length, 'worker')} seen within a minute`,
    facts: { workers: rows.length, differing: names },
  }
}
