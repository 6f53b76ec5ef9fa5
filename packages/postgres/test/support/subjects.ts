import type { CreateSubject, Subject } from '@sluice/conformance'
import { forkDriver } from '@sluice/conformance/other-process'
import type { Driver } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { bundled } from '@sluice/needs/bundled'
import pg from 'pg'
import { type PostgresOptions, postgresDriver } from '../../src/index.ts'
import { quoteIdentifier } from '../../src/schema/schema-name.ts'
import { poolOf } from './server.ts'

const program = new URL('../children/served-driver.ts', import.meta.url)

/** How the subjects of one examination differ from the usual. */
export interface SubjectOptions {
  /** A superuser's: begins transactions, and cleans up. */
  readonly url: string
  /** How drivers connect. */
  readonly driver: PostgresOptions
  /** The name of the schema with that number. */
  readonly schema?: (number: number) => string
  /** What is done to a new schema before a driver sees it. */
  readonly prepare?: (schema: string) => Promise<void>
  /** What stands in for each driver. */
  readonly wrap?: (driver: Driver, schema: string) => Driver
  /** Whether other processes are asked for. */
  readonly hasProcesses?: boolean
  /** Stops the server as a power cut does, and starts it again. */
  readonly cutPower?: () => Promise<void>
}

/**
 * Subjects that share a server. Each has a schema of its own while it lasts, which is emptied after
 * it and given to the next one: creating it again would take longer than most cases.
 */
export function subjectsOn(options: SubjectOptions): CreateSubject {
  const {
    url,
    prepare,
    hasProcesses = false,
    cutPower,
    schema: name = (number) => `s${number}`,
  } = options
  const free: string[] = []
  // One connection for all of them; it keeps nothing alive.
  const cleaner = poolOf(url, 1)
  let made = 0
  return async (): Promise<Subject> => {
    let schema = free.pop()
    if (schema === undefined) {
      made += 1
      schema = name(made)
      await prepare?.(schema)
    }
    const mine = schema
    const make = (): Driver => {
      // Only ends what hangs: a machine, or its disk, may be held up for longer than the usual limit.
      const timeoutMs = 60_000
      const driver = postgresDriver({ timeoutMs, ...options.driver, schema: mine, onWarning() {} })
      return options.wrap?.(driver, mine) ?? driver
    }
    return {
      driver: make(),
      clock: fakeClock(),
      restart: make,
      peer: make,
      ...(hasProcesses && {
        otherProcess: async () =>
          await forkDriver(await bundled(program), [url, mine], {
            execArgv: ['--conditions=sluice-source'],
          }),
      }),
      ...(cutPower !== undefined && {
        async cutPower() {
          await cutPower()
          return make()
        },
      }),
      async begin() {
        const client = new pg.Client({ connectionString: url })
        await client.connect()
        await client.query('begin')
        const end = async (how: string): Promise<void> => {
          await client.query(how)
          await client.end()
        }
        return { handle: client, commit: () => end('commit'), rollback: () => end('rollback') }
      },
      async dispose() {
        const tables = ['keys', 'queues', 'buckets', 'workers', 'history', 'failed_runs']
        const names = tables.map((table) => `${quoteIdentifier(mine)}.${table}`)
        // Rather than truncate, which makes and drops some twenty files each time.
        await cleaner.query(names.map((table) => `delete from ${table}`).join('; '))
        free.push(mine)
      },
    }
  }
}
