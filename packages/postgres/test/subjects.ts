import type { CreateSubject, Subject } from '@sluice/conformance'
import { fakeClock } from '@sluice/core/testing'
import pg from 'pg'
import { type PostgresOptions, postgresDriver } from '../src/index.ts'
import { quoteIdentifier } from '../src/schema-name.ts'
import { sql } from './server.ts'

let made = 0

/** How the subjects of one examination differ from the usual. */
export interface SubjectOptions {
  /** A superuser's, to begin transactions with and to clean up. */
  readonly url: string
  /** How the driver connects; by default with `url`. */
  readonly driver?: PostgresOptions
  /** The name of the schema of the subject with that number. */
  readonly schema?: (number: number) => string
  /** What is done before a driver of the subject is opened. */
  readonly prepare?: (schema: string) => Promise<void>
}

/** Subjects that share a server; each has a schema of its own. */
export function subjectsOn(options: SubjectOptions): CreateSubject {
  const { url, prepare, schema: name = (number) => `s${number}` } = options
  return async (): Promise<Subject> => {
    made += 1
    const schema = name(made)
    await prepare?.(schema)
    const make = () =>
      postgresDriver({
        poolSize: 2,
        ...(options.driver ?? { connectionString: url }),
        schema,
        onWarning() {},
      })
    return {
      driver: make(),
      clock: fakeClock(),
      restart: make,
      peer: make,
      async begin() {
        const client = new pg.Client({ connectionString: url })
        await client.connect()
        await client.query('begin')
        const end = async (how: string): Promise<void> => {
          await client.query(how)
          await client.end()
        }
        return {
          handle: client,
          commit: () => end('commit'),
          rollback: () => end('rollback'),
        }
      },
      async dispose() {
        await sql(url, `drop schema if exists ${quoteIdentifier(schema)} cascade`)
      },
    }
  }
}
