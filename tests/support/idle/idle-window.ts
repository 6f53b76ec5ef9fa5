import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as passes } from 'node:timers/promises' // real time: what processes do in it is counted
import { needs } from '@sluice/needs'
import { monotonicNow } from '@sluice/needs/hold-ups'
import { type PostgresServer, startPostgres } from '@sluice/test-postgres'
import pg from 'pg'
import { IdleProcess, type IdleReport } from './idle-process.ts'

/** What the processes of one group, which share a store, did while there was nothing to do. */
interface IdleGroup {
  readonly store: 'sqlite' | 'postgres'
  readonly reports: readonly IdleReport[]
  /** On Postgres: the statements that the server ran for the group. */
  readonly statements: number
  /** Keys that ran before the window: that the processes work is not assumed. */
  readonly runs: number
}

/** What was seen in one window. */
export interface IdleWindow {
  /** How long it was: as long as was asked for, or longer on a busy machine. */
  readonly ms: number
  readonly groups: readonly IdleGroup[]
  /** Transactions of all groups on Postgres that wrote something. */
  readonly postgresWrites: number
}

const canTrace = needs('strace', spawnSync('strace', ['-V'], { stdio: 'ignore' }).status === 0)

/** Adds a key, and waits until one of the processes has run it. */
async function runsKey(processes: readonly IdleProcess[]): Promise<void> {
  await processes[0]?.ask('a key')
  for (;;) {
    const reports = await Promise.all(processes.map((each) => each.ask('report')))
    if (reports.some(({ runs }) => runs > 0)) return
    await passes(50)
  }
}

/** Counts the statements of each database, from the log of the server. */
class StatementLog {
  readonly #counts = new Map<string, number>()

  readonly read = (text: string): void => {
    for (const [, database = ''] of String(text).matchAll(
      /db=(\w+) LOG: {2}(?:statement|execute)/g,
    )) {
      this.#counts.set(database, (this.#counts.get(database) ?? 0) + 1)
    }
  }

  of(database: string): number {
    return this.#counts.get(database) ?? 0
  }
}

/** The number of transactions that have written something, in all databases. */
async function writesOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query('select pg_snapshot_xmax(pg_current_snapshot())::text as at')
  return Number(rows[0].at)
}

/**
 * Starts groups of processes that wait on one store each, lets each group run a key, waits
 * `quietMs`, and counts what they do in `ms` of real time.
 */
export async function idleWindow(
  ms: number,
  sizes: readonly number[],
  quietMs = 11_000,
): Promise<IdleWindow> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-idle-'))
  const log = new StatementLog()
  const server = await startPostgres({
    settings: ['log_statement=all', 'log_line_prefix=db=%d ', 'autovacuum=off'],
    onLog: log.read,
  })
  const watching = new pg.Client({ connectionString: server.url })
  await watching.connect()
  const groups: { store: 'sqlite' | 'postgres'; name: string; processes: IdleProcess[] }[] = []
  try {
    for (const size of sizes) {
      const name = `idle_${size}`
      await watching.query(`create database ${name}`)
      const url = databaseUrl(server, name)
      const file = join(folder, `${name}.db`)
      const traceOf = (at: number) => (canTrace ? join(folder, `${name}-${at}.trace`) : undefined)
      const each = Array.from({ length: size }, (_, at) => at)
      groups.push(
        { store: 'sqlite', name, processes: each.map((at) => new IdleProcess(file, traceOf(at))) },
        { store: 'postgres', name, processes: each.map(() => new IdleProcess(url)) },
      )
    }
    const everyone = groups.flatMap(({ processes }) => processes)
    await Promise.all(everyone.map((each) => each.ask('report')))
    await Promise.all(groups.map(({ processes }) => runsKey(processes)))
    // The key is finished meanwhile.
    await passes(quietMs)
    const beganAt = monotonicNow()
    const before = await Promise.all(everyone.map((each) => each.ask('report')))
    const statementsBefore = groups.map(({ name }) => log.of(name))
    const writesBefore = await writesOf(watching)
    await passes(ms)
    const reports = await Promise.all(everyone.map((each) => each.ask('report')))
    const postgresWrites = (await writesOf(watching)) - writesBefore
    return {
      ms: monotonicNow() - beganAt,
      postgresWrites,
      groups: groups.map(({ store, name, processes }, index) => ({
        store,
        statements: store === 'postgres' ? log.of(name) - (statementsBefore[index] ?? 0) : 0,
        reports: processes.map((each) => reports[everyone.indexOf(each)] as IdleReport),
        runs: processes.reduce((sum, each) => sum + (before[everyone.indexOf(each)]?.runs ?? 0), 0),
      })),
    }
  } finally {
    await Promise.all(groups.flatMap(({ processes }) => processes.map((each) => each.end())))
    await watching.end()
    await server.dispose()
    rmSync(folder, { recursive: true, force: true })
  }
}

function databaseUrl({ url }: PostgresServer, name: string): string {
  const address = new URL(url)
  address.pathname = `/${name}`
  return address.href
}
